"""Digests of files, each content read once as long as its file is the same.

A file is the same while device, inode, size and both times are. That alone is not enough: a file
that is written twice within one tick of the clock of its file system keeps its times. So, as git
does with its index ("racy clean"), a digest counts only when the file had not been touched for a
while when it was taken; otherwise the file is read again.

Digests of large files outlive the process, in a file of the cache folder. It is a convenience:
whatever is wrong with it, the files are read. Nothing that is checked against a record uses it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rra._base import clock
from rra._base.files import atomic_write, sha256_file
from rra.errors import RraError

Key = tuple[int, int, int, int, int]
"""Device, inode, size, time of change of content, time of change of anything, both in ns."""

LARGE = 4 * 1024 * 1024
"""Files from this size on are remembered beyond the process; smaller ones are read as fast."""

MOST_ENTRIES = 10_000
"""Digests that are remembered; those not used for longest go first."""

TICK_NS = 2_000_000_000
"""The coarsest clock of a file system in use (FAT); what is younger may change unseen."""

_MAX_BYTES = 8 * 1024 * 1024
_VERSION = 1
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """A digest and when, in ns, the file began to be read for it."""

    sha256: str
    taken: int

    def counts_for(self, key: Key) -> bool:
        """Whether the file had not been touched for a tick when the digest was taken."""
        return max(key[3], key[4]) + TICK_NS <= self.taken


class Digests:
    """Digests of files, remembered while their files stay the same."""

    def __init__(self, file: Callable[[], Path] | None = None) -> None:
        """Begin with those that a file holds.

        Args:
            file: Says where digests of large files are kept; None keeps them in memory alone.
        """
        self._file = file
        self._known: dict[Key, Entry] = {}
        self._read = file is None
        self._new = False

    def of(self, path: Path) -> tuple[str, int]:
        """Return digest and size of a file.

        Raises:
            OSError: It cannot be read.
        """
        key = _key(path)
        if key[2] >= LARGE:
            self._load()
        entry = self._known.pop(key, None)
        if entry is None or not entry.counts_for(key):
            key, entry = _take(path)
            self._new = self._new or key[2] >= LARGE
        self._known[key] = entry  # behind the others: it was used last
        return entry.sha256, key[2]

    def save(self) -> None:
        """Keep the digests of large files for other processes, if the place can be written."""
        if not self._new or self._file is None:
            return
        kept = {**_stored(self._file()), **self._known}
        rows = [
            [*key, entry.taken, entry.sha256]
            for key, entry in kept.items()
            if key[2] >= LARGE and entry.counts_for(key)
        ]
        text = json.dumps({"version": _VERSION, "files": rows[-MOST_ENTRIES:]})
        with contextlib.suppress(RraError, OSError):
            atomic_write(self._file(), text + "\n", mode=0o600)
        self._new = False

    def _load(self) -> None:
        if not self._read and self._file is not None:
            self._known = {**_stored(self._file()), **self._known}
        self._read = True


def _key(path: Path) -> Key:
    status = path.stat()
    return (
        *(status.st_dev, status.st_ino, status.st_size),
        *(status.st_mtime_ns, status.st_ctime_ns),
    )


def _take(path: Path) -> tuple[Key, Entry]:
    """Hash a file; one that changes meanwhile is hashed as it is, and not believed later."""
    before = _key(path)
    taken = int(clock.now().timestamp() * 1e9)
    digest = sha256_file(path)
    after = _key(path)
    return after, Entry(digest, taken if before == after else 0)


def _stored(file: Path) -> dict[Key, Entry]:
    """Return what a file holds; nothing when it is damaged, too large, or another user's."""
    try:
        with file.open("rb") as source:
            status = os.fstat(source.fileno())
            others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if status.st_uid != os.geteuid() or others or status.st_size > _MAX_BYTES:
                return {}
            document: Any = json.loads(source.read(_MAX_BYTES))
        if document["version"] != _VERSION:
            return {}
        return dict(_row(row) for row in document["files"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return {}


def _row(row: Any) -> tuple[Key, Entry]:
    *numbers, digest = row
    device, inode, size, content, anything, taken = numbers
    if not all(type(number) is int for number in numbers) or not _DIGEST.fullmatch(digest):
        raise ValueError(row)
    return (device, inode, size, content, anything), Entry(digest, taken)
