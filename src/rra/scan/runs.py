"""Which files each run of a script reads and writes, with what its command gives."""

from __future__ import annotations

import dataclasses
import fnmatch
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from rra.scan.filenames import fixed_enough, placed
from rra.scan.foreign import ForeignFile
from rra.scan.marks import filled, is_marked, leading_mark
from rra.scan.objects import Command, CommandLine, FileUse, PythonFile
from rra.scan.parameters.flags import arguments_for, given_values
from rra.scan.parameters.scripts import words_after
from rra.scan.redirections import argument_files, command_files

_MAX_COMMANDS = 20
_MAX_PATTERNS = 300
Reach = Callable[[PurePosixPath], tuple[PurePosixPath, ...]]


@dataclasses.dataclass(frozen=True, slots=True)
class RunFile:
    """A file that a run reads or writes.

    Attributes:
        pattern: Path relative to the repository, or of a machine; unknown parts are ``*``.
        path: The file that names it: code, a shell script or a document.
        line: Line there.
        given: Whether the words of the command decide it, and not the code alone.
        root: The folder that a parameter names and the file is in, or empty.
    """

    pattern: str
    path: PurePosixPath
    line: int
    given: bool = False
    root: str = ""


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
        installed: Installed commands and the scripts that they start.
    """

    python: Mapping[PurePosixPath, PythonFile]
    foreign: Mapping[PurePosixPath, ForeignFile]
    files: Mapping[PurePosixPath, int]
    imports: Reach
    installed: Mapping[str, PurePosixPath] = dataclasses.field(default_factory=dict)

    def names(self, script: PurePosixPath) -> frozenset[str]:
        """Return the installed commands that start a script."""
        return frozenset(name for name, path in self.installed.items() if path == script)

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
        if command.joins:
            continue  # its parts are commands themselves
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
    made = _Made(found)
    return tuple(_with_made(run, made) for run in found)


class _Made:
    """Everything that runs write: exact names, patterns, and what a name may be the start of."""

    def __init__(self, runs: Iterable[Run]) -> None:
        names = {file.pattern for run in runs for file in run.writes}
        self._exact = {name for name in names if "*" not in name}
        self._loose = sorted(names - self._exact)[:_MAX_PATTERNS]
        self._folders = {str(parent) for name in names for parent in PurePosixPath(name).parents}

    def __contains__(self, name: str) -> bool:
        """Tell whether a name is written, is a folder of it, or the name with a step behind."""
        stem = re.sub(r"[-.]\d+$", "", name)
        whole = name in self._exact or name in self._folders or stem in self._exact
        return whole or any(
            fnmatch.fnmatchcase(one, pattern) for one in {name, stem} for pattern in self._loose
        )


def _with_made(run: Run, made: _Made) -> Run:
    """Return a run that reads those words of its command that another run writes."""
    command = run.command
    if command is None or command.kind != "run":
        return run
    known = {file.pattern for file in (*run.reads, *run.writes)}
    more: dict[str, RunFile] = {}
    for name in argument_files(command):
        place = placed(name, run.script, command.workdir)
        if place and place not in known and place != str(run.script) and place in made:
            more[place] = RunFile(place, command.source, command.line, given=True)
    return dataclasses.replace(run, reads=(*run.reads, *more.values()))


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
    return Run(script, command, tuple(reads.values()), tuple(_files_only(writes)))


def _files_only(files: Mapping[str, RunFile]) -> Iterator[RunFile]:
    """Yield files, and those folders of a command in which no file is told."""
    folders = {str(parent) for name in files for parent in PurePosixPath(name).parents}
    yield from (file for name, file in files.items() if name not in folders)


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
    for pattern in filled(use.pattern, values).split() if is_marked(use.pattern) else [use.pattern]:
        yield from _place(pattern, use, path, values, folders, files)


def _place(
    pattern: str,
    use: FileUse,
    path: PurePosixPath,
    values: Mapping[str, str],
    folders: Iterable[str],
    files: Mapping[PurePosixPath, int],
) -> Iterator[RunFile]:
    places = [place for folder in folders if (place := placed(pattern, path, folder))]
    place = next((one for one in places if PurePosixPath(one) in files), "") or "".join(places[:1])
    if place and fixed_enough(place):
        folder = leading_mark(use.pattern)
        root = placed(filled(folder, values), path, next(iter(folders))) if folder else ""
        yield RunFile(place, path, use.line, is_marked(use.pattern), root or "")


def _values(script: PurePosixPath, command: Command | None, code: Code) -> dict[str, str]:
    """Return the values of a script's parameters: defaults, and what the command gives."""
    line = code.command_line(script)
    words: tuple[str, ...] = ()
    if command is not None:
        argv = command.argv[-1].split() if command.shell else command.argv
        words = words_after(argv, script, command.workdir, code.names(script))
    values: dict[str, str] = {}
    for argument in arguments_for(line, words) if words else line.arguments:
        default = argument.default if argument.default is not None else argument.default_text
        if isinstance(default, str) and default not in {"", "None"}:
            values.setdefault(argument.name.replace("-", "_"), default)
    given = given_values(line, words)
    values |= {name.replace("-", "_"): value for name, value in given.items() if value}
    values |= {n: v for n, v in _undeclared(words).items() if n not in values}
    values |= {str(number): word for number, word in enumerate(words, start=1)}
    return {name: _plain(value) for name, value in values.items()}


def _undeclared(words: Sequence[str]) -> dict[str, str]:
    """Return the values of long flags by their names, also of those that a library declares."""
    found: dict[str, str] = {}
    for word, behind in itertools.pairwise((*words, "")):
        name, equals, value = word.lstrip("-").partition("=")
        if word.startswith("-") and name and (equals or not behind.startswith("-")):
            found[name.replace("-", "_")] = value if equals else behind
    return {name: value for name, value in found.items() if value}


def _plain(value: str) -> str:
    """Return a value without what only a shell or a reader puts in."""
    return "*" if any(c in value for c in "$<>{}`|\n") else value
