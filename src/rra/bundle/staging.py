"""Folders for what is not whole yet, which belong to a running process and to nobody else.

Each is locked by its maker for as long as that runs. Whatever ends it, even a kill, gives the
lock back, so the next writer beside it knows what was left behind and removes it, and never
touches what another process is still busy with.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from rra._base.files import STAGING_PREFIX, remove_tree, storage_errors
from rra.errors import StorageError

_CLAIMED = f"{STAGING_PREFIX}held-"


@contextlib.contextmanager
def claimed(parent: Path, *, prefix: str = _CLAIMED, mode: int = 0o777) -> Iterator[Path]:
    """Give a new folder that goes when the block ends, unless it was renamed meanwhile.

    What killed processes left beside it under the same prefix goes first.

    Args:
        parent: Where it lies; made when missing.
        prefix: Start of its name.
        mode: Permission bits, before the umask.

    Raises:
        StorageError: The disk is full or refuses, or no folder can be made there.
    """
    with storage_errors(parent):
        try:
            parent.mkdir(parents=True, exist_ok=True)
            _sweep(parent, prefix)
            place, number = _claim(parent, prefix, mode)
        except FileNotFoundError as error:  # of file systems that are no storage, such as /proc
            message = f"no folder can be made in {parent}: {error.strerror}"
            raise StorageError(message, hint="choose another place") from error
    try:
        yield place
    finally:
        if place.exists():
            remove_tree(place)
        os.close(number)


def _claim(parent: Path, prefix: str, mode: int) -> tuple[Path, int]:
    """Make a folder and lock it; another process may sweep it in between."""
    while True:
        place = parent / f"{prefix}{secrets.token_hex(6)}"
        place.mkdir(mode=mode)
        with contextlib.suppress(FileNotFoundError):
            number = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(number, fcntl.LOCK_EX)
            if same_file(number, place):
                return place, number
            os.close(number)


def _sweep(parent: Path, prefix: str) -> None:
    """Remove folders of ours that nobody holds."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    for leftover in parent.glob(f"{prefix}*"):
        # Another process may remove it first, or hold it, or it is another user's.
        with contextlib.suppress(OSError):
            number = os.open(leftover, flags)
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(number).st_uid == os.geteuid() and same_file(number, leftover):
                    remove_tree(leftover)
            finally:
                os.close(number)


def same_file(number: int, path: Path) -> bool:
    """Tell whether a path still leads to an open file or folder."""
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    here = os.fstat(number)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
