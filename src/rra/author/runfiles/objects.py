"""What the files say in which other tools keep how a repository is run."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from rra._base.yaml import YamlDocument, parse_yaml
from rra.author.draft_launchers import DraftLauncher, DraftParameter
from rra.author.launchers import ParameterWord, Step, default_collect
from rra.errors import FormatError
from rra.scan import Command, Scan, files_behind_script
from rra.scan.commands import Places, read_commands
from rra.scan.documents import DocumentLine
from rra.scan.text import read_text

MAX_RUNS = 24
"""More runs of one file than these are named in a note only."""


@dataclasses.dataclass(frozen=True)
class FoundSetting:
    """A setting that a file gives: its value, the launchers that read it, and its place."""

    name: str
    value: str | int | float | bool | None
    launchers: tuple[str, ...]
    where: str


@dataclasses.dataclass(frozen=True)
class RunFiles:
    """What such files say, all together.

    Attributes:
        launchers: The runs.
        title: Title of the work.
        authors: Names of its authors.
        python: Version of Python.
        requirements: Packages (PEP 508).
        settings: Settings with their places.
        notes: What the author should know.
    """

    launchers: tuple[DraftLauncher, ...] = ()
    title: str = ""
    authors: tuple[str, ...] = ()
    python: str | None = None
    requirements: tuple[str, ...] = ()
    settings: tuple[FoundSetting, ...] = ()
    notes: tuple[str, ...] = ()


def joined(parts: Iterable[RunFiles]) -> RunFiles:
    """Put together what several files say; the first that names a thing is believed."""
    found = tuple(parts)
    return RunFiles(
        launchers=tuple(launcher for part in found for launcher in part.launchers),
        title=next((part.title for part in found if part.title), ""),
        authors=next((part.authors for part in found if part.authors), ()),
        python=next((part.python for part in found if part.python), None),
        requirements=tuple(dict.fromkeys(r for part in found for r in part.requirements)),
        settings=tuple(setting for part in found for setting in part.settings),
        notes=tuple(note for part in found for note in part.notes),
    )


def read_document(scan: Scan, name: str, notes: list[str]) -> YamlDocument | None:
    """Read a YAML file of the repository; None, and a note, where it cannot be read.

    Args:
        scan: The scan of the repository.
        name: The file.
        notes: Gets the note.
    """
    if PurePosixPath(name) not in scan.files:
        return None
    text = read_text(scan.root / name)
    try:
        document = parse_yaml(text or "", source=name)
    except FormatError as error:
        notes.append(
            f"{error.problems[0] if error.problems else error.message}; it was passed over"
        )
        return None
    if not isinstance(document.data, dict):
        notes.append(f"{name} is no map of keys; it was passed over")
        return None
    return document


def a_map(value: Any) -> dict[str, Any]:
    """Return a map with text keys, or an empty one for anything else (``null`` among it)."""
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def a_list(value: Any) -> list[Any]:
    """Return a list; a single value is one of one item, ``null`` an empty one."""
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def command_of(text: str, source: str, line: int, scan: Scan, workdir: str = ".") -> Command | None:
    """Read one command as if a document gave it.

    Args:
        text: The command.
        source: The file that gives it.
        line: Line there.
        scan: The scan of the repository.
        workdir: Folder that it is run in.
    """
    places = Places(scan.files, {parent for path in scan.files for parent in path.parents})
    place = f"cd {shlex.quote(workdir)} && " if workdir != "." else ""
    lines = [DocumentLine(f"{place}{' '.join(text.split())}", line, 0)]
    found = read_commands(lines, PurePosixPath(source), places)
    return dataclasses.replace(found[0], text=" ".join(text.split())) if found else None


def with_parameters(
    command: Command, parameters: Mapping[str, DraftParameter], notes: list[str]
) -> tuple[Step, tuple[DraftParameter, ...]]:
    """Put parameters where ``{name}`` of a declared one ends a word; other braces stay.

    Elsewhere, and in what needs a shell, the default is written down: no text of a parameter is
    ever read as shell syntax.

    Args:
        command: The command.
        parameters: Declared parameters by the name between the braces.
        notes: Gets a line for each default that is written down.
    """
    pattern = re.compile("|".join(rf"\{{{re.escape(name)}\}}" for name in parameters) or r"(?!)")
    quote = shlex.quote if command.shell else str

    def plain(found: re.Match[str]) -> str:
        return quote(str(parameters[found[0][1:-1]].default))

    used: dict[str, DraftParameter] = {}
    words: list[str | ParameterWord] = []
    for word in command.argv:
        found = pattern.findall(word)
        whole = len(found) == 1 and word.endswith(found[0]) and not command.shell
        parameter = parameters[found[0][1:-1]] if found else None
        if (
            whole
            and parameter is not None
            and re.fullmatch(r"[A-Za-z_][\w-]{0,62}", parameter.name)
        ):
            used[parameter.name] = parameter
            words.append(ParameterWord(parameter.name, word.removesuffix(found[0])))
            continue
        notes += [
            f"{name} stands inside a word or a shell's line: its default is written down"
            for name in found
        ]
        words.append(pattern.sub(plain, word))
    return Step(tuple(words), command.workdir, command.variables), tuple(used.values())


def launcher_of(
    name: str, steps: Iterable[Step], scripts: Iterable[PurePosixPath | None], scan: Scan
) -> DraftLauncher:
    """Return a launcher of some steps, with the files behind its scripts; its caller says more."""
    started = tuple(dict.fromkeys(script for script in scripts if script is not None))
    behind = tuple(
        dict.fromkeys(path for script in started for path in files_behind_script(scan, script))
    )
    return DraftLauncher(name, tuple(steps), "", "", scripts=started, behind=behind)


def collected(paths: Iterable[str], scan: Scan) -> tuple[tuple[str, str], ...]:
    """Return what to collect of declared outputs; a path without an ending is a folder."""
    entries: dict[str, str] = {}
    folders = {parent for path in scan.files for parent in path.parents}
    for text in paths:
        path = PurePosixPath(text)
        if (
            path.is_absolute()
            or ".." in path.parts
            or not path.parts
            or re.search(r"[*?\[\\]", text)
        ):
            continue
        folder = text.endswith("/") or path in folders or not path.suffix
        pattern, place = default_collect(f"{path}/**" if folder else str(path))
        entries.setdefault(pattern, place)
    return tuple(entries.items())


def parameter_of(name: str, declared: Any) -> DraftParameter | None:
    """Return a parameter with its default, or None where it has none.

    Args:
        name: Its name.
        declared: ``{type, default}``, the name of a type, or a number, which is the default.
    """
    if isinstance(declared, str):  # the short form is the type alone
        return None
    given = declared if isinstance(declared, dict) else {"default": declared}
    default = given.get("default")
    if isinstance(default, bool):
        return DraftParameter(name, "string", str(default), ())
    if not isinstance(default, str | int | float):
        return None
    asked = str(given.get("type", ""))
    if isinstance(default, str) or asked in {"string", "path", "uri"}:
        return DraftParameter(name, "string", str(default), ())
    kind = "integer" if isinstance(default, int) and asked != "float" else "number"
    return DraftParameter(name, kind, default, ())
