"""Packages that the reader's default index does not have: one build of a version, other indexes.

A lock names no address. What it keeps of an index of the author's own is the name that uv's
settings give it (``UV_INDEX="cpu-builds=https://…"``): enough to say which setting a reader
needs, and nothing that leaks where a private index is or how it is entered.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator, Mapping, Sequence

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rra.environment.requirement_files import is_one_build, of_any_build
from rra.environment.resolve import Resolution, ResolvedPackage, find_any

UNNAMED = "unnamed"
"""Stands for an index that the settings give no name."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclasses.dataclass(frozen=True, slots=True)
class Builds:
    """Requirements with those builds that are to be had.

    Attributes:
        requirements: What is resolved.
        notes: Builds that are asked for and not to be had, one line each.
        loosened: Normalised names of their packages: no digest of that build holds for another.
    """

    requirements: Sequence[str]
    notes: tuple[str, ...] = ()
    loosened: frozenset[str] = frozenset()


def builds_to_be_had(requirements: Sequence[str], target: Resolution) -> Builds:
    """Keep requirements of one build (``torch==1.9.0+cpu``) where an index has that build.

    Where none has it, any build of that version is taken, and said.

    Args:
        requirements: Requirements (PEP 508).
        target: What they are for.

    Raises:
        LockError: The index cannot be reached.
    """
    asked = [text for text in requirements if is_one_build(text)]
    if not asked:
        return Builds(requirements)
    found = {(package.name, package.version) for package in find_any(asked, target)}
    result, notes, loosened = [], [], set()
    for text in requirements:
        if text in asked and not _is_among(text, found):
            loose = of_any_build(text)
            notes.append(
                f"{text} names one build, which no index of your settings has: {loose} is taken; "
                "to lock that build, configure its index (UV_INDEX=NAME=ADDRESS)"
            )
            result.append(loose)
            loosened.add(canonicalize_name(Requirement(text).name))
        else:
            result.append(text)
    return Builds(result, tuple(notes), frozenset(loosened))


def _is_among(text: str, found: set[tuple[str, str]]) -> bool:
    requirement = Requirement(text)
    return any(
        name == canonicalize_name(requirement.name) and requirement.specifier.contains(version)
        for name, version in found
    )


def other_indexes(packages: Sequence[ResolvedPackage], target: Resolution) -> Mapping[str, str]:
    """Return for each package that the default index does not have the name of the one that has it.

    Only the variables of uv are looked at; nothing is asked where they name no further index.

    Args:
        packages: What was resolved.
        target: What for.

    Raises:
        LockError: An index cannot be reached.
    """
    configured = list(_configured())
    wanted = [one for one in packages if one.version and _remote(one)]
    if not configured or not wanted:
        return {}
    rest = _not_there(wanted, dataclasses.replace(target, index=""))
    found: dict[str, str] = {}
    for name, address in configured:
        if len(configured) == 1:
            left: list[ResolvedPackage] = []
        else:
            left = _not_there(rest, dataclasses.replace(target, index=address))
        found |= {one.name: name for one in rest if one not in left}
        rest = left
    return found


def _configured() -> Iterator[tuple[str, str]]:
    """Yield name and address of each further index of the environment's variables."""
    for entry in os.environ.get("UV_INDEX", "").split():
        name, _, address = entry.partition("=")
        if _NAME.fullmatch(name) and address:
            yield name, address
        else:
            yield UNNAMED, entry
    for entry in os.environ.get("UV_EXTRA_INDEX_URL", "").split():
        yield UNNAMED, entry


def _remote(package: ResolvedPackage) -> frozenset[str]:
    return frozenset(wheel.sha256 for wheel in package.wheels if not wheel.is_local)


def _not_there(packages: list[ResolvedPackage], target: Resolution) -> list[ResolvedPackage]:
    """Return the packages of which the index of a target has no file."""
    pins = [f"{p.name}=={p.version}" + (f" ; {p.marker}" if p.marker else "") for p in packages]
    offered = {wheel.sha256 for one in find_any(pins, target) for wheel in one.wheels}
    return [one for one in packages if not _remote(one) & offered]
