"""``rra env wheels``: the wheels of a lock, each once on this machine."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._env_chosen import chosen_environments, passed_over
from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent

if TYPE_CHECKING:
    from rra.environment.answers import GatheredEnvironment


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
        environments: Ids; all whose kind has wheels by default.
        into: Folder that gets links to them, and the ``requirements.txt`` of the environment;
            with several environments, a folder for each in it.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or environment, or it is not locked.
        UnavailableError: It is of a kind that has no wheels.
        LockError: A wheel is nowhere to be had.
        StorageError: The cache or the folder cannot be written.
    """
    from rra._base import places
    from rra.environment.kinds import GatherRequest, kind_of
    from rra.environment.wheelhouse import FOLDER

    with open_artifact(artifact, progress=progress, plain_http=plain_http) as opened:
        chosen = chosen_environments(opened.artifact, environments, "wheels")
        done = []
        for env_id in chosen:
            folder = into / env_id if into is not None and len(chosen) > 1 else into
            request = GatherRequest(
                artifact=opened.artifact, id=env_id, folder=folder, progress=progress
            )
            done.append(kind_of(opened.artifact, env_id).gather(request))
        return GatheredWheels(
            artifact=opened.name,
            house=places.cache_root() / FOLDER,
            environments=tuple(done),
            problems=(*opened.notices, *passed_over(opened.artifact, chosen, "wheels")),
        )
