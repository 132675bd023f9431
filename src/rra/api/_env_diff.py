"""``rra env diff``: which packages differ between two environments."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._env_chosen import chosen_environments
from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.errors import Problem, UsageError

if TYPE_CHECKING:
    from rra.environment.difference import EnvironmentDifference, Side


@dataclasses.dataclass(frozen=True, kw_only=True)
class EnvironmentsDiff(VerbResult):
    """What differs between environments; the answer is yes when nothing does.

    Attributes:
        before: The first side, as it was named; bundles with their digest.
        after: The second.
        environments: Pairs that were compared.
    """

    before: str
    after: str
    environments: tuple[EnvironmentDifference, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "before": self.before,
            "after": self.after,
            "same": self.ok,
            "environments": [dataclasses.asdict(one) for one in self.environments],
        }


@dataclasses.dataclass(frozen=True, slots=True)
class _Named:
    """What one side holds: one environment, or those of an artifact by their ids."""

    name: str
    one: Side | None
    several: dict[str, Side]
    notices: tuple[Problem, ...] = ()


def env_diff(
    before: str | Path,
    after: str | Path,
    *,
    environment: str | None = None,
    plain_http: bool = False,
    progress: Progress = silent,
) -> EnvironmentsDiff:
    """Compare the environments of two artifacts, two locks, or a lock and what is installed.

    Environments of two artifacts are compared by their ids. Where one side is a lock file or
    a virtual environment, the artifact on the other has to have one, or it is named.

    Args:
        before: An artifact, a bundle, a ``pylock.toml``, or the folder of a virtual environment.
        after: Another one.
        environment: Id; all by default.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such thing or environment, or it is not clear which is meant.
        FormatError: A lock cannot be read.
        CorruptError: A bundle is not what vouches for it.
    """
    from rra.environment.difference import compare_environments

    wanted = [environment] if environment else []
    left, right = (_read(side, wanted, progress, plain_http=plain_http) for side in (before, after))
    found = tuple(compare_environments(*pair) for pair in _pairs(left, right))
    return EnvironmentsDiff(
        before=left.name,
        after=right.name,
        environments=found,
        problems=tuple(dict.fromkeys((*left.notices, *right.notices))),
        exit_code=0 if all(one.same for one in found) else 1,
    )


def _read(named: str | Path, wanted: list[str], progress: Progress, *, plain_http: bool) -> _Named:
    from rra.environment.difference import CONFIGURATION, read_environment, read_locked
    from rra.environment.kinds import kind_of

    path, name = Path(named), str(named)
    if path.suffix == ".toml" and path.is_file():
        return _Named(name, read_locked(path, name), {})
    if (path / CONFIGURATION).is_file():
        return _Named(name, read_environment(path, name), {})
    with open_artifact(named, progress=progress, plain_http=plain_http) as opened:
        sides = {
            env_id: kind_of(opened.artifact, env_id).side(opened.artifact, env_id)
            for env_id in chosen_environments(opened.artifact, wanted)
        }
        return _Named(opened.name, None, sides, opened.notices)


def _pairs(left: _Named, right: _Named) -> list[tuple[Side, Side]]:
    from rra.environment.difference import nothing

    if left.one is None and right.one is None:
        ids = [*left.several, *(one for one in right.several if one not in left.several)]
        sides = (left.several, right.several)
        return [tuple(side.get(one, nothing(one)) for side in sides) for one in ids]  # type: ignore[misc]
    return [(_single(left), _single(right))]


def _single(named: _Named) -> Side:
    if named.one is not None:
        return named.one
    if len(named.several) != 1:
        message = f"{named.name} has {len(named.several)} environments"
        hint = f"name one with --environment: {', '.join(named.several)}"
        raise UsageError(message, hint=hint)
    return next(iter(named.several.values()))
