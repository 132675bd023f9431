"""How exactly manifests name what is needed, and when they and the code were last committed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement

from rra.environment.detect import detect_requirements, is_pinned
from rra.errors import RraError
from rra.scan.traits.objects import Pins


def find_pins(root: Path, commits: Mapping[PurePosixPath, int]) -> tuple[Pins, ...]:
    """Return how exactly each manifest of Python names what is needed.

    Args:
        root: The repository.
        commits: When each file was last committed, in seconds since 1970.
    """
    try:
        manifests = detect_requirements(root, ()).manifests
    except (RraError, OSError, ValueError):
        return ()
    return tuple(
        Pins(
            PurePosixPath(one.path),
            len(one.requirements),
            sum(map(_is_pinned, one.requirements)),
            commit_day(commits.get(PurePosixPath(one.path))),
        )
        for one in manifests
    )


def _is_pinned(text: str) -> bool:
    try:
        return is_pinned(Requirement(text))
    except InvalidRequirement:
        return False


def commit_day(moment: int | None) -> str:
    """Return the day of a commit in UTC, empty when it is not known.

    Args:
        moment: Seconds since 1970.
    """
    return "" if moment is None else dt.datetime.fromtimestamp(moment, dt.UTC).date().isoformat()
