"""``rra env check``: does the lock still hold, and is what it names still there?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._env_chosen import chosen_environments
from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent

if TYPE_CHECKING:
    from rra.environment.answers import CheckedEnvironment


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

    Each environment is asked as its kind is, and the answer says what else that kind can do.
    Nothing is built or installed. With `available` the reader's index is asked, by name and
    digest, for each file that is locked; what lies beside the lock need not be there.

    Args:
        artifact: Directory of an artifact, or reference of a bundle.
        environments: Ids; all by default.
        available: Ask the index for each file.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or environment, or it is not locked.
        FormatError: A lock cannot be read.
        LockError: The index cannot be reached.
    """
    from rra.api._needed import needed_packages
    from rra.environment.kinds import CheckRequest, kind_of

    checked = []
    with open_artifact(artifact, progress=progress, plain_http=plain_http) as opened:
        here = opened.artifact
        problems = list(opened.notices)
        for env_id in chosen_environments(here, environments):
            progress(f"checking the lock of {env_id}")
            request = CheckRequest(
                artifact=here,
                id=env_id,
                needed=lambda one=env_id: needed_packages(here, one).requirements,  # type: ignore[misc]
                available=available,
                progress=progress,
            )
            one, found = kind_of(here, env_id).check(request)
            checked.append(one)
            problems += found
    good = all(one.consistent and one.available is not False for one in checked)
    return EnvironmentCheck(
        artifact=opened.name,
        environments=tuple(checked),
        problems=tuple(problems),
        exit_code=0 if good else 1,
    )
