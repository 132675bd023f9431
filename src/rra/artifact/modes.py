"""The executable bit of launchers, which file systems, web forms and archives lose."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath

from rra._base.files import storage_errors, walk_files
from rra.artifact import layout
from rra.artifact.reader import Artifact


def make_executable(artifact: Artifact) -> tuple[list[PurePosixPath], list[PurePosixPath]]:
    """Let whoever may read a program of the launchers start it, too.

    Programs are the entries of launchers and the files of their folder that begin with ``#!``.
    Links are not followed, and nothing but the mode changes.

    Args:
        artifact: The artifact.

    Returns:
        Paths of those that were made executable, and of those where the file system kept none
        of it; relative to the artifact.

    Raises:
        StorageError: The mode may not be changed.
    """
    entries = {PurePosixPath(one.entry) for one in artifact.manifest.launchers.values()}
    folder = artifact.root / layout.LAUNCHERS_DIR
    if folder.is_dir():
        entries |= {PurePosixPath(layout.LAUNCHERS_DIR) / path for path in walk_files(folder)}
    made: list[PurePosixPath] = []
    refused: list[PurePosixPath] = []
    for path in sorted(entries):
        place = artifact.root / path
        if not _is_idle_program(place):
            continue
        with storage_errors(place):
            mode = stat.S_IMODE(place.stat().st_mode)
            place.chmod(mode | (mode & 0o444) >> 2)
        (made if place.stat().st_mode & 0o111 else refused).append(path)
    return made, refused


def _is_idle_program(place: Path) -> bool:
    """Tell whether a file begins as a program does and cannot be started."""
    try:
        status = place.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_mode & 0o111:
            return False
        number = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    with open(number, "rb") as file:  # noqa: PTH123 - a descriptor
        return file.read(2) == b"#!"
