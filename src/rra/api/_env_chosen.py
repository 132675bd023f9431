"""Which environments a verb is about: those that were named, or those whose kind has a part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rra.artifact import layout
from rra.errors import Problem

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.environment.kinds import Ability


def chosen_environments(
    artifact: Artifact, wanted: Sequence[str], ability: Ability | None = None
) -> list[str]:
    """Return the environments that a call is about: those named, else all that it can be about.

    Where no kind of them has the ability, they are all returned, so that each says why not.

    Raises:
        UsageError: One is not known, or its kind is not.
    """
    from rra.environment.kinds import kind_of

    known = artifact.manifest.environments
    kinds = {name: kind_of(artifact, name) for name in (wanted or known)}
    able = [name for name, kind in kinds.items() if ability is None or ability in kind.can()]
    return able if able and not wanted else list(kinds)


def passed_over(artifact: Artifact, chosen: Sequence[str], ability: Ability) -> list[Problem]:
    """Return a warning for each environment that was not asked for and has not the ability."""
    from rra.environment.kinds import kind_of

    where = artifact.manifest.environments
    return [
        Problem(
            f"environment {name} is of kind {kind.name}, which has no part in this",
            layout.MANIFEST,
            pointer=f"/environments/{name}",
            severity="warning",
        )
        for name, kind in ((name, kind_of(artifact, name)) for name in where if name not in chosen)
        if ability not in kind.can()
    ]
