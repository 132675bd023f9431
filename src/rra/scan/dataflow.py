"""Which files code reads as data, which it writes, and which scripts must run before others."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from rra.scan.constants import HERE
from rra.scan.objects import Command, DataFile, FileUse, OrderIssue, Output, PythonFile

DATA_SUFFIXES = frozenset(
    {".csv", ".tsv", ".npz", ".npy", ".txt", ".json", ".jsonl", ".mat", ".h5", ".hdf5", ".parquet"}
    | {".arff", ".dat", ".data", ".pkl", ".pickle", ".xlsx", ".xls", ".gz", ".zip", ".bz2", ".xz"}
    | {".fasta", ".fa", ".nc", ".libsvm", ".svm", ".feather", ".sav", ".rds", ".db", ".sqlite"}
)
"""Suffixes of files that usually hold data."""

_CODE_SUFFIXES = frozenset(
    {".py", ".sh", ".ipynb", ".r", ".jl", ".c", ".h", ".cpp", ".cc", ".cu", ".m", ".pl", ".java"}
    | {".md", ".rst", ".toml", ".yaml", ".yml", ".cfg", ".ini", ".lock", ".bash", ".html", ".tex"}
)
_RESULT_NAME = re.compile(
    r"result|metric|score|accurac|output|prediction|(?:^|[_-])logs?(?:$|[_-])|summary|"
    r"(?:^|[_-])eval|report|performance|figures?$|plots?$|checkpoint",
    re.IGNORECASE,
)
_MANIFEST_NAME = re.compile(
    r"^(?:requirements.*\.txt|environment.*\.ya?ml|package(?:-lock)?\.json|config.*\.json|"
    r"settings.*\.json|CMakeLists\.txt|licen[cs]e.*|readme.*|authors.*|changelog.*|copying.*)$",
    re.IGNORECASE,
)
_REDIRECT = re.compile(r"(?:(?<![0-9&])>>?|\btee(?:\s+-a)?)\s+(?P<path>[\w./-]+)")


def looks_like_result(path: PurePosixPath) -> bool:
    """Tell whether a file's name says that it holds results of a run."""
    if path.suffix.lower() in _CODE_SUFFIXES or _MANIFEST_NAME.match(path.name):
        return False
    if any(
        part.lower() in {"data", "dataset", "datasets", "input", "inputs"}
        for part in path.parts[:-1]
    ):
        return False
    return any(_RESULT_NAME.search(part) for part in (path.stem, *path.parts[:-1]))


def looks_like_data(path: PurePosixPath) -> bool:
    """Tell whether a file's name says that it may be input data."""
    if _MANIFEST_NAME.match(path.name) or path.suffix.lower() in _CODE_SUFFIXES:
        return False
    return path.suffix.lower() in DATA_SUFFIXES


def normal_pattern(pattern: str, script: PurePosixPath, workdir: str = ".") -> str | None:
    """Return a pattern relative to the repository; None when it leads out of it.

    Args:
        pattern: As the code names it.
        script: The file that names it, for patterns relative to that file.
        workdir: Directory the script is run in, relative to the repository.
    """
    text = pattern.replace("\\", "/").removeprefix("file://")
    base = PurePosixPath(workdir)
    if text.startswith(HERE):
        text, base = text[len(HERE) :].lstrip("/"), script.parent
    if text.startswith(("/", "~")) or re.match(r"[A-Za-z]:", text):
        return None
    parts: list[str] = []
    for part in (base / text).parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or None


def fixed_enough(pattern: str) -> bool:
    """Tell whether a pattern names something: a folder or a stem, not only a suffix."""
    if "*" not in pattern:
        return True
    name = pattern.rpartition("/")[2]
    folder = pattern.rpartition("/")[0].replace("*", "").strip("/")
    stem = name.rpartition(".")[0] if "." in name else name
    return bool(folder) or len(stem.replace("*", "")) >= 2


def find_data_files(
    files: Mapping[PurePosixPath, int],
    python_files: Mapping[PurePosixPath, PythonFile],
    commands: Iterable[Command],
    outputs: Iterable[Output],
) -> tuple[DataFile, ...]:
    """Return the files of the repository that scripts and commands read as input.

    Files that code writes and files named like results are not input.
    """
    written = [output.pattern for output in outputs]
    readers: dict[PurePosixPath, set[PurePosixPath]] = {}
    for script, python in python_files.items():
        for path in _files_read(script, python, files):
            readers.setdefault(path, set()).add(script)
    for command in commands:
        if command.kind == "run" and command.argv[:1] not in {("cat",), ("head",), ("tail",)}:
            for path in _files_named(command, files):
                readers.setdefault(path, set()).add(command.script or command.source)
    return tuple(
        DataFile(path, tuple(sorted(by)), files[path])
        for path, by in sorted(readers.items())
        if not looks_like_result(path)
        and not any(fnmatch.fnmatchcase(str(path), pattern) for pattern in written)
    )


