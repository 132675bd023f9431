"""Where built environments are kept, and how two builders stay out of each other's way."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from rra._base import places
from rra._base.files import storage_errors
from rra.errors import StorageError


@contextlib.contextmanager
def sole_builder(place: Path) -> Iterator[None]:
    """Wait until no other process builds at a place, and keep others out meanwhile.

    The lock goes with the process, so a killed builder leaves nothing to clear.

    Raises:
        StorageError: The cache cannot be written.
    """
    cache = places.writable_cache()
    if cache is None:
        with _sole_beside(place):
            yield
        return
    key = hashlib.sha256(os.fsencode(place.absolute())).hexdigest()[:32]
    path = cache / "locks" / f"{key}.lock"
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _sole_beside(place: Path) -> Iterator[None]:
    """Do the same where the cache cannot be written: lock the folder that the place lies in.

    What was built there before can be used, and something can be built anywhere else.
    """
    folder = place.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        message = f"no environment can be built in {folder}: {error.strerror}"
        hint = "set RRA_CACHE to a folder that can be written"
        raise StorageError(message, hint=hint) from error
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)
