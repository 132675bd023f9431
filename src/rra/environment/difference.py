"""What differs between two environments: locked ones, or a locked and an installed one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from rra.environment.lock import applies
from rra.environment.materialise import read_installed
from rra.environment.platforms import find_platforms, parse_minor
from rra.environment.pylock import LockedPackage, locked_packages, read_pylock
from rra.errors import UsageError

CONFIGURATION = "pyvenv.cfg"
"""File that makes a folder a virtual environment (PEP 405)."""

OWN_TOOLS = frozenset({"pip", "setuptools", "wheel"})
"""Packages that `python -m venv` and virtualenv put into each environment by themselves."""

Change = Literal["added", "removed", "changed", "rebuilt"]
Files = Mapping[str, Mapping[str, frozenset[str]]]


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """One of two environments.

    Attributes:
        name: What it is called.
        facts: Its ``python``, ``as-of`` and ``platforms``, as far as they are known.
        packages: For each package its versions, each with the digests of its files; an
            installed one has no files.
        locked: The packages with their markers, for a lock; None for what is installed.
    """

    name: str
    facts: Mapping[str, str]
    packages: Files
    locked: tuple[LockedPackage, ...] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class FactDifference:
    """Something besides packages that differs; None where a side does not know it."""

    name: str
    before: str | None
    after: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class PackageDifference:
    """A package that differs; ``rebuilt`` has the same versions and other files."""

    name: str
    change: Change
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class EnvironmentDifference:
    """What differs between two environments.

    Attributes:
        before: What the first is called.
        after: What the second is called.
        facts: What differs besides packages.
        packages: Packages that differ.
        tools: What only an installed environment has because it was made with it (`OWN_TOOLS`);
            that is no difference.
    """

    before: str
    after: str
    facts: tuple[FactDifference, ...]
    packages: tuple[PackageDifference, ...]
    tools: tuple[PackageDifference, ...] = ()

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.facts and not self.packages


def nothing(name: str) -> Side:
    """Return the side of an environment that is not there."""
    return Side(name, {}, {}, ())


def read_locked(path: Path, name: str) -> Side:
    """Read a lock.

    Raises:
        FormatError: It cannot be read.
    """
    document = read_pylock(path)
    packages = tuple(locked_packages(document))
    return Side(name, _facts((document.tool or {}).get("rra", {})), _files(packages), packages)


def read_environment(place: Path, name: str) -> Side:
    """Read what is installed in a virtual environment; nothing of it runs.

    Raises:
        UsageError: It holds no Python library.
    """
    folders = sorted(place.glob("lib/python*/site-packages"))
    if not folders:
        message = f"{place} holds no installed packages"
        raise UsageError(message, hint="give a virtual environment, a lock or an artifact")
    python = folders[0].parent.name.removeprefix("python")
    installed = {one: {version: frozenset[str]()} for one, version in read_installed(place).items()}
    return Side(name, {"python": python}, installed)


def compare_environments(before: Side, after: Side) -> EnvironmentDifference:
    """Compare two environments.

    Where one of them is installed, only what the lock installs for its Python on this machine
    counts, and so do only facts that both sides know; what a virtual environment has been made
    with is told apart.
    """
    left, right = _fitting(before, after), _fitting(after, before)
    found = tuple(_packages_that_differ(left, right))
    tools = tuple(one for one in found if _is_tool(one, before, after))
    return EnvironmentDifference(
        before.name,
        after.name,
        tuple(_facts_that_differ(before, after)),
        tuple(one for one in found if one not in tools),
        tools,
    )


def _is_tool(one: PackageDifference, before: Side, after: Side) -> bool:
    """Tell whether an environment has a package only because it was made with it."""
    has, lacks = (after, before) if one.change == "added" else (before, after)
    added = one.change in {"added", "removed"} and one.name in OWN_TOOLS
    return added and has.locked is None and lacks.locked is not None


def _facts(recorded: Mapping[str, Any]) -> dict[str, str]:
    facts = {}
    for key in ("python", "as-of", "platforms"):
        value = recorded.get(key)
        if value:
            facts[key] = value if isinstance(value, str) else ", ".join(map(str, value))
    return facts


def _files(packages: tuple[LockedPackage, ...]) -> dict[str, dict[str, frozenset[str]]]:
    files: dict[str, dict[str, frozenset[str]]] = {}
    for package in packages:
        versions = files.setdefault(package.name, {})
        more = frozenset(wheel.sha256 for wheel in package.wheels)
        versions[package.version] = versions.get(package.version, frozenset()) | more
    return files


def _fitting(side: Side, other: Side) -> Files:
    """Return what of a lock is installed where the other side is; without digests then."""
    if side.locked is None or other.locked is not None:
        return side.packages
    python = other.facts["python"]
    parse_minor(python)
    (here,) = find_platforms(None)
    fitting = tuple(p for p in side.locked if applies(p.marker, here, python))
    return {
        name: dict.fromkeys(versions, frozenset[str]())
        for name, versions in _files(fitting).items()
    }


def _facts_that_differ(before: Side, after: Side) -> Iterator[FactDifference]:
    installed = None in (before.locked, after.locked)
    for key in ("python", "as-of", "platforms"):
        left, right = before.facts.get(key), after.facts.get(key)
        unknown = installed and None in (left, right)
        if left != right and not unknown and before.packages and after.packages:
            yield FactDifference(key, left, right)


def _packages_that_differ(left: Files, right: Files) -> Iterator[PackageDifference]:
    for name in sorted(left.keys() | right.keys()):
        before, after = left.get(name, {}), right.get(name, {})
        if before == after:
            continue
        change: Change = "added" if not before else "removed" if not after else "changed"
        if before.keys() == after.keys():
            change = "rebuilt"
        yield PackageDifference(name, change, tuple(sorted(before)), tuple(sorted(after)))
