"""Conda packages without conda: solved as of a day, locked, carried and installed by py-rattler.

The library comes with the extra ``conda``. Its lock is ``pixi.lock``, which pixi reads and writes,
too. Every package is taken by the digest of that lock.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import importlib.util
import shutil
import urllib.parse
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar

from rra._base.files import sha256_file
from rra._base.yaml import parse_yaml
from rra.environment.cutoff import cutoff_timestamp
from rra.errors import EnvironmentBuildError, FormatError, LockError, UnavailableError, UsageError
from rra.model import Environment

if TYPE_CHECKING:
    from rattler import GenericVirtualPackage, RepoDataRecord

LOCK_NAME = "pixi.lock"
PACKAGES_DIR = "packages"
INSTALL = "install it: pip install 'rra[conda]'"
_ANSWER = TypeVar("_ANSWER")


def has_rattler() -> bool:
    """Tell whether the extra ``conda`` is installed."""
    return importlib.util.find_spec("rattler") is not None


def need_rattler(env_id: str) -> None:
    """Insist on the extra ``conda``.

    Raises:
        UnavailableError: It is not installed.
    """
    if not has_rattler():
        message = f"environment {env_id} is of kind conda, for which py-rattler is not installed"
        raise UnavailableError(message, hint=INSTALL)


def solve_file(env_id: str, env: Environment, file: Path, lock: Path, as_of: str | None) -> None:
    """Solve an ``environment.yml`` as of a day and write ``pixi.lock``.

    The virtual packages are those of this machine, but ``__cuda``: that is what the manifest says
    of the accelerator, so a machine without one locks for one.

    Raises:
        UsageError: The file names no channel, a password, or packages of pip.
        LockError: There is no solution, or a channel cannot be reached.
    """
    from rattler import Channel, LockChannel, LockFile, LockPlatform, Subdir, solve

    channels, specs = _wanted(file)
    subdir = Subdir.current()
    limit = dt.datetime.fromisoformat(cutoff_timestamp(as_of)) if as_of else None
    try:
        records = _run(
            solve(
                [Channel(one) for one in channels],
                specs,
                platforms=[subdir, Subdir("noarch")],
                virtual_packages=_virtual(env),
                exclude_newer=limit,
            )
        )
        platform = LockPlatform(str(subdir))
        written = LockFile([platform])
        written.set_channels("default", [LockChannel(one) for one in channels])
        for record in records:
            written.add_conda_package("default", platform, record)
        written.to_path(lock)
    except Exception as error:  # its exceptions have no common class but this
        day = f" as of {as_of}" if as_of else ""
        message = f"environment {env_id} has no solution in its channels{day}: {error}"
        raise LockError(message, hint="loosen what conflicts, or choose another day") from error


def _run(work: Coroutine[Any, Any, _ANSWER]) -> _ANSWER:
    return asyncio.run(work)


def _wanted(file: Path) -> tuple[list[str], list[str]]:
    """Return channels and specifications of an ``environment.yml``."""
    data = parse_yaml(file.read_text("utf-8"), source=file.name).data
    found: Mapping[str, Any] = data if isinstance(data, dict) else {}
    channels = [str(one) for one in found.get("channels") or [] if one != "nodefaults"]
    if not channels:
        message = f"{file.name} names no channel, and none is guessed"
        raise UsageError(message, hint="add channels: [conda-forge], or where its packages are")
    for one in channels:
        if urllib.parse.urlsplit(one).password or urllib.parse.urlsplit(one).username:
            message = f"{file.name} names a channel with a user or a password, which locks keep"
            raise UsageError(message, hint="log in with the tool of the channel instead")
    items = list(found.get("dependencies") or [])
    if any(isinstance(one, dict) for one in items):
        message = f"{file.name} names packages of pip, which this kind does not lock"
        raise UsageError(message, hint="lock it with pixi, or use kind: pylock for all of them")
    return channels, [str(one) for one in items]


def _virtual(env: Environment) -> list[GenericVirtualPackage]:
    from rattler import GenericVirtualPackage, PackageName, Version, VirtualPackage
    from rattler.package import BuildString

    found = [one.into_generic() for one in VirtualPackage.detect()]
    declared = env.accelerator
    if declared is None:
        return found
    kept = [one for one in found if one.name.normalized != "__cuda"]
    if declared.kind == "cuda" and declared.runtime:
        cuda = (PackageName("__cuda"), Version(declared.runtime), BuildString("0"))
        kept.append(GenericVirtualPackage(*cuda))
    return kept


def locked_records(lock: Path) -> list[RepoDataRecord]:
    """Return the packages that a lock has for this machine.

    Raises:
        FormatError: It cannot be read.
        EnvironmentBuildError: It is for other machines, or holds packages of pip.
    """
    from rattler import LockFile, Subdir

    try:
        held = LockFile.from_path(lock)
        environment = held.default_environment()
    except Exception as error:
        message = f"{lock.name} cannot be read as a lock of pixi: {error}"
        raise FormatError(
            message, hint=f"lock it with pixi, or remove it and run rra lock: {error}"
        ) from error
    here = str(Subdir.current())
    platforms = environment.platforms() if environment is not None else []
    platform = next((one for one in platforms if str(one.subdir) == here), None)
    if environment is None or platform is None:
        message = f"{lock.name} has nothing for {here}"
        raise EnvironmentBuildError(message, hint="lock it on such a machine")
    if environment.pypi_packages_for_platform(platform):
        message = f"{lock.name} holds packages of pip, which this kind does not install"
        raise EnvironmentBuildError(message, hint="install it with pixi")
    return environment.conda_repodata_records_for_platform(platform) or []


def bring_packages(records: Sequence[RepoDataRecord], folder: Path) -> int:
    """Bring every package into a folder and nothing else, by digest; return their bytes.

    Raises:
        LockError: A package cannot be had, or is another one than was locked.
    """
    from rattler import Client
    from rattler.package_streaming import download_to_path

    folder.mkdir(parents=True, exist_ok=True)
    names = {record.file_name for record in records}
    for path in folder.iterdir():
        if path.name not in names:
            path.unlink()
    for record in records:
        path = folder / record.file_name
        if _is(path, record):
            continue
        try:
            address = urllib.parse.urlsplit(record.url)
            if address.scheme == "file":
                shutil.copyfile(urllib.parse.unquote(address.path), path)
            else:
                _run(download_to_path(Client(), record.url, path))
        except Exception as error:
            message = f"{record.file_name} cannot be had: {error}"
            raise LockError(message, hint="check the network and the channel") from error
        if not _is(path, record):
            path.unlink(missing_ok=True)
            message = f"{record.file_name} is not the package that was locked"
            raise LockError(message, hint="do not trust that channel")
    return sum((folder / name).stat().st_size for name in names)


def _is(path: Path, record: RepoDataRecord) -> bool:
    return (
        path.is_file()
        and record.sha256 is not None
        and sha256_file(path) == f"sha256:{record.sha256.hex()}"
    )


def lacking(records: Sequence[RepoDataRecord], folder: Path) -> list[str]:
    """Return the names of packages that do not lie in a folder."""
    return [one.file_name for one in records if not (folder / one.file_name).is_file()]


def install_records(records: Sequence[RepoDataRecord], folder: Path, prefix: Path) -> None:
    """Install packages into a prefix, those of the folder first; scripts of packages do not run.

    Raises:
        EnvironmentBuildError: A package cannot be had or is another one.
    """
    from rattler import RepoDataRecord, install

    near = [
        RepoDataRecord(one, one.file_name, (folder / one.file_name).as_uri(), one.channel or "")
        if _is(folder / one.file_name, one)
        else one
        for one in records
    ]
    try:
        _run(install(near, prefix, execute_link_scripts=False, show_progress=False))
    except Exception as error:
        message = f"conda packages cannot be installed: {error}"
        hint = "check the network, or carry the packages: rra lock --keep --wheels"
        raise EnvironmentBuildError(message, hint=hint) from error


def package_lines(records: Sequence[RepoDataRecord]) -> tuple[str, ...]:
    """Return ``name version`` of each package, sorted."""
    return tuple(sorted(f"{one.name.normalized} {one.version}" for one in records))


def packages_folder(env: Environment, lock: PurePosixPath) -> PurePosixPath:
    """Return where the packages of a lock lie, relative to the artifact."""
    return PurePosixPath(env.wheels) if env.wheels else lock.parent / PACKAGES_DIR
