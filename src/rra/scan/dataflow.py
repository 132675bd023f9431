"""Which files the runs of a repository read as data, and which they write."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from rra.scan.configs import DATA_NAME, WRITTEN_NAME
from rra.scan.filenames import (
    fixed_enough,
    looks_like_data,
    looks_like_result,
    may_be_read_as_data,
    names_a_file,
    normal_pattern,
    placed,
)
from rra.scan.objects import DataFile, DataPath, Output, PythonFile
from rra.scan.order import meet
from rra.scan.runs import Run, RunFile
from rra.scan.traits.checkpoints import is_checkpoint

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
    for run in runs:
        for file in run.reads:
            into = readers if names_a_file(file.pattern) or "." in _last(file.pattern) else folders
            if _may_count(file, names):
                into.setdefault(file.pattern, {})[_reader(run, file)] = None
    for path, name in _literals(python_files, names):
        readers.setdefault(name, {})[path] = None
    for path, name, into in _named(python_files, configured, names, readers, folders):
        into.setdefault(name, {})[path] = None
    written = _writers(runs)
    found = [
        one
        for name, by in sorted({**_lonely(folders, readers), **readers}.items())
        for one in _data_paths(name, tuple(by), names, written)
    ]
    return tuple({one.path: one for one in found}.values())


def _last(pattern: str) -> str:
    return pattern.rpartition("/")[2]


def _reader(run: Run, file: RunFile) -> PurePosixPath:
    return file.path if not file.given or run.command is None else run.script


def _may_count(file: RunFile, names: _Names) -> bool:
    name = file.pattern
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
    name: str, readers: tuple[PurePosixPath, ...], names: _Names, written: Readers
) -> Iterator[DataPath]:
    makers = [by for other, by in written.items() if other == name or meet(name, other)]
    made_by = tuple(dict.fromkeys(script for by in makers for script in by))
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
            place = (run.command.source, run.command.line) if named and run.command else None
            line = file.line if not named or run.command is None else run.command.line
            if fixed_enough(file.pattern) and not is_test(writer):
                committed = bool(names.matching(file.pattern))
                output = Output(file.pattern, writer, line, committed, place)
                found.setdefault((file.pattern, writer), output)
    return tuple(found.values())
