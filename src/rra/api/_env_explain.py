"""``rra env explain``: which file, day and requirement gave a package its version."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._env_chosen import chosen_environments
from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.errors import UsageError

if TYPE_CHECKING:
    from rra.environment.answers import ExplainedPackage

_MOST_NAMES = 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class PackageReasons(VerbResult):
    """Why a package has the version that it has.

    Attributes:
        artifact: Whose environments they are.
        package: Normalised name.
        environments: Each environment that locks it.
    """

    artifact: str
    package: str
    environments: tuple[ExplainedPackage, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": self.artifact,
            "package": self.package,
            "environments": [dataclasses.asdict(one) for one in self.environments],
        }


def env_explain(
    package: str,
    artifact: str | Path = ".",
    *,
    environments: Sequence[str] = (),
    plain_http: bool = False,
    progress: Progress = silent,
) -> PackageReasons:
    """Say which file, day and requirement gave a package its version, from the lock alone.

    Args:
        package: Name of the package, in any spelling.
        artifact: Directory of an artifact, or reference of a bundle.
        environments: Ids; all by default.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or environment, or none locks the package.
        FormatError: A lock cannot be read.
    """
    import difflib

    from packaging.utils import canonicalize_name

    from rra.environment.kinds import kind_of

    name = canonicalize_name(package)
    known: set[str] = set()
    found = []
    with open_artifact(artifact, progress=progress, plain_http=plain_http) as opened:
        for env_id in chosen_environments(opened.artifact, environments):
            kind = kind_of(opened.artifact, env_id)
            known |= kind.side(opened.artifact, env_id).packages.keys()
            explained = kind.explain(opened.artifact, env_id, name)
            if explained is not None:
                found.append(explained)
    if not found:
        hint = _nearest(difflib.get_close_matches(name, known, n=3), known)
        raise UsageError(f"no environment locks {name}", hint=hint)
    return PackageReasons(
        artifact=opened.name, package=name, environments=tuple(found), problems=opened.notices
    )


def _nearest(near: Sequence[str], known: Collection[str]) -> str:
    """Say which locked packages may be meant; where none is near, which there are."""
    if near:
        return f"did you mean {' or '.join(near)}?"
    if not known:
        return "nothing is locked: the code needs no package, or none was found"
    shown = sorted(known)[:_MOST_NAMES]
    more = f" and {len(known) - len(shown)} more" if len(known) > len(shown) else ""
    return f"locked are {', '.join(shown)}{more}"
