"""How the lock of an environment stands: does it hold, and can its files still be had?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rra.environment.answers import CheckedEnvironment, Rot
from rra.environment.built import named_environment
from rra.environment.checking import ReadLock, check_lock, find_rot, read_lock
from rra.environment.lock import python_of
from rra.environment.offered import offered_files
from rra.environment.resolve import Resolution
from rra.errors import Problem

if TYPE_CHECKING:
    from rra.artifact import Artifact


def check_standing(
    artifact: Artifact,
    env_id: str,
    needed: Sequence[str],
    *,
    can: tuple[str, ...],
    available: bool,
    progress: Callable[[str], None],
) -> tuple[CheckedEnvironment, list[Problem]]:
    """Compare a lock of wheels with the files around it, and ask the index where that is wanted.

    Args:
        artifact: The artifact.
        env_id: Environment's id.
        needed: What the environment needs by the files of today (PEP 508).
        can: Verbs of the kind, for the answer.
        available: Whether the index is asked for each file.
        progress: Told about steps that may last.

    Raises:
        UsageError: It is not locked.
        FormatError: The lock cannot be read.
        LockError: The index cannot be reached.
    """
    lock = read_lock(artifact, env_id)
    problems = check_lock(artifact, env_id, lock, needed)
    names = {wheel.name for package in lock.packages for wheel in package.wheels}
    one = CheckedEnvironment(
        id=env_id,
        kind="pylock",
        can=can,
        python=lock.python or None,
        packages=len(lock.packages),
        wheels=len(names),
        beside=len(names & lock.beside),
        consistent=not any(problem.severity == "error" for problem in problems),
    )
    if not available:
        return one, problems
    progress(f"asking the index for {len(names)} files of {env_id}")
    gone = _gone(artifact, env_id, lock)
    problems += [_rot_problem(rot, lock) for rot in gone]
    missed = any(not rot.beside for rot in gone)
    return dataclasses.replace(one, available=not missed, gone=tuple(gone)), problems


def _gone(artifact: Artifact, env_id: str, lock: ReadLock) -> list[Rot]:
    release = python_of(env_id, named_environment(artifact, env_id))
    target = Resolution(lock.python, release, None, lock.platforms, None)
    return find_rot(lock, offered_files(lock.packages, target))


def _rot_problem(rot: Rot, lock: ReadLock) -> Problem:
    said = "is not on your index any more" if rot.state == "gone" else "is another file there now"
    message = f"{rot.wheel} of {rot.package} {said}"
    if rot.beside:
        hint = "it lies beside the lock, so nothing is lost"
        return Problem(message, lock.name, hint=hint, severity="warning")
    hint = "configure an index that has it (UV_INDEX), or put the file into wheels/ beside the lock"
    return Problem(message, lock.name, hint=hint)
