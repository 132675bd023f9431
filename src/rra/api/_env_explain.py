"""``rra env explain``: which file, day and requirement gave a package its version."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._env_check import chosen_environments
from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.errors import UsageError

if TYPE_CHECKING:
    from rra.environment.checking import ReadLock

_MOST_CHAINS = 5


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExplainedPackage:
    """Why one environment has a package as it has it; None for what the lock does not say.

    Attributes:
        id: Environment's id.
        versions: Versions that are locked.
        requirement: What asks for it.
        place: Where it is asked for, as ``file:line``.
        required_by: Locked packages that need it.
        chains: Shortest ways to it from packages that a file asks for.
        manifest: File that was followed.
        manifest_why: Why that file.
        as_of: Day of the resolution.
        as_of_why: Where the day comes from.
        python: Python that it was resolved for.
        python_why: Where the Python comes from.
        tried: What was tried before, one line each.
        recorded: Whether the lock records reasons.
    """

    id: str
    versions: tuple[str, ...]
    requirement: str | None
    place: str | None
    required_by: tuple[str, ...]
    chains: tuple[tuple[str, ...], ...]
    manifest: str | None
    manifest_why: str | None
    as_of: str | None
    as_of_why: str | None
    python: str | None
    python_why: str | None
    tried: tuple[str, ...]
    recorded: bool


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
        environments: Ids; all of kind pylock by default.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or environment, or none locks the package.
        FormatError: A lock cannot be read.
    """
    import difflib

    from packaging.utils import canonicalize_name

    from rra.environment.checking import read_lock

    name = canonicalize_name(package)
    known: set[str] = set()
    found = []
    with open_artifact(artifact, progress=progress, plain_http=plain_http) as opened:
        for env_id in chosen_environments(opened.artifact, environments):
            lock = read_lock(opened.artifact, env_id)
            known |= {one.name for one in lock.packages}
            if name in known and any(one.name == name for one in lock.packages):
                found.append(_explain(env_id, lock, name))
    if not found:
        near = difflib.get_close_matches(name, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "rra env check says what is locked"
        raise UsageError(f"no environment locks {name}", hint=hint)
    return PackageReasons(
        artifact=opened.name, package=name, environments=tuple(found), problems=opened.notices
    )


def _explain(env_id: str, lock: ReadLock, name: str) -> ExplainedPackage:
    facts, why = lock.facts, _table(lock.facts)
    own = why.get(name, {})
    return ExplainedPackage(
        id=env_id,
        versions=tuple(one.version for one in lock.packages if one.name == name),
        requirement=_text(own, "requirement") or _asked(facts, name),
        place=_text(own, "place"),
        required_by=_texts(own, "required-by"),
        chains=tuple(_chains(name, why)),
        manifest=_text(facts, "manifest"),
        manifest_why=_text(facts, "manifest-why"),
        as_of=_text(facts, "as-of"),
        as_of_why=_text(facts, "as-of-why"),
        python=_text(facts, "python"),
        python_why=_text(facts, "python-why"),
        tried=_texts(facts, "tried"),
        recorded=bool(why),
    )


def _table(facts: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the reasons of each package; anybody may have written the lock."""
    table = facts.get("why")
    entries = table.items() if isinstance(table, dict) else ()
    return {str(name): entry for name, entry in entries if isinstance(entry, dict)}


def _asked(facts: Mapping[str, Any], name: str) -> str | None:
    """Return what was asked for by the list of requirements, where no reasons are recorded."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    for text in _texts(facts, "requirements"):
        with contextlib.suppress(InvalidRequirement):
            if canonicalize_name(Requirement(text).name) == name:
                return text
    return None


def _text(entry: Mapping[str, Any], key: str) -> str | None:
    value = entry.get(key)
    return str(value) if value else None


def _texts(entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = entry.get(key)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _chains(name: str, why: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return the shortest way to a package from each that a file asks for, a few at most."""
    chains: list[tuple[str, ...]] = []
    seen = {name}
    waiting: deque[tuple[str, ...]] = deque([(name,)])
    while waiting and len(chains) < _MOST_CHAINS:
        chain = waiting.popleft()
        entry = why.get(chain[0], {})
        if "requirement" in entry and len(chain) > 1:
            chains.append(chain)
        for other in _texts(entry, "required-by"):
            if other not in seen:
                seen.add(other)
                waiting.append((other, *chain))
    return chains
