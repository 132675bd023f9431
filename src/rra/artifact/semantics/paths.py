"""Paths of a document compared as a file system would: by their parts."""

from __future__ import annotations

APART = ("evidence", "outputs")
"""Folders that no run and no bundle takes anything from."""

_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def parts(path: str) -> tuple[str, ...]:
    """Return the parts of a path, without empty ones and those that are a single dot."""
    return tuple(part for part in path.split("/") if part not in {"", "."})


def folded(path: str) -> str:
    """Return a path as file systems that ignore case see it: parts joined, A-Z as a-z."""
    return "/".join(parts(path)).translate(_LOWER)
