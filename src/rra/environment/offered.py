"""What the reader's index still offers of what is locked, by name and digest; nothing is built."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rra.environment.lock import with_interpreter
from rra.environment.pylock import LockedPackage
from rra.environment.resolve import LAST, RemoteFile, Resolution, find_any

Offered = dict[tuple[str, str], RemoteFile]
"""(file name, SHA-256 in hex) → where the index has it."""


def offered_files(packages: Sequence[LockedPackage], target: Resolution) -> Offered:
    """Return the wheels that the index has of locked versions.

    Args:
        packages: What is locked.
        target: What it is for; its day does not count, for a file that is there is there.

    Raises:
        LockError: The index cannot be reached, or refuses.
    """
    pins = [f"{p.name}=={p.version}" + (f" ; {p.marker}" if p.marker else "") for p in packages]
    found = find_any(pins, _any_day(target))
    return {(file.name, file.sha256): file for package in found for file in package.wheels}


def _any_day(target: Resolution) -> Resolution:
    """Ask the index for versions, not for what was there on a day."""
    whole = with_interpreter(target)
    if whole.release == whole.python:
        whole = dataclasses.replace(whole, release=f"{whole.python}.{LAST}")
    return dataclasses.replace(whole, as_of=None)
