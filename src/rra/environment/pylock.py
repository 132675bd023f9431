"""``pylock.toml`` (PEP 751) as this format uses it: exact wheels, and no host."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.pylock import Pylock, PylockSelectError, PylockValidationError
from packaging.utils import canonicalize_name

from rra.errors import EnvironmentBuildError, FormatError, Problem

if TYPE_CHECKING:
    from packaging.tags import Tag

WHEELS_DIR = "wheels"
"""Folder beside the lock in which its wheels are looked for."""

CREATED_BY = "rra"


@dataclasses.dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel file: its name, its digest (64 hex digits of SHA-256), its size in bytes."""

    name: str
    sha256: str
    size: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class LockedPackage:
    """One package at one version, with the wheels that install it.

    Attributes:
        name: Normalised name.
        version: Version.
        wheels: Usable wheels, at least one.
        marker: When it is installed; empty for always.
    """

    name: str
    version: str
    wheels: tuple[Wheel, ...]
    marker: str = ""


def render_pylock(
    packages: Sequence[LockedPackage],
    *,
    python: str,
    environments: Sequence[str],
    facts: Mapping[str, str | list[str]],
    why: Mapping[str, Mapping[str, str | list[str]]] | None = None,
) -> str:
    """Write a lock; the same packages give the same bytes.

    Args:
        packages: What is locked.
        python: Python that it is for, as major.minor.
        environments: One marker for each platform that it is for.
        facts: How it was made; goes under ``[tool.rra]``.
        why: What asked for each package; goes under ``[tool.rra.why]``.
    """
    lines = [
        'lock-version = "1.0"',
        f"environments = {_array(environments)}",
        f"requires-python = {_text(f'=={python}.*')}",
        f"created-by = {_text(CREATED_BY)}",
    ]
    if not packages:
        lines.append("packages = []")
    for package in sorted(packages, key=lambda p: (p.name, p.version)):
        lines += ["", "[[packages]]", f"name = {_text(package.name)}"]
        lines.append(f"version = {_text(package.version)}")
        if package.marker:
            lines.append(f"marker = {_text(package.marker)}")
        lines.append("wheels = [")
        lines += [f"    {_wheel(w)}," for w in sorted(package.wheels, key=lambda w: w.name)]
        lines.append("]")
    lines += ["", "[tool.rra]"]
    for key, value in facts.items():
        lines.append(f"{key} = {_value(value)}")
    if why:
        lines += ["", "[tool.rra.why]"]
    for name, entry in (why or {}).items():
        inner = ", ".join(f"{key} = {_value(value)}" for key, value in entry.items())
        lines.append(f"{_text(name) if '.' in name else name} = {{ {inner} }}")
    return "\n".join(lines) + "\n"


def read_pylock(path: Path) -> Pylock:
    """Read a lock and check it against PEP 751 and what this format adds to it.

    Raises:
        FormatError: It is not a valid lock, or a package has no wheel with a SHA-256.
    """
    try:
        lock = Pylock.from_dict(tomllib.loads(path.read_text("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, PylockValidationError) as error:
        raise _invalid(path, str(error)) from error
    for package in lock.packages:
        if package.version is None or not package.wheels:
            raise _invalid(path, f"package {package.name} has no version or no wheel")
        for wheel in package.wheels:
            if "sha256" not in wheel.hashes:
                raise _invalid(path, f"{wheel.filename} has no sha256")
    return lock


def locked_packages(lock: Pylock) -> list[LockedPackage]:
    """Return everything that a lock names, for whatever machine."""
    return [
        LockedPackage(
            canonicalize_name(package.name),
            str(package.version),
            tuple(Wheel(w.filename, w.hashes["sha256"], w.size) for w in package.wheels or ()),
            str(package.marker or ""),
        )
        for package in lock.packages
    ]


def select(lock: Pylock, markers: dict[str, str], tags: Iterable[Tag]) -> list[LockedPackage]:
    """Return what a lock installs on one machine, each package with its best wheel.

    Args:
        lock: A lock that `read_pylock` returned.
        markers: The interpreter's marker values.
        tags: The wheel tags it takes, best first.

    Raises:
        EnvironmentBuildError: The lock is not for this Python or this platform.
    """
    selected = []
    chosen = lock.select(environment=markers, tags=list(tags))  # type: ignore[arg-type]
    try:
        for package, wheel in chosen:
            hashes, name = getattr(wheel, "hashes", {}), getattr(wheel, "filename", "")
            size = getattr(wheel, "size", None)
            best = Wheel(name, hashes["sha256"], size)
            name = canonicalize_name(package.name)
            selected.append(LockedPackage(name, str(package.version), (best,)))
    except PylockSelectError as error:
        here = f"{markers['sys_platform']} {markers['platform_machine']}"
        message = f"the lock is not for Python {markers['python_full_version']} on {here}: {error}"
        hint = "declare the platform in rra.yaml and lock again, or use a machine it is for"
        raise EnvironmentBuildError(message, hint=hint) from error
    return selected


def render_requirements(packages: Iterable[LockedPackage], *, find_links: str = "") -> str:
    """Write the packages for ``pip install --require-hashes -r``; no index is named.

    Args:
        packages: What is installed; every wheel's digest is allowed.
        find_links: Folder, relative to the file, with wheels that no index has.
    """
    lines = [f"--find-links {find_links}"] if find_links else []
    for package in sorted(packages, key=lambda p: (p.name, p.version)):
        marker = f" ; {package.marker}" if package.marker else ""
        parts = [f"{package.name}=={package.version}{marker}"]
        digests = sorted({wheel.sha256 for wheel in package.wheels})
        parts += [f"    --hash=sha256:{digest}" for digest in digests]
        lines.append(" \\\n".join(parts))
    return "\n".join(lines) + "\n" if lines else ""


def _invalid(path: Path, why: str) -> FormatError:
    name = f"{path.parent.name}/{path.name}"
    problem = Problem(f"not a lock of this format: {why}", name, clause="environment/lock-hosts")
    return FormatError(str(problem), problems=(problem,), hint="make it again with: rra lock")


def _wheel(wheel: Wheel) -> str:
    size = f"size = {wheel.size}, " if wheel.size is not None else ""
    path = _text(f"{WHEELS_DIR}/{wheel.name}")
    hashes = f"hashes = {{ sha256 = {_text(wheel.sha256)} }}"
    return f"{{ name = {_text(wheel.name)}, path = {path}, {size}{hashes} }}"


def _value(value: str | list[str]) -> str:
    return _text(value) if isinstance(value, str) else _array(value)


def _array(values: Iterable[str]) -> str:
    return "[" + ", ".join(_text(value) for value in values) + "]"


def _text(value: str) -> str:
    """Write a TOML basic string; JSON's escapes are a subset of TOML's."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
