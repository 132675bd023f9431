"""Looking for the files of a kind in a repository, bounded."""

from __future__ import annotations

import os
import re
from pathlib import Path

_DEPTH, _MOST = 3, 200
_PASSED_OVER = frozenset(
    {".git", ".hg", ".venv", "venv", "node_modules", "site-packages", "__pycache__", "renv"}
    | {"evidence", "outputs", "third_party", "vendor", "build", "dist"}
)


def find_files(root: Path, pattern: re.Pattern[str]) -> tuple[str, ...]:
    """Return the files near the root whose name matches, nearest first; links are not followed."""
    found: list[tuple[int, str]] = []
    for folder, folders, files in os.walk(root):
        here = Path(folder).relative_to(root)
        depth = len(here.parts)
        folders[:] = sorted(f for f in folders if f not in _PASSED_OVER and depth < _DEPTH - 1)
        found += [(depth, (here / name).as_posix()) for name in files if pattern.fullmatch(name)]
        if len(found) >= _MOST:
            break
    return tuple(name for _, name in sorted(found))
