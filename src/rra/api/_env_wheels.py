"""``rra env wheels``: the wheels of a lock, each once on this machine."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._env_check import chosen_environments
from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.errors import UsageError

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.environment.wheelhouse import HousedWheel


@dataclasses.dataclass(frozen=True, kw_only=True)
class GatheredEnvironment:
    """The wheels of one environment.

    Attributes:
        id: Environment's id.
        wheels: How many there are.
        size: Their bytes.
        shared: How many this machine had already, from whatever artifact.
        beside: How many came from beside the lock.
        fetched: How many came from the index.
        folder: Folder that they were linked into, with ``requirements.txt``; None for none.
    """

    id: str
    wheels: int
    size: int
    shared: int
    beside: int
    fetched: int
    folder: Path | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class GatheredWheels(VerbResult):
    """The wheels of an artifact.

    Attributes:
        artifact: Whose they are.
        house: Folder that all artifacts of this machine share.
        environments: Each environment.
    """

    artifact: str
    house: Path
    environments: tuple[GatheredEnvironment, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": self.artifact,
            "house": str(self.house),
            "environments": [
                {**dataclasses.asdict(one), "folder": str(one.folder) if one.folder else None}
                for one in self.environments
            ],
        }


def env_wheels(
    artifact: str | Path = ".",
    *,
    environments: Sequence[str] = (),
    into: Path | None = None,
    plain_http: bool = False,
    progress: Progress = silent,
) -> GatheredWheels:
    """Bring the wheels of an artifact's locks here, each once whatever number of artifacts need it.

    They come from the folder that artifacts share, from beside the lock, else from the
    reader's index, and are taken by their digest alone. The artifact is not changed.

    Args:
        artifact: Directory of an artifact, or reference of a bundle.
        environments: Ids; all of kind pylock by default.
        into: Folder that gets links to them, and the ``requirements.txt`` of the environment;
            with several environments, a folder for each in it.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or environment, or it is not locked.
        LockError: A wheel is nowhere to be had.
        StorageError: The cache or the folder cannot be written.
    """
    from rra._base import places
    from rra.environment.wheelhouse import FOLDER

    with open_artifact(artifact, progress=progress, plain_http=plain_http) as opened:
        chosen = chosen_environments(opened.artifact, environments)
        done = []
        for env_id in chosen:
            folder = into / env_id if into is not None and len(chosen) > 1 else into
            done.append(_gather(opened.artifact, env_id, folder, progress))
        return GatheredWheels(
            artifact=opened.name,
            house=places.cache_root() / FOLDER,
            environments=tuple(done),
            problems=opened.notices,
        )


def _gather(
    artifact: Artifact, env_id: str, folder: Path | None, progress: Progress
) -> GatheredEnvironment:
    from rra.environment.checking import read_lock
    from rra.environment.lock import python_of
    from rra.environment.pylock import render_requirements
    from rra.environment.resolve import Resolution
    from rra.environment.wheelhouse import bring_wheels

    lock = read_lock(artifact, env_id)
    release = python_of(env_id, artifact.manifest.environments[env_id])
    target = Resolution(lock.python, release, None, lock.platforms, None)
    progress(f"gathering the wheels of {env_id}")
    housed = bring_wheels(lock.packages, lock.wheels, target, progress)
    if folder is not None:
        _link(housed, folder, render_requirements(lock.packages))
    count = Counter(one.source for one in housed)
    return GatheredEnvironment(
        id=env_id,
        wheels=len(housed),
        size=sum(one.path.stat().st_size for one in housed),
        shared=count["shared"],
        beside=count["beside"],
        fetched=count["index"],
        folder=folder,
    )


def _link(housed: Sequence[HousedWheel], folder: Path, requirements: str) -> None:
    """Link wheels into a folder, beside the list that pip installs them by."""
    from rra._base.files import atomic_write, storage_errors
    from rra.environment.lock import REQUIREMENTS_NAME
    from rra.environment.wheelhouse import put

    list_ = folder / REQUIREMENTS_NAME
    if list_.is_file() and list_.read_bytes() != requirements.encode():
        message = f"{list_} is there already and lists something else"
        raise UsageError(message, hint="name another folder for --into")
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for one in housed:
            put(one.path, folder / one.wheel.name)
    atomic_write(list_, requirements)
