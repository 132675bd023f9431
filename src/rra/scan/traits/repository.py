"""The facts of a whole repository, and what of them will get in the way."""

from __future__ import annotations

import dataclasses
import fnmatch
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from rra.errors import Problem
from rra.scan.objects import Command, DataPath, Output, PythonFile, PythonHint
from rra.scan.traits.checkpoints import find_checkpoints
from rra.scan.traits.devices import judge_gpu, text_devices
from rra.scan.traits.downloads import command_downloads, shell_downloads
from rra.scan.traits.languages import find_languages
from rra.scan.traits.links import find_pointers, find_submodules
from rra.scan.traits.notebooks import read_notebook
from rra.scan.traits.objects import AbsentData, Download, Seed, Traits
from rra.scan.traits.pins import commit_day, find_pins
from rra.scan.traits.stale import find_stale, last_commits
from rra.scan.traits.versions import python_range

_MAX_NOTEBOOKS = 200


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """What a scan has read already.

    Attributes:
        root: The repository.
        files: Its files with their sizes.
        python_files: Its Python files and the code of its notebooks.
        shell_texts: Texts of shell scripts and Makefiles.
        commands: Commands of documents and shell scripts.
        outputs: Files that code writes.
        result_files: Files that look like results.
        hints: What is said about the Python version.
        imports: Imported top-level names.
        behind: Returns a script and the files that it imports or starts.
        data_paths: What is read as data.
        foreign_seeds: Calls of other languages that fix randomness.
    """

    root: Path
    files: Mapping[PurePosixPath, int]
    python_files: Mapping[PurePosixPath, PythonFile]
    shell_texts: Mapping[PurePosixPath, str]
    commands: tuple[Command, ...]
    outputs: tuple[Output, ...]
    result_files: tuple[PurePosixPath, ...]
    hints: tuple[PythonHint, ...]
    imports: tuple[str, ...]
    behind: Callable[[PurePosixPath], tuple[PurePosixPath, ...]]
    data_paths: tuple[DataPath, ...] = ()
    foreign_seeds: tuple[Seed, ...] = ()


def repository_traits(seen: Seen) -> Traits:
    """Return all facts of a repository beyond how it is run.

    Args:
        seen: What the scan has read.
    """
    code = [python.traits for python in seen.python_files.values()]
    devices = [device for one in code for device in one.devices]
    for path, text in seen.shell_texts.items():
        devices += text_devices(text, path)
    looking = [path for path, one in seen.python_files.items() if one.traits.looks_for_gpu]
    notebooks = [path for path in seen.files if path.suffix == ".ipynb"][:_MAX_NOTEBOOKS]
    states = tuple(read_notebook(seen.root, path) for path in notebooks)
    stored = {one.path for one in states if one.outputs}
    commits = last_commits(seen.root)
    return Traits(
        downloads=_downloads(seen),
        checkpoints=find_checkpoints(seen.files, seen.python_files, seen.commands),
        seeds=(*(seed for one in code for seed in one.seeds), *seen.foreign_seeds),
        unseeded=_unseeded(seen),
        devices=tuple(devices),
        gpu=judge_gpu(devices, looking, seen.imports),
        languages=find_languages(seen.root, seen.files),
        lfs_pointers=find_pointers(seen.root, seen.files),
        submodules=find_submodules(seen.root, seen.files),
        notebooks=states,
        python=python_range(seen.python_files, seen.hints),
        stale=find_stale(_made_by(seen, stored), commits),
        pins=find_pins(seen.root, commits),
        absent_data=_absent_data(seen),
        last_commit=commit_day(max(commits.values(), default=None)),
    )


def _downloads(seen: Seen) -> tuple[Download, ...]:
    found = [one for python in seen.python_files.values() for one in python.traits.downloads]
    for path, text in seen.shell_texts.items():
        found += shell_downloads(text, path)
    for command in seen.commands:
        if command.source not in seen.shell_texts:
            found += [
                Download(what, by, command.source, command.line)
                for what, by in command_downloads(command.text)
            ]
    return tuple({one.what: one for one in reversed(found)}.values())[::-1]


def _absent_data(seen: Seen) -> tuple[AbsentData, ...]:
    """Return the data that is read and that neither is there nor is written by code."""
    return tuple(
        AbsentData(one.path, one.readers)
        for one in seen.data_paths
        if one.size is None and not one.made_by
    )


