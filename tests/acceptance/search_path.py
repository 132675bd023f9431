"""Search paths that lack some programs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def path_without(folder: Path, *missing: str) -> str:
    """Fill a folder with links to every program on PATH except some; return it as a PATH.

    Args:
        folder: Made here, with one link for each program.
        missing: Names of the programs that are left out.
    """
    folder.mkdir(parents=True)
    for directory in os.environ["PATH"].split(os.pathsep):
        try:
            programs = list(os.scandir(directory or "."))
        except OSError:
            continue
        for program in programs:
            link = folder / program.name
            if program.name in missing or link.is_symlink() or not os.access(program, os.X_OK):
                continue
            link.symlink_to(program.path)
    return str(folder)
