"""The command lines of all scripts of a repository, within bounds."""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from rra.errors import Problem
from rra.scan.objects import Command, CommandLine, PythonFile
from rra.scan.parameters.flags import unknown_flags
from rra.scan.parameters.interpret import MAX_STEPS
from rra.scan.parameters.modules import Modules
from rra.scan.parameters.read import read_command_line

_MAX_STEPS_OF_ALL = 3_000_000
_OPTIONAL = re.compile(r"[\[\]<>{}|…]|^\.\.\.$")


def with_command_lines(
    python_files: Mapping[PurePosixPath, PythonFile], modules: Modules
) -> dict[PurePosixPath, PythonFile]:
    """Return the Python files of a repository with the command lines of those that are started.

    Args:
        python_files: Python files by path.
        modules: The same files as syntax trees.
    """
    left = _MAX_STEPS_OF_ALL
    found = dict(python_files)
    for path, python in python_files.items():
        if path.suffix != ".py" or not (python.guarded or python.runs or modules.is_marked(path)):
            continue
        if left <= 0:
            line = CommandLine(why="the repository has more code than is followed")
        else:
            line, used = read_command_line(
                modules, path, blindly=python.guarded or python.runs, steps=min(left, MAX_STEPS)
            )
            left -= used
        found[path] = dataclasses.replace(python, command_line=line)
    return found


def words_after(
    argv: Iterable[str], script: PurePosixPath, workdir: str = ".", names: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the words that a command gives to a script, behind the script's own name.

    Args:
        argv: The words of the command.
        script: The script, relative to the repository.
        workdir: Directory that the command is run in.
        names: Installed commands that start the script, too.
    """
    words = tuple(argv)
    if words and words[0] in names:
        return words[1:]
    module = ".".join(script.with_suffix("").parts)
    for number, word in enumerate(words):
        plain = posixpath.normpath(posixpath.join(workdir, word))
        is_file = plain == str(script) or (word.endswith(script.name) and "=" not in word)
        before = words[number - 1] if number else ""
        is_module = before == "-m" and f".{module}.".endswith((f".{word}.", f".{word}.__main__."))
        if is_file or is_module:
            return words[number + 1 :]
    return ()


def flag_problems(
    commands: Iterable[Command], python_files: Mapping[PurePosixPath, PythonFile]
) -> Iterator[Problem]:
    """Report flags of documented commands that their scripts do not accept.

    Args:
        commands: The commands that documents give.
        python_files: Python files by path, with their command lines.
    """
    for command in commands:
        python = python_files.get(command.script) if command.script is not None else None
        if python is None or command.shell or command.script is None:
            continue
        words = words_after(command.argv, command.script, command.workdir)
        plain = [word for word in words if not _OPTIONAL.search(word)]
        for flag in unknown_flags(python.command_line, plain):
            yield Problem(
                f"`{command.text}` gives {flag}, which {command.script} does not accept",
                str(command.source),
                command.line,
                clause="scan/unknown-flag",
                severity="warning",
            )
