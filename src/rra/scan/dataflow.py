"""Which files the runs of a repository read as data, and which they write."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from rra.scan.configs import DATA_NAME, WRITTEN_NAME
from rra.scan.filenames import (
    fixed_enough,
    is_checkpoint,
    looks_like_data,
    looks_like_result,
    may_be_read_as_data,
    names_a_file,
    normal_pattern,
    placed,
)
from rra.scan.objects import DataFile, DataPath, Output, PythonFile
from rra.scan.order import WrittenNames
from rra.scan.runs import Run, RunFile

_MAX_MATCHES = 2_000
Readers = dict[str, dict[PurePosixPath, None]]


class _Names:
    """The files of a repository, by exact name, by pattern and as folders."""

    def __init__(self, files: Mapping[PurePosixPath, int]) -> None:
        self.sizes = files
        self._texts = [str(path) for path in files]
        self._folders = {str(parent) for path in files for parent in path.parents}

    def matching(self, pattern: str) -> list[PurePosixPath]:
        """Return the files that a pattern means."""
        if "*" not in pattern:
            path = PurePosixPath(pattern)
            return [path] if path in self.sizes else []
        return [PurePosixPath(p) for p in self._texts if fnmatch.fnmatchcase(p, pattern)]

    def is_folder(self, name: str) -> bool:
        return name.rstrip("/") in self._folders


def find_data_paths(
    files: Mapping[PurePosixPath, int],
    python_files: Mapping[PurePosixPath, PythonFile],
    runs: Sequence[Run],
    configured: Iterable[tuple[PurePosixPath, str]],
) -> tuple[DataPath, ...]:
    """Return the files that scripts, commands and settings read as data, present or not.

    Args:
        files: Files of the repository with their sizes.
        python_files: Python files by path.
        runs: Runs of scripts.
        configured: Files of settings with the paths of data that they name.
    """
    names = _Names(files)
    readers: Readers = {}
    folders: Readers = {}
    makers = _writers(runs)
    written = WrittenNames(makers)
    for run in runs:
        for file in run.reads:
            name = _told(file, names, written)
            into = readers if names_a_file(name) or "." in _last(name) else folders
            if _may_count(name, run, file, names):
                into.setdefault(name, {})[_reader(run, file)] = None
    for path, name in _literals(python_files, names):
        readers.setdefault(name, {})[path] = None
    for path, name, into in _named(python_files, configured, names, readers, folders):
        into.setdefault(name, {})[path] = None
        if into is folders and name not in makers:
            _absorb(name, readers, names, written)
    found = [
        one
        for name, by in sorted({**_lonely(folders, readers), **readers}.items())
        for one in _data_paths(name, tuple(by), names, written, makers)
    ]
    return tuple({one.path: one for one in found}.values())


def _last(pattern: str) -> str:
    return pattern.rpartition("/")[2]


def _reader(run: Run, file: RunFile) -> PurePosixPath:
    return file.path if not file.given or run.command is None else run.script


def _absorb(folder: str, readers: Readers, names: _Names, written: WrittenNames) -> None:
    """Leave out the files of a folder that somebody has to bring: the folder says it all."""
    for name in [one for one in readers if one.startswith(f"{folder.rstrip('/')}/")]:
        if not written.meeting(name) and not names.matching(name):
            del readers[name]


def _told(file: RunFile, names: _Names, written: WrittenNames) -> str:
    """Return the file, or the folder that a parameter names where nobody makes the file."""
    if not file.root:
        return file.pattern
    there = written.meeting(file.pattern) or names.matching(file.pattern)
    return file.pattern if there else file.root


def _may_count(name: str, run: Run, file: RunFile, names: _Names) -> bool:
    word = run.command is not None and file.path == run.command.source
    bare = word and "." not in _last(name)
    if name.startswith("*") or (bare and not names.is_folder(name)):
        return False  # a word that another command writes too: a model, a run
    if is_checkpoint(name) or not may_be_read_as_data(name) or is_test(file.path):
        return False
    return "." in _last(name) or "/" in name or names.is_folder(name)


def is_test(path: PurePosixPath) -> bool:
    """Tell whether a file belongs to tests, to packaging or to the making of documents."""
    name = path.name
    if name in {"setup.py", "conftest.py", "noxfile.py", "versioneer.py"}:
        return True
    folders = set(path.parts[:-1])
    if name.startswith("test_") or name.endswith("_test.py"):
        return bool({"tests", "test"} & folders)
    return "tests" in folders or (name == "conf.py" and bool({"docs", "doc"} & folders))


def _literals(
    python_files: Mapping[PurePosixPath, PythonFile], names: _Names
) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield the texts of code that are names of files of the repository that look like data."""
    for script, python in python_files.items():
        for literal in python.strings:
            if "*" in literal.text or not names_a_file(literal.text):
                continue
            for workdir in (".", str(script.parent)):
                name = normal_pattern(literal.text, script, workdir)
                path = PurePosixPath(name) if name else None
                if path is None:
                    continue
                if path in names.sizes and looks_like_data(path) and not is_checkpoint(str(path)):
                    yield script, str(path)
                    break


