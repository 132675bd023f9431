"""Putting what an environment needs beside its lock: all its wheels, and its interpreter.

The lock stays as it is. Wheels are taken by name and digest, from the folder or from the index.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from rra._base.files import sha256_file, staged_directory
from rra.environment.interpreter import Interpreter, find_interpreter
from rra.environment.lock import (
    LOCK_NAME,
    environment_folder,
    folder_name,
    keep_others,
    python_of,
    write_companions,
)
from rra.environment.platforms import find_platforms, parse_minor
from rra.environment.pylock import WHEELS_DIR, LockedPackage, locked_packages, read_pylock
from rra.environment.resolve import Resolution
from rra.environment.runtime import INTERPRETER_NAME, Machine
from rra.environment.wheelhouse import fetch_wheels
from rra.errors import UsageError
from rra.model import Environment

Progress = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class CarriedFiles:
    """What lies beside a lock now, relative to the artifact's root.

    Attributes:
        wheels: Folder of the wheels; None when none was asked for.
        count: How many wheels there are.
        size: Their bytes.
        interpreter: The packed interpreter; None when none was asked for.
    """

    wheels: PurePosixPath | None
    count: int
    size: int
    interpreter: PurePosixPath | None


def interpreter_to_carry(env_id: str, env: Environment) -> Interpreter:
    """Return the interpreter of this machine that an environment would carry.

    Raises:
        UsageError: The environment names no Python, or is not for this machine, or names
            another place for its interpreter.
        ToolMissingError: There is no such Python here.
    """
    here = Machine.here().platform
    if env.platforms and here not in env.platforms:
        message = f"environment {env_id} is for {', '.join(env.platforms)}; this machine is {here}"
        raise UsageError(message, hint="run rra lock --runtime on a machine that it is for")
    return find_interpreter(python_of(env_id, env))


def carry(
    root: Path,
    env_id: str,
    env: Environment,
    *,
    archive: Path | None = None,
    progress: Progress | None = None,
) -> CarriedFiles:
    """Put all wheels of a lock beside it, and a packed interpreter where one is given.

    ``requirements.txt`` and the README are written again, since they say what is there. Wheels
    that the lock does not name are removed.

    Args:
        root: Artifact's root.
        env_id: Environment's id.
        env: Its definition.
        archive: A packed interpreter; it is moved.
        progress: Told about steps that may last.

    Raises:
        UsageError: The environment is not locked, or names other places for them.
        FormatError: The lock cannot be read.
        LockError: A wheel is not to be had, or is another file.
        StorageError: The disk is full or refuses.
    """
    folder = environment_folder(root, env_id, env)
    place = folder_name(root, folder)
    _insist(env_id, "wheels", env.wheels, place / WHEELS_DIR)
    _insist(env_id, "interpreter", env.interpreter, place / INTERPRETER_NAME)
    if not (folder / LOCK_NAME).is_file():
        message = f"environment {env_id} is not locked: there is no {place / LOCK_NAME}"
        raise UsageError(message, hint="lock it without --keep")
    document = read_pylock(folder / LOCK_NAME)
    facts = (document.tool or {}).get("rra", {})
    packages = locked_packages(document)
    release = python_of(env_id, env)
    python = "{}.{}".format(*parse_minor(release))
    target = Resolution(python, release, None, find_platforms(env.platforms), facts.get("as-of"))
    with staged_directory(folder) as staging:
        keep_others(folder, staging)
        size = _gather(packages, staging / WHEELS_DIR, target, progress or _silent)
        if archive is not None:
            (staging / INTERPRETER_NAME).unlink(missing_ok=True)
            shutil.move(archive, staging / INTERPRETER_NAME)
            (staging / INTERPRETER_NAME).chmod(0o644)
        write_companions(staging, packages, env, target, place)
    count = sum(len(package.wheels) for package in packages)
    return CarriedFiles(
        wheels=place / WHEELS_DIR if count else None,
        count=count,
        size=size,
        interpreter=place / INTERPRETER_NAME if archive is not None else None,
    )


def _insist(env_id: str, key: str, named: str | None, place: PurePosixPath) -> None:
    if named is not None and PurePosixPath(named) != place:
        message = f"environment {env_id} has its {key} at {named}, not at {place}"
        raise UsageError(message, hint=f"take `{key}` out of rra.yaml, or set it to {place}")


def _gather(
    packages: Sequence[LockedPackage], folder: Path, target: Resolution, say: Progress
) -> int:
    """Bring every wheel of a lock into a folder, and nothing else; return their bytes."""
    wanted = {wheel.name: wheel for package in packages for wheel in package.wheels}
    for path in folder.glob("*.whl"):
        wheel = wanted.get(path.name)
        if wheel is None or sha256_file(path) != f"sha256:{wheel.sha256}":
            path.unlink()
    lacking = [
        package
        for package in packages
        if any(not (folder / wheel.name).is_file() for wheel in package.wheels)
    ]
    if lacking:
        fetch_wheels(lacking, folder, target, say)
    return sum((folder / name).stat().st_size for name in wanted)


def _silent(_step: str) -> None:
    """Tell nobody."""
