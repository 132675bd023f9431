"""The index of a whole output directory: every file in the way that suits it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

from rra._base.files import walk_files
from rra.errors import SelectError
from rra.values.leaves.csv_leaves import csv_leaves
from rra.values.leaves.json_leaves import json_leaves, json_lines_leaves
from rra.values.leaves.leaf import MAX_BYTES, MAX_LEAVES, FileLeaves
from rra.values.leaves.npz_leaves import npz_leaves
from rra.values.leaves.text_leaves import text_leaves

Reader = Callable[[str, str], FileLeaves]

MAX_TOTAL = 3 * MAX_LEAVES
"""Most numbers of one output directory that are indexed."""

_ARRAYS = {".npz", ".npy"}
_LINES = {".jsonl", ".ndjson"}
_TABLES = {".csv", ".tsv"}
_NEVER = {".pkl", ".pickle", ".pt", ".pth", ".joblib", ".ckpt"}
_SNIFF = 8192


@dataclasses.dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is not indexed, or not wholly, and why."""

    file: str
    reason: str


@dataclasses.dataclass(frozen=True)
class OutputIndex:
    """The numbers of one output directory.

    Attributes:
        root: The directory.
        files: Its files that hold numbers, byte-sorted.
        skipped: Files that are not indexed or not wholly.
    """

    root: Path
    files: tuple[FileLeaves, ...]
    skipped: tuple[Skipped, ...]

    @property
    def count(self) -> int:
        """How many numbers are indexed."""
        return sum(len(file.leaves) for file in self.files)


def index_outputs(root: Path) -> OutputIndex:
    """Index every number below a directory that a selector of this version can name.

    Links are not followed, pickles are not loaded, and sizes are bounded.

    Args:
        root: Output directory of one run.
    """
    files: list[FileLeaves] = []
    skipped: list[Skipped] = []
    total = 0
    for name in walk_files(root) if root.is_dir() else ():
        if total > MAX_TOTAL:
            skipped.append(Skipped(str(name), f"{MAX_TOTAL} numbers were indexed before it"))
            continue
        try:
            found = _file(root / name, str(name))
        except (SelectError, OSError) as error:
            reason = error.message if isinstance(error, SelectError) else str(error.strerror)
            skipped.append(Skipped(str(name), reason))
            continue
        total += len(found.leaves)
        if not found.complete:
            skipped.append(Skipped(str(name), "indexed in part: too long, or with larger arrays"))
        if found.leaves:
            files.append(found)
    return OutputIndex(root, tuple(files), tuple(skipped))


def _file(path: Path, name: str) -> FileLeaves:
    suffix = path.suffix.lower()
    if path.is_symlink() or not path.is_file():
        raise SelectError("not a regular file")
    if suffix in _NEVER:
        raise SelectError("may hold pickled objects, which are never loaded")
    if suffix in _ARRAYS:
        return npz_leaves(path, name)
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise SelectError(f"{size} bytes, more than {MAX_BYTES}")
    with path.open("rb") as file:
        if b"\0" in file.read(_SNIFF):
            raise SelectError("not text, and not a kind of file that selectors read")
    for reader in _structured(suffix):
        try:
            return reader(path.read_text("utf-8-sig"), name)
        except (SelectError, UnicodeDecodeError):
            continue  # what is not what its name says is read as text
    return text_leaves(path, name)


def _structured(suffix: str) -> Iterator[Reader]:
    if suffix == ".json":
        yield json_leaves
    elif suffix in _LINES:
        yield json_lines_leaves
    elif suffix in _TABLES:
        yield csv_leaves