def _files_read(
    script: PurePosixPath, python: PythonFile, files: Mapping[PurePosixPath, int]
) -> Iterator[PurePosixPath]:
    for use in python.reads:
        for path in matching(use.pattern, script, files):
            if looks_like_data(path):
                yield path
    for literal in python.strings:
        if PurePosixPath(literal.text).suffix.lower() in DATA_SUFFIXES and "*" not in literal.text:
            for path in matching(literal.text, script, files):
                if looks_like_data(path):
                    yield path


def _files_named(command: Command, files: Mapping[PurePosixPath, int]) -> Iterator[PurePosixPath]:
    """Yield files that a command names as arguments, whatever their suffix."""
    for word in command.argv[1:]:
        plain = normal_pattern(word.rpartition("=")[2], PurePosixPath(), command.workdir)
        path = PurePosixPath(plain) if plain else None
        if path is None or path not in files or path == command.script:
            continue
        if path.suffix.lower() not in _CODE_SUFFIXES and not _MANIFEST_NAME.match(path.name):
            yield path


def matching(
    pattern: str, script: PurePosixPath, files: Mapping[PurePosixPath, int]
) -> list[PurePosixPath]:
    """Return the files that a pattern of a script may mean, read from the root or beside it."""
    found: list[PurePosixPath] = []
    for workdir in dict.fromkeys((".", str(script.parent))):
        normal = normal_pattern(pattern, script, workdir)
        if normal is None or not fixed_enough(normal):
            continue
        if "*" not in normal:
            if PurePosixPath(normal) in files:
                found.append(PurePosixPath(normal))
        else:
            found += [path for path in files if fnmatch.fnmatchcase(str(path), normal)]
    return list(dict.fromkeys(found))


def find_outputs(
    files: Mapping[PurePosixPath, int],
    python_files: Mapping[PurePosixPath, PythonFile],
    commands: Iterable[Command],
    workdirs: Mapping[PurePosixPath, str],
) -> tuple[Output, ...]:
    """Return the files that code and redirections write into the repository."""
    found: dict[tuple[str, PurePosixPath], Output] = {}

    def add(pattern: str | None, writer: PurePosixPath, line: int) -> None:
        if pattern and fixed_enough(pattern) and (pattern, writer) not in found:
            committed = any(fnmatch.fnmatchcase(str(path), pattern) for path in files)
            found[pattern, writer] = Output(pattern, writer, line, committed)

    for script, python in python_files.items():
        for use in python.writes:
            add(normal_pattern(use.pattern, script, workdirs.get(script, ".")), script, use.line)
    for command in commands:
        for redirect in _REDIRECT.finditer(command.text) if command.shell else ():
            writer = command.script or command.source
            add(normal_pattern(redirect["path"], writer, command.workdir), writer, command.line)
    return tuple(found.values())


def find_order_issues(
    scripts: Iterable[PurePosixPath],
    behind: Mapping[PurePosixPath, tuple[PurePosixPath, ...]],
    python_files: Mapping[PurePosixPath, PythonFile],
    documented: list[PurePosixPath],
) -> tuple[OrderIssue, ...]:
    """Return pairs of scripts of which one reads what the other writes.

    Args:
        scripts: Scripts that are started.
        behind: Files behind each of them.
        python_files: Python files by path.
        documented: Scripts in the order in which documents give their commands.
    """
    reads = {s: _uses(behind[s], python_files, written=False) for s in scripts}
    writes = {s: _uses(behind[s], python_files, written=True) for s in scripts}
    issues = []
    for then, needed in reads.items():
        for first, made in writes.items():
            if first == then or then in behind[first] or first in behind[then]:
                continue
            file = _meeting(needed, made, writes[then])
            if file:
                order = [s for s in documented if s in {first, then}]
                wrong = len(set(order)) == 2 and order.index(then) < order.index(first)
                issues.append(OrderIssue(first, then, file, wrong))
    return tuple(issues)


def _uses(
    paths: Iterable[PurePosixPath],
    python_files: Mapping[PurePosixPath, PythonFile],
    *,
    written: bool,
) -> set[str]:
    found = set()
    for path in paths:
        python = python_files.get(path)
        uses: tuple[FileUse, ...] = ()
        if python is not None:
            uses = python.writes if written else python.reads
        for use in uses:
            pattern = normal_pattern(use.pattern, path) or use.pattern
            if fixed_enough(pattern):
                found.add(pattern)
    return found


def _meeting(needed: set[str], made: set[str], own: set[str]) -> str:
    """Return a file that one script writes and the other reads but does not write itself."""
    for read in sorted(needed - own):
        for write in sorted(made):
            if read == write or fnmatch.fnmatchcase(read, write):
                return read
            if "*" in read and "*" not in write and fnmatch.fnmatchcase(write, read):
                return write
    return ""
