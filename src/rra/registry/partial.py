"""Blobs that are on their way here: what came so far outlives the process.

A file for each digest below the cache, locked by the process that fills it; whatever ends that
process gives the lock back, and the next one that wants the digest goes on where the file ends.
Who finds it locked writes into a file without a name instead. What is in a file counts for
nothing until it was hashed by the process that uses it, through the descriptor it hashed.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from rra._base import clock, places
from rra._base.files import storage_errors
from rra.bundle.staging import same_file
from rra.bundle.store import BLOCK, Descriptor
from rra.errors import StorageError

_FOLDER = "partial"
_KEPT = dt.timedelta(days=7)


class Partial:
    """The file of one blob; it is this process's alone.

    Attributes:
        descriptor: What it is to become.
        path: Where it lies; None for a file without a name.
        number: Its file descriptor.
    """

    def __init__(self, descriptor: Descriptor, path: Path | None, number: int) -> None:
        self.descriptor = descriptor
        self.path = path
        self.number = number
        self.count = 0
        self.state = hashlib.sha256()

    @property
    def where(self) -> Path:
        """The file, or the folder of one without a name, for messages."""
        return self.path or Path(tempfile.gettempdir())

    @property
    def whole(self) -> bool:
        """Whether all bytes are there, and the right ones."""
        return self.count == self.descriptor.size and self.digest == self.descriptor.digest

    @property
    def digest(self) -> str:
        """Digest of what is there."""
        return "sha256:" + self.state.hexdigest()

    def take_up(self) -> None:
        """Hash what an earlier process left; what cannot be the beginning goes."""
        size = os.fstat(self.number).st_size
        if size > self.descriptor.size:
            self.restart()
        while block := os.pread(self.number, BLOCK, self.count):
            self.state.update(block)
            self.count += len(block)
        if self.count == self.descriptor.size and not self.whole:
            self.restart()

    def append(self, block: bytes) -> None:
        """Add bytes.

        Raises:
            StorageError: The disk is full or refuses.
        """
        with storage_errors(self.where):
            view = memoryview(block)
            while view:
                written = os.pwrite(self.number, view, self.count)
                self.state.update(view[:written])
                self.count += written
                view = view[written:]

    def restart(self) -> None:
        """Forget what is there.

        Raises:
            StorageError: The disk refuses.
        """
        with storage_errors(self.where):
            if self.path is not None and os.fstat(self.number).st_nlink > 1:
                # It was linked into a layout: those bytes are not ours to take away.
                self.path.unlink()
                os.close(self.number)
                other = open_partial(self.path.parent, self.descriptor)
                self.path, self.number = other.path, other.number
            os.ftruncate(self.number, 0)
        self.count, self.state = 0, hashlib.sha256()

    def close(self, *, keep: bool) -> None:
        """End with the file; what is not kept is removed."""
        if not keep and self.path is not None:
            self.path.unlink(missing_ok=True)
        os.close(self.number)


def open_partial(folder: Path | None, descriptor: Descriptor) -> Partial:
    """Open the file of a blob, as far as it came; nothing of it was hashed yet.

    Args:
        folder: Where such files lie, as `partials` gave it.
        descriptor: The blob.

    Raises:
        StorageError: The disk is full or refuses.
    """
    path = None if folder is None else folder / descriptor.digest.removeprefix("sha256:")
    with storage_errors(path or Path(tempfile.gettempdir())):
        while path is not None:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            number = os.open(path, flags, 0o600)
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # another process is at it
                os.close(number)
                break
            if same_file(number, path):
                return Partial(descriptor, path, number)
            os.close(number)
        with tempfile.TemporaryFile(dir=folder) as file:
            return Partial(descriptor, None, os.dup(file.fileno()))


def partials() -> Path | None:
    """Return the folder of blobs that are on their way, without what nobody came back for.

    None where the cache cannot be written: then nothing is kept of a transfer that breaks off.
    """
    cache = places.writable_cache()
    if cache is None:
        return None
    folder = cache / _FOLDER
    try:
        with storage_errors(folder):
            folder.mkdir(mode=0o700, exist_ok=True)
    except StorageError:
        return None
    if not os.access(folder, os.W_OK | os.X_OK):
        return None
    oldest = (clock.now() - _KEPT).timestamp()
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and entry.stat().st_mtime < oldest:
                _remove_unused(Path(entry.path))
    return folder


def drop_partials(blobs: Iterable[Descriptor]) -> None:
    """Remove what is left here of blobs that are not wanted any more, unless they are in use."""
    folder = places.cache_root() / _FOLDER
    for blob in blobs:
        _remove_unused(folder / blob.digest.removeprefix("sha256:"))


def _remove_unused(path: Path) -> None:
    with contextlib.suppress(OSError), _opened(path) as number:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if same_file(number, path):
            path.unlink()


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    number = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield number
    finally:
        os.close(number)
