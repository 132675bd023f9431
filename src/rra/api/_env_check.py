"""``rra env check``: does the lock still hold, and is what it names still there?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.errors import Problem, UsageError

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.environment.checking import ReadLock, Rot


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckedEnvironment:
    """One environment and how its lock stands.

    Attributes:
        id: Environment's id.
        python: Python that it is for; None where nothing says it.
        packages: How many packages are locked.
        wheels: How many files they come from.
        beside: How many of these lie beside the lock.
        consistent: Whether the lock says what the other files say.
        available: Whether all files can be had; None where that was not asked.
        gone: Files that the index does not offer as they were locked.
    """

    id: str
    python: str | None
    packages: int
    wheels: int
    beside: int
    consistent: bool
    available: bool | None = None
    gone: tuple[Rot, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class EnvironmentCheck(VerbResult):
    """How the locks of an artifact stand; the answer is yes when each holds.

    Attributes:
        artifact: What was checked.
        environments: Each environment.
    """

    artifact: str
    environments: tuple[CheckedEnvironment, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": self.artifact,
            "environments": [dataclasses.asdict(one) for one in self.environments],
        }


def env_check(
    artifact: str | Path = ".",
    *,
    environments: Sequence[str] = (),
    available: bool = False,
    plain_http: bool = False,
    progress: Progress = silent,
) -> EnvironmentCheck:
    """Check that the locks of an artifact say what its other files say.

    Nothing is built or installed. With `available` the reader's index is asked, by name and
    digest, for each file that is locked; what lies beside the lock need not be there.

    Args:
        artifact: Directory of an artifact, or reference of a bundle.
        environments: Ids; all of kind pylock by default.
        available: Ask the index for each file.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or environment, or it is not locked.
        FormatError: A lock cannot be read.
        LockError: The index cannot be reached.
    """
    problems: list[Problem] = []
    checked = []
    with open_artifact(artifact, progress=progress, plain_http=plain_http) as opened:
        problems += opened.notices
        for env_id in chosen_environments(opened.artifact, environments):
            progress(f"checking the lock of {env_id}")
            one, found = _check(opened.artifact, env_id, progress, available=available)
            checked.append(one)
            problems += found
    good = all(one.consistent and one.available is not False for one in checked)
    return EnvironmentCheck(
        artifact=opened.name,
        environments=tuple(checked),
        problems=tuple(problems),
        exit_code=0 if good else 1,
    )


def chosen_environments(artifact: Artifact, wanted: Sequence[str]) -> list[str]:
    """Return the environments that a call is about: those named, else all that have locks.

    Raises:
        UsageError: One is not known, or there is none with a lock.
    """
    known = artifact.manifest.environments
    for name in wanted:
        if name not in known:
            message = f"no environment is called {name}"
            raise UsageError(message, hint=f"environments: {', '.join(known)}")
    chosen = list(wanted) or [name for name, one in known.items() if one.kind == "pylock"]
    if not chosen:
        message = "the artifact has no environment of kind pylock"
        raise UsageError(message, hint="see environment/ for how its environments are built")
    return chosen


def _check(
    artifact: Artifact, env_id: str, progress: Progress, *, available: bool
) -> tuple[CheckedEnvironment, list[Problem]]:
    from rra.api._lock import needed_packages
    from rra.environment.checking import check_lock, read_lock

    lock = read_lock(artifact, env_id)
    problems = check_lock(artifact, env_id, lock, needed_packages(artifact, env_id).requirements)
    names = {wheel.name for package in lock.packages for wheel in package.wheels}
    one = CheckedEnvironment(
        id=env_id,
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
    from rra.environment.checking import find_rot
    from rra.environment.lock import python_of
    from rra.environment.offered import offered_files
    from rra.environment.resolve import Resolution

    release = python_of(env_id, artifact.manifest.environments[env_id])
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
