"""Suggestions for names that are almost right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import PurePosixPath

_CUTOFF = 0.6


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like one that is unknown, if any is like it.

    A path is compared by its last part first: a file in the wrong folder or with another
    ending is the commonest slip.
    """
    candidates = list(known)
    last = PurePosixPath(name)
    same = [c for c in candidates if PurePosixPath(c).name.lower() == last.name.lower()]
    same = same or [c for c in candidates if PurePosixPath(c).stem.lower() == last.stem.lower()]
    found = difflib.get_close_matches(name, same or candidates, n=1, cutoff=0 if same else _CUTOFF)
    return found[0] if found else None


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return ``did you mean …?``, or other words when nothing is near."""
    near = nearest(name, known)
    return f"did you mean {near}?" if near else otherwise
