"""Folders so deep that no path names them.

A program can step from folder to folder and make more than one path of the system can hold.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path, PurePosixPath

from rra._base.files import STAGING_PREFIX, remove_tree

LONGEST_PATH = 2048
"""Most bytes of a path that is kept, below the folder in which it is kept.

The system takes 4096 in all, and what is kept is copied to places with longer names.
"""

DEEPEST = 100
"""Most folders above one another."""

WHY_TOO_DEEP = f"its path has more than {LONGEST_PATH} bytes or {DEEPEST} folders"


def is_too_deep(inside: PurePosixPath) -> bool:
    """Tell whether a path, relative to where it is kept, is longer than what is kept may be."""
    return len(inside.parts) > DEEPEST or len(os.fsencode(inside)) > LONGEST_PATH


def cut_deep(root: Path) -> list[PurePosixPath]:
    """Remove what lies too deep to be kept.

    Args:
        root: A folder that nobody else changes.

    Returns:
        What was removed: the uppermost folders or files whose own path is too long.
    """
    found: list[PurePosixPath] = []
    pending = [PurePosixPath()]
    while pending:
        inside = pending.pop()
        folder = root / inside
        folder.chmod(stat.S_IMODE(folder.lstat().st_mode) | stat.S_IRWXU)
        with os.scandir(folder) as entries:
            below = [(one.name, one.is_dir(follow_symlinks=False)) for one in entries]
        for name, is_folder in below:
            if is_too_deep(inside / name):
                found.append(inside / name)
                if is_folder:  # a folder is moved by its owner alone, and only one open to them
                    (folder / name).chmod(stat.S_IRWXU)
                aside = root.parent / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
                (folder / name).rename(aside)
                remove_tree(aside)
            elif is_folder:
                pending.append(inside / name)
    return sorted(found, key=os.fsencode)


def shortened(text: str, most: int = 200) -> str:
    """Return a text for people without its middle where it is long."""
    return text if len(text) <= most else f"{text[: most * 2 // 3]}…{text[-most // 4 :]}"
