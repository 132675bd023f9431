"""Which files each run of a script reads and writes, with what its command gives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from rra.scan.filenames import fixed_enough, placed
from rra.scan.foreign import ForeignFile
from rra.scan.marks import filled, is_marked
from rra.scan.objects import Command, CommandLine, FileUse, PythonFile
from rra.scan.parameters.flags import arguments_for, given_values
from rra.scan.parameters.scripts import words_after
from rra.scan.redirections import command_files

_MAX_COMMANDS = 20
Reach = Callable[[PurePosixPath], tuple[PurePosixPath, ...]]


@dataclasses.dataclass(frozen=True, slots=True)
class RunFile:
    """A file that a run reads or writes.

    Attributes:
        pattern: Path relative to the repository, or of a machine; unknown parts are ``*``.
        path: The file that names it: code, a shell script or a document.
        line: Line there.
        given: Whether the words of the command decide it, and not the code alone.
    """

    pattern: str
    path: PurePosixPath
    line: int
    given: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """One way in which a script is run.

    Attributes:
        script: The script; the document or shell script of a command that starts none.
        command: The command, or None where nothing says how the script is run.
        reads: Files that it reads.
        writes: Files that it writes.
    """

    script: PurePosixPath
    command: Command | None
    reads: tuple[RunFile, ...]
    writes: tuple[RunFile, ...]


@dataclasses.dataclass(frozen=True)
class Code:
    """The code of a repository, as far as runs ask for it.

    Attributes:
        python: Python files by path.
        foreign: Files of other languages by path.
        files: All files with their sizes.
        imports: Returns a script and the files that it imports.
    """

    python: Mapping[PurePosixPath, PythonFile]
    foreign: Mapping[PurePosixPath, ForeignFile]
    files: Mapping[PurePosixPath, int]
    imports: Reach

    def command_line(self, script: PurePosixPath) -> CommandLine:
        """Return how a script reads its command line, as far as that is known."""
        python = self.python.get(script)
        return python.command_line if python is not None else CommandLine()

    def uses(self, path: PurePosixPath, *, written: bool) -> tuple[FileUse, ...]:
        """Return the files that one file of code names."""
        python, other = self.python.get(path), self.foreign.get(path)
        if python is not None:
            return python.writes if written else python.reads
        if other is not None:
            return other.writes if written else other.reads
        return ()


def find_runs(
    scripts: Iterable[PurePosixPath], commands: Iterable[Command], code: Code
) -> tuple[Run, ...]:
    """Return every run that documents, shell scripts and Makefiles give, and of each other script.

    Args:
        scripts: Scripts that may be started.
        commands: Commands of documents, and those within scripts.
        code: The code.
    """
    by_script: dict[PurePosixPath, list[Command | None]] = {}
    alone: list[Command] = []
    for command in commands:
        if command.script is None or command.script.name.lower().endswith("makefile"):
            alone.append(command)
        else:
            known = by_script.setdefault(command.script, [])
            if len(known) < _MAX_COMMANDS:
                known.append(command)
    found = [
        _run(script, command, code)
        for script in dict.fromkeys((*by_script, *scripts))
        for command in by_script.get(script, (None,))
    ]
    found += [_alone(command, code) for command in alone]
    return tuple(found)


def _run(script: PurePosixPath, command: Command | None, code: Code) -> Run:
    values = _values(script, command, code)
    workdir = command.workdir if command is not None else "."
    if command is None and script.suffix == ".ipynb":
        workdir = str(script.parent)  # a notebook is run where it lies
    folders = dict.fromkeys((workdir, str(script.parent)))
    reads: dict[str, RunFile] = {}
    writes: dict[str, RunFile] = {}
    for path in code.imports(script):
        for written, into in ((False, reads), (True, writes)):
            for use in code.uses(path, written=written):
                for found in _places(use, path, values, folders, code.files):
                    into.setdefault(found.pattern, found)
    if command is not None:
        for name, written in command_files(command, code.files):
            place = placed(name, script, workdir)
            if place and place not in reads and place not in writes:
                into = writes if written else reads
                into[place] = RunFile(place, command.source, command.line, given=True)
    return Run(script, command, tuple(reads.values()), tuple(writes.values()))


def _alone(command: Command, code: Code) -> Run:
    """Return the run of a command that starts no file of the repository: a download, a program."""
    reads: list[RunFile] = []
    writes: list[RunFile] = []
    for name, written in command_files(command, code.files):
        place = placed(name, command.source, command.workdir)
        if place:
            file = RunFile(place, command.source, command.line, given=True)
            (writes if written else reads).append(file)
    return Run(command.source, command, tuple(reads), tuple(writes))


def _places(
    use: FileUse,
    path: PurePosixPath,
    values: Mapping[str, str],
    folders: Iterable[str],
    files: Mapping[PurePosixPath, int],
) -> Iterator[RunFile]:
    """Yield the place of a file, in the first folder where it is, or where it would be."""
    pattern = filled(use.pattern, values)
    places = [place for folder in folders if (place := placed(pattern, path, folder))]
    place = next((one for one in places if PurePosixPath(one) in files), "") or "".join(places[:1])
    if place and fixed_enough(place):
        yield RunFile(place, path, use.line, given=is_marked(use.pattern))


def _values(script: PurePosixPath, command: Command | None, code: Code) -> dict[str, str]:
    """Return the values of a script's parameters: defaults, and what the command gives."""
    line = code.command_line(script)
    words = () if command is None else words_after(command.argv, script, command.workdir)
    if command is not None and command.shell:
        words = words_after(command.argv[-1].split(), script, command.workdir)
    values: dict[str, str] = {}
    for argument in arguments_for(line, words) if words else line.arguments:
        default = argument.default if argument.default is not None else argument.default_text
        if isinstance(default, str) and default not in {"", "None"}:
            values.setdefault(argument.name.replace("-", "_"), default)
    given = given_values(line, words)
    values |= {name.replace("-", "_"): value for name, value in given.items() if value}
    values |= {str(number): word for number, word in enumerate(words, start=1)}
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: str) -> str:
    """Return a value without what only a shell or a reader puts in."""
    return "*" if any(c in value for c in "$<>{}`|\n") else value
