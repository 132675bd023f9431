"""What the reader's index still offers of what is locked, by name and digest; nothing is built."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rra.environment.lock import with_interpreter
from rra.environment.pylock import LockedPackage
from rra.environment.resolve import LAST, RemoteFile, Resolution, find_files
from rra.errors import LockError, NoSolutionError

Offered = dict[tuple[str, str], RemoteFile]
"""(file name, SHA-256 in hex) → where the index has it."""


def offered_files(packages: Sequence[LockedPackage], target: Resolution) -> Offered:
    """Return the wheels that the index has of locked versions.

    All are asked for at once; where the index lacks one, halves of them are, so that few that
    are gone cost few questions.

    Args:
        packages: What is locked.
        target: What it is for; its day does not count, for a file that is there is there.

    Raises:
        LockError: The index cannot be reached, or refuses.
    """
    return _ask(list(packages), _any_day(target))


def _ask(packages: list[LockedPackage], target: Resolution) -> Offered:
    if not packages:
        return {}
    pins = [f"{p.name}=={p.version}" + (f" ; {p.marker}" if p.marker else "") for p in packages]
    try:
        found = find_files(pins, target)
    except LockError as error:
        if not _is_gone(error):
            raise
        middle = len(packages) // 2
        if not middle:
            return {}
        return _ask(packages[:middle], target) | _ask(packages[middle:], target)
    return {(file.name, file.sha256): file for package in found for file in package.wheels}


def _is_gone(error: LockError) -> bool:
    """Tell an index that lacks a version or a project from one that does not answer."""
    return isinstance(error, NoSolutionError) or "not found in the package registry" in str(error)


def _any_day(target: Resolution) -> Resolution:
    """Ask the index for versions, not for what was there on a day."""
    whole = with_interpreter(target)
    if whole.release == whole.python:
        whole = dataclasses.replace(whole, release=f"{whole.python}.{LAST}")
    return dataclasses.replace(whole, as_of=None)
