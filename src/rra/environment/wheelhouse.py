"""Wheels that all artifacts of a machine share: each once, under its digest."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

from rra._base import places
from rra._base.files import (
    STAGING_PREFIX,
    sha256_file,
    staged_directory,
    storage_errors,
    sweep_staging,
)
from rra.environment.cache import sole_builder
from rra.environment.offered import offered_files
from rra.environment.pylock import LockedPackage, Wheel
from rra.environment.resolve import Resolution
from rra.environment.wheels import download
from rra.errors import LockError

FOLDER = "wheels"
"""Folder of the cache."""

Source = Literal["shared", "beside", "index"]
Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class HousedWheel:
    """A wheel in the shared folder.

    Attributes:
        wheel: The wheel.
        path: Its place there.
        source: Where it came from: it was shared already, lay beside the lock, or an index had it.
    """

    wheel: Wheel
    path: Path
    source: Source


def shared_wheel(wheel: Wheel) -> Path | None:
    """Return the shared copy of a wheel; None where there is none that is whole.

    The copy may be a link to a file of an artifact that somebody changed since, so its bytes
    are read each time.
    """
    path = _place(wheel)
    return path if path is not None and _is(path, wheel) else None


def link_wheels(wheels: Iterable[Wheel], folder: Path) -> list[Wheel]:
    """Link shared wheels into a folder and return those that are not shared."""
    lacking = []
    for wheel in wheels:
        path = shared_wheel(wheel)
        if path is None:
            lacking.append(wheel)
        else:
            put(path, folder / wheel.name)
    return lacking


def bring_wheels(
    packages: Sequence[LockedPackage], beside: Path, target: Resolution, say: Say
) -> list[HousedWheel]:
    """Bring every wheel of a lock into the shared folder, and say where each came from.

    One that is there is not brought again, whichever artifact it came with. Two that bring
    wheels at once wait for each other; one that is killed leaves no wheel that counts.

    Args:
        packages: What is locked.
        beside: Folder of the wheels that lie beside the lock.
        target: What the lock is for.
        say: Told about steps that may last.

    Raises:
        LockError: A wheel is nowhere to be had, or the index cannot be reached.
        StorageError: The cache cannot be written.
    """
    house = places.make_cache() / FOLDER
    wheels = {wheel.sha256: wheel for package in packages for wheel in package.wheels}
    found: dict[str, HousedWheel] = {}
    with sole_builder(house), storage_errors(house):
        house.mkdir(exist_ok=True)
        sweep_staging(house)
        for digest, wheel in wheels.items():
            path = shared_wheel(wheel)
            if path is not None:
                found[digest] = HousedWheel(wheel, path, "shared")
            elif _is(beside / wheel.name, wheel):
                found[digest] = HousedWheel(wheel, _keep(beside / wheel.name, wheel), "beside")
        lacking = _only(packages, lambda wheel: wheel.sha256 not in found)
        for wheel, path in _fetched(lacking, target, say):
            found[wheel.sha256] = HousedWheel(wheel, _keep(path, wheel), "index")
    return [found[digest] for digest in wheels]


def fetch_wheels(
    packages: Sequence[LockedPackage], folder: Path, target: Resolution, say: Say
) -> None:
    """Get the wheels of a lock that a folder lacks: shared ones, else from the index.

    What comes from the index is shared from then on, where the cache can be written.

    Raises:
        LockError: A wheel is nowhere to be had, or the index cannot be reached.
    """
    folder.mkdir(exist_ok=True)
    lacking = _only(packages, lambda wheel: not (folder / wheel.name).is_file())
    if places.writable_cache() is not None:
        for one in bring_wheels(lacking, folder, target, say):
            put(one.path, folder / one.wheel.name)
        return
    gone = link_wheels((wheel for package in lacking for wheel in package.wheels), folder)
    for wheel, path in _fetched(_only(lacking, gone.__contains__), target, say):
        shutil.move(path, folder / wheel.name)


def put(source: Path, target: Path) -> None:
    """Put a file at a place, as a link where the file system has them; it is whole at once."""
    if target.exists() and target.samefile(source):
        return
    with tempfile.TemporaryDirectory(prefix=STAGING_PREFIX, dir=target.parent) as scratch:
        staged = Path(scratch) / target.name
        try:
            os.link(source, staged)
        except OSError:
            shutil.copyfile(source, staged)
        staged.replace(target)


def _only(
    packages: Sequence[LockedPackage], wanted: Callable[[Wheel], bool]
) -> list[LockedPackage]:
    """Return packages with those of their wheels that are wanted; none without any."""
    parts = [
        dataclasses.replace(package, wheels=tuple(filter(wanted, package.wheels)))
        for package in packages
    ]
    return [package for package in parts if package.wheels]


def _fetched(
    packages: Sequence[LockedPackage], target: Resolution, say: Say
) -> Iterable[tuple[Wheel, Path]]:
    """Yield each wheel with a file that the caller moves or links before it asks for the next."""
    if not packages:
        return
    offered = offered_files(packages, target)
    for wheel in (wheel for package in packages for wheel in package.wheels):
        file = offered.get((wheel.name, wheel.sha256))
        if file is None:
            message = f"no index has {wheel.name} with the digest that is locked"
            raise LockError(
                message, hint="put that file into wheels/ beside the lock, or lock again"
            )
        say(f"fetching {wheel.name}")
        with tempfile.TemporaryDirectory(prefix="rra-wheel-") as scratch:
            yield wheel, download(file, Path(scratch))


def _keep(source: Path, wheel: Wheel) -> Path:
    """Add a file to the shared folder and return its place there."""
    target = _place(wheel)
    if target is None:
        message = f"the digest of {wheel.name} is not one of SHA-256: {wheel.sha256}"
        raise LockError(message, hint="make the lock again with: rra lock")
    with staged_directory(target.parent) as staging:
        put(source, staging / wheel.name)
    return target


def _place(wheel: Wheel) -> Path | None:
    """Return where a wheel is shared; the digest comes from a lock and must not name a path."""
    if not re.fullmatch(r"[0-9a-f]{64}", wheel.sha256):
        return None
    return places.cache_root() / FOLDER / wheel.sha256 / wheel.name


def _is(path: Path, wheel: Wheel) -> bool:
    return path.is_file() and sha256_file(path) == f"sha256:{wheel.sha256}"
