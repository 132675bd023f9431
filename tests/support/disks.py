"""A disk that fills up: a small file system of the test's own (needs "tmpfs")."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def mounted_disk(place: Path, size: str) -> Iterator[Path]:
    """Mount an empty file system of a given size, such as ``1m``, and unmount it at the end."""
    place.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(place)]
    subprocess.run(mount, check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
