"""Which blobs a layout got that no index of it names yet, in case the writer is killed.

A writer that fails takes back what it brought; one that is killed cannot. The next one finds the
journal, and removes what nobody wants by then. When the index is another than the one that the
journal begins with, somebody finished or wrote meanwhile, and everything stays.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from rra._base.files import atomic_write, sha256_file
from rra.bundle.index import BLOBS, INDEX

NAME = ".rra-journal"
"""Name of the file in a layout; it is there only while, or after, somebody writes."""

_BLOB = re.compile(r"[0-9a-f]{64}")


class Journal:
    """What one writer brings; whoever has it holds the lock of the layout."""

    def __init__(self, directory: Path) -> None:
        """Begin, and take over what a killed writer left.

        Args:
            directory: The layout, which has an index.
        """
        self._path = directory / NAME
        self._blobs = directory / BLOBS
        index = sha256_file(directory / INDEX)
        self._left = _left_by_others(self._path, index)
        atomic_write(self._path, "".join(f"{line}\n" for line in (index, *sorted(self._left))))
        self._number = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._wanted: set[str] = set()

    def note(self, digest: str) -> None:
        """Write down a blob that is about to come."""
        os.write(self._number, f"{_hex(digest)}\n".encode())

    def want(self, digest: str) -> None:
        """Say that the new bundle has a blob, whoever brought it."""
        self._wanted.add(_hex(digest))

    def settle(self) -> None:
        """Remove what killed writers left and nobody wants; the new index is written next."""
        for name in self._left - self._wanted:
            (self._blobs / name).unlink(missing_ok=True)
        self._left = set()

    def close(self) -> None:
        """End; the file stays when there is still something that killed writers left."""
        os.close(self._number)
        if not self._left:
            self._path.unlink(missing_ok=True)


def _left_by_others(path: Path, index: str) -> set[str]:
    """Return the blobs of an earlier journal, if the index is still the one of its time."""
    try:
        first, *names = path.read_text("ascii").splitlines() or [""]
    except (FileNotFoundError, UnicodeDecodeError):
        return set()
    return {name for name in names if _BLOB.fullmatch(name)} if first == index else set()


def _hex(digest: str) -> str:
    return digest.removeprefix("sha256:")
