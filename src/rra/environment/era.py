"""Versions of another era: far older than what there was on the day that was resolved for.

A resolver that cannot read the metadata of newer releases, or whose requirements contradict
them, goes back in time without a word: the newest pandas of 2019 becomes one of 2013.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from rra._base import clock
from rra.environment.cutoff import cutoff_timestamp
from rra.environment.resolve import Resolution, ResolvedPackage, find_any, resolve
from rra.errors import LockError

FAR = dt.timedelta(days=2 * 365)
"""A version that is overtaken by more than this is of another era."""

_ASKED_WHY = 5
"""Packages for which is looked what keeps them back."""


@dataclasses.dataclass(frozen=True, slots=True)
class Overtaken:
    """A locked version that is far older than the newest of the day.

    Attributes:
        name: Normalised name of the package.
        version: What is locked.
        uploaded: Day on which that appeared.
        newest: The newest version of the day.
        newest_uploaded: Day on which that appeared.
        why: What keeps the package back, in the resolver's words; empty where nothing does.
    """

    name: str
    version: str
    uploaded: str
    newest: str
    newest_uploaded: str
    why: str = ""

    def __str__(self) -> str:
        """Say it in one line."""
        why = f"it is kept back: {self.why}" if self.why else "nothing keeps it back"
        return (
            f"{self.name} {self.version} is of {self.uploaded}, though {self.newest} of "
            f"{self.newest_uploaded} was there: {why}"
        )

    def fact(self) -> str:
        """Return what the lock keeps of it."""
        return f"{self.newest} of {self.newest_uploaded}"


def overtaken(
    requirements: Sequence[str], resolved: Sequence[ResolvedPackage], target: Resolution
) -> list[Overtaken]:
    """Return the versions of another era that nobody asked for.

    What a requirement itself pins or bounds is the author's will. Only a package that was old
    on the day is asked about, so that most resolutions cost nothing more. An index without
    upload times tells nothing.

    Args:
        requirements: What was asked for (PEP 508).
        resolved: What it was resolved to.
        target: What it was resolved for.
    """
    day = _day(target)
    bounds = _bounds(requirements)
    old = [
        package
        for package in resolved
        if package.uploaded and day - _date(package.uploaded) > FAR and package.version
    ]
    pins = [f"{package.name}>{package.version}" for package in old]
    try:
        newest = {package.name: package for package in find_any(pins, target)}
    except LockError:
        return []  # the index has just answered, and will be asked again
    found: list[Overtaken] = []
    for package in old:
        other = newest.get(package.name)
        if other is None or not other.uploaded or _only_before_release(other, package):
            continue
        asked = bounds.get(package.name, ())
        meant = any(not bound.specifier.contains(other.version) for bound in asked)
        if not meant and _date(other.uploaded) - _date(package.uploaded) > FAR:
            why = _why(package, requirements, target) if len(found) < _ASKED_WHY else ""
            found.append(_found(package, other, why))
    return found


def _only_before_release(newer: ResolvedPackage, locked: ResolvedPackage) -> bool:
    """Tell whether all that is newer are pre-releases, which no resolver takes unasked."""
    return Version(newer.version).is_prerelease and not Version(locked.version).is_prerelease


def _found(package: ResolvedPackage, newest: ResolvedPackage, why: str) -> Overtaken:
    return Overtaken(
        package.name, package.version, package.uploaded, newest.version, newest.uploaded, why
    )


def _why(package: ResolvedPackage, requirements: Sequence[str], target: Resolution) -> str:
    """Return why a newer version cannot be had, in the resolver's words."""
    try:
        resolve([*requirements, f"{package.name}>{package.version}"], target)
    except LockError as error:
        return error.message
    return ""


def _bounds(requirements: Sequence[str]) -> Mapping[str, list[Requirement]]:
    table: dict[str, list[Requirement]] = {}
    for one in map(Requirement, requirements):
        table.setdefault(canonicalize_name(one.name), []).append(one)
    return table


def _day(target: Resolution) -> dt.date:
    return _date(cutoff_timestamp(target.as_of)) if target.as_of else clock.now().date()


def _date(moment: str) -> dt.date:
    return dt.date.fromisoformat(moment[:10])