def _named(
    python_files: Mapping[PurePosixPath, PythonFile],
    configured: Iterable[tuple[PurePosixPath, str]],
    names: _Names,
    readers: Readers,
    folders: Readers,
) -> Iterator[tuple[PurePosixPath, str, Readers]]:
    """Yield what settings and parameters say is data: by what they are called."""
    wanted = list(configured)
    for path, python in python_files.items():
        for one in python.arguments:
            default = one.default if isinstance(one.default, str) else one.default_text
            told = DATA_NAME.search(one.name) and not WRITTEN_NAME.search(one.name)
            if default and told and not is_test(path):
                wanted.append((path, default))
    for path, value in wanted:
        name = placed(value, path)
        if not name or not fixed_enough(name) or is_checkpoint(name) or value in {".", "./"}:
            continue
        if not may_be_read_as_data(name):
            continue
        if names_a_file(name):
            yield path, name, readers
        elif "." not in _last(name) and ("/" in value or names.is_folder(name)):
            yield path, name, folders


def _lonely(folders: Readers, readers: Readers) -> Readers:
    """Return the folders of which no file is named: the others say less than their files."""
    files = list(readers)
    return {
        name: by
        for name, by in folders.items()
        if not any(file.startswith(f"{name.rstrip('/*')}/") for file in files)
    }


def _writers(runs: Sequence[Run]) -> dict[str, dict[PurePosixPath, None]]:
    found: Readers = {}
    for run in runs:
        for file in run.writes:
            found.setdefault(file.pattern, {})[run.script] = None
    return found


def _data_paths(
    name: str,
    readers: tuple[PurePosixPath, ...],
    names: _Names,
    written: WrittenNames,
    makers: Readers,
) -> Iterator[DataPath]:
    meeting = [makers[other] for other in written.meeting(name)]
    made_by = tuple(dict.fromkeys(script for by in meeting for script in by))
    there = [path for path in names.matching(name) if may_be_read_as_data(str(path))]
    for path in there[:_MAX_MATCHES]:
        yield DataPath(str(path), tuple(sorted(readers)), names.sizes[path], made_by)
    if not there:
        size = 0 if names.is_folder(name) else None
        yield DataPath(name, tuple(sorted(readers)), size, made_by)


def find_data_files(
    files: Mapping[PurePosixPath, int], paths: Iterable[DataPath]
) -> tuple[DataFile, ...]:
    """Return the files of the repository that are input: read, and neither made nor results.

    Args:
        files: Files of the repository with their sizes.
        paths: What is read as data.
    """
    return tuple(
        DataFile(path, one.readers, files[path])
        for one in paths
        if (path := PurePosixPath(one.path)) in files
        and not one.made_by
        and not looks_like_result(path)
    )


def find_outputs(files: Mapping[PurePosixPath, int], runs: Sequence[Run]) -> tuple[Output, ...]:
    """Return the files that code, redirections and downloads write.

    Args:
        files: Files of the repository with their sizes.
        runs: Runs of scripts.
    """
    names = _Names(files)
    found: dict[tuple[str, PurePosixPath], Output] = {}
    for run in runs:
        for file in run.writes:
            named = file.given and run.command is not None
            writer = run.script if named else file.path
            given = ((run.command.source, run.command.line),) if named and run.command else ()
            line = file.line if not named or run.command is None else run.command.line
            if fixed_enough(file.pattern) and not is_test(writer):
                committed = bool(names.matching(file.pattern))
                output = Output(file.pattern, writer, line, committed, given)
                known = found.setdefault((file.pattern, writer), output)
                # What the code itself names once is written whatever the command says.
                places = (*known.given, *given) if known.given and given else ()
                places = tuple(dict.fromkeys(places))
                found[file.pattern, writer] = dataclasses.replace(known, given=places)
    return tuple(found.values())
