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


@contextlib.contextmanager
def sole_builder(place: Path) -> Iterator[None]:
    """Wait until no other process builds at a place, and keep others out meanwhile.

    The lock goes with the process, so a killed builder leaves nothing to clear.

    Raises:
        StorageError: The cache cannot be written.
    """
    key = hashlib.sha256(os.fsencode(place.absolute())).hexdigest()[:32]
    path = places.make_cache() / "locks" / f"{key}.lock"
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