def _unseeded(seen: Seen) -> tuple[Seed, ...]:
    """Return draws whose generator no file that is run together with them seeds.

    A library function may be called from any script, so a seed of the same library in any file
    that starts the drawing one counts.
    """
    seeded: dict[str, set[PurePosixPath]] = {}
    for path, python in seen.python_files.items():
        for seed in python.traits.seeds:
            reached = {path, *seen.behind(path)}
            seeded.setdefault(seed.library, set()).update(reached)
            if seed.library in {"pytorch_lightning", "transformers", "keras"}:
                for library in ("numpy", "torch", "random", "tensorflow"):
                    seeded.setdefault(library, set()).update(reached)
    return tuple(
        draw
        for path, python in seen.python_files.items()
        for draw in python.traits.draws
        if draw.value == "None" or path not in seeded.get(draw.library, ())
    )


def _made_by(
    seen: Seen, notebooks: set[PurePosixPath]
) -> dict[PurePosixPath, tuple[PurePosixPath, ...]]:
    """Return the code behind each stored result: its writer, or what a notebook imports."""
    found: dict[PurePosixPath, tuple[PurePosixPath, ...]] = {}
    for output in seen.outputs:
        sure = "*" not in output.pattern.rpartition("/")[0] and not output.pattern.startswith("*")
        for path in seen.files if output.committed and sure else ():
            if fnmatch.fnmatchcase(str(path), output.pattern) and path not in found:
                found[path] = seen.behind(output.writer)
    for path in notebooks:
        found[path] = tuple(one for one in seen.behind(path) if one.suffix == ".py")
    return found


def trait_problems(traits: Traits) -> Iterator[Problem]:
    """Yield what of the facts will get in the way.

    Args:
        traits: The facts.
    """
    for pointer in traits.lfs_pointers:
        message = f"is a Git LFS pointer; its content ({pointer.size:,} bytes) is not here"
        yield _warning(message, pointer.path, "scan/lfs-pointer", hint="run git lfs pull")
    for module in traits.submodules:
        if not module.present:
            message = f"is a submodule whose content is not here; it comes from {module.url}"
            hint = "run git submodule update --init"
            yield _warning(message, module.path, "scan/submodule", hint=hint)
    for book in traits.notebooks:
        if book.errors:
            yield _warning(f"stores an error: {book.errors[0]}", book.path, "scan/notebook-error")
        if book.missing_names:
            names = ", ".join(book.missing_names[:5])
            message = f"uses names that no cell defines: {names}"
            yield _warning(message, book.path, "scan/notebook-names")
        if not book.in_order:
            message = "was not run from top to bottom, so its stored outputs may not come again"
            yield _warning(message, book.path, "scan/notebook-order")
    for stale in traits.stale:
        ago = f"{stale.days} days" if stale.days else "less than a day"
        message = f"was committed {ago} before {stale.code}, which makes it"
        yield _warning(message, stale.path, "scan/stale-result")


def script_problems(
    root: Path, shell_texts: Mapping[PurePosixPath, str], commands: tuple[Command, ...]
) -> Iterator[Problem]:
    """Yield scripts that no kernel starts: carriage returns, or no permission to be run.

    Args:
        root: The repository.
        shell_texts: Shell scripts.
        commands: Commands of documents and shell scripts.
    """
    direct = {
        c.script
        for c in commands
        if c.script is not None and c.argv and _starts(c.argv[0], c.script)
    }
    for path in dict.fromkeys((*shell_texts, *sorted(direct))):
        try:
            with (root / path).open("rb") as file:
                head = file.read(65_536)
                mode = os.fstat(file.fileno()).st_mode
        except OSError:
            continue
        if b"\r\n" in head and (
            path.suffix in {".sh", ".bash", ".ksh", ".zsh"} or head[:2] == b"#!"
        ):
            message = "has carriage returns at its line ends, which no shell of Unix takes"
            yield _warning(message, path, "scan/crlf", hint="convert it, for example with dos2unix")
        if head.startswith(b"#!") and not mode & stat.S_IXUSR:
            what = "a document starts it directly" if path in direct else "it has a first line #!"
            message = f"may not be executed (mode {stat.S_IMODE(mode):04o}), though {what}"
            yield _warning(message, path, "scan/mode", hint=f"run chmod +x {path}")


def _starts(word: str, script: PurePosixPath) -> bool:
    return word.removeprefix("./").endswith(script.name)


def _warning(message: str, path: PurePosixPath, clause: str, *, hint: str = "") -> Problem:
    return Problem(message, str(path), clause=clause, severity="warning", hint=hint)
