"""Files of trained models that code, commands and the repository name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from rra.scan.constants import HERE
from rra.scan.filenames import is_checkpoint
from rra.scan.marks import filled
from rra.scan.objects import Command, PythonFile
from rra.scan.traits.objects import Checkpoint


def find_checkpoints(
    files: Mapping[PurePosixPath, int],
    python_files: Mapping[PurePosixPath, PythonFile],
    commands: tuple[Command, ...],
) -> tuple[Checkpoint, ...]:
    """Return the trained models that are named anywhere, each once, and those that are there.

    Args:
        files: Files of the repository.
        python_files: Its Python files.
        commands: Commands of documents and shell scripts.
    """
    found: dict[str, Checkpoint] = {}
    for name, path, line in (*_in_code(python_files), *_in_commands(commands)):
        plain = name.replace("\\", "/").replace(HERE + "/", "").removeprefix("./")
        if plain not in found and is_checkpoint(plain):
            found[plain] = Checkpoint(plain, path, line, PurePosixPath(plain) in files)
    for path in files:
        if is_checkpoint(path.name) and str(path) not in found:
            found[str(path)] = Checkpoint(str(path), path, 0, committed=True)
    whole = {name for name in found if "/" in name}
    return tuple(
        one
        for name, one in found.items()
        if "/" in name or not any(other.endswith(f"/{name}") for other in whole)
    )


def _in_code(
    python_files: Mapping[PurePosixPath, PythonFile],
) -> Iterator[tuple[str, PurePosixPath, int]]:
    for path, python in python_files.items():
        named = (*python.reads, *python.writes)
        uses = [(filled(use.pattern, {}), use.line) for use in named]
        tails = tuple(pattern for pattern, _ in uses)
        for name, line in uses:
            yield name, path, line
        for literal in python.strings:
            if not any(tail.endswith(literal.text) for tail in tails):
                text = re.sub(r"\{[^{}]*\}|%[-\d.]*[sdif]", "*", literal.text)
                if re.fullmatch(r"[\w./~:\\*+=-]+", text):
                    yield text, path, literal.line


def _in_commands(commands: tuple[Command, ...]) -> Iterator[tuple[str, PurePosixPath, int]]:
    for command in commands:
        words = command.argv[-1].split() if command.shell and command.argv else command.argv
        for word in words:
            name = word.rpartition("=")[2].strip("'\"")
            if not re.search(r"[<>\[\]{}$()]|://", name):
                yield name, command.source, command.line
