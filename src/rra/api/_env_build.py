"""``rra env build``: install what is locked, and say how far the artifact carries a reader."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rra.api._env_check import chosen_environments
from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.errors import UsageError

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.environment import MaterialisedEnvironment

Level = Literal["locked", "bundled", "rebuilt offline", "runs"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class BuiltEnvironment:
    """One environment that is installed and is what its lock says.

    Attributes:
        id: Environment's id.
        level: What was reached: ``locked`` needs an index, ``bundled`` has every wheel beside
            the lock, ``rebuilt offline`` was built from these alone, ``runs`` imports as well what
            the code imports.
        python: Full version of its Python.
        interpreter: ``own`` for the one that the artifact carries, ``host`` for one of here.
        packages: ``name version`` of each package.
        place: Folder of the environment.
        reused: Whether it was there before.
        lock: Digest of the lock.
        imports: How many import statements of the code were tried; None where none was asked for.
        failed: Those that fail, with why.
    """

    id: str
    level: Level
    python: str
    interpreter: Literal["own", "host"]
    packages: tuple[str, ...]
    place: Path
    reused: bool
    lock: str
    imports: int | None = None
    failed: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class BuiltEnvironments(VerbResult):
    """The environments that were built.

    Attributes:
        artifact: Whose they are.
        environments: Each of them.
    """

    artifact: str
    environments: tuple[BuiltEnvironment, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": self.artifact,
            "environments": [
                {**dataclasses.asdict(one), "place": str(one.place)} for one in self.environments
            ],
        }


def env_build(
    artifact: str | Path = ".",
    *,
    environments: Sequence[str] = (),
    into: Path | None = None,
    imports: bool = False,
    plain_http: bool = False,
    progress: Progress = silent,
) -> BuiltEnvironments:
    """Install the locked environments of an artifact and compare them with their locks.

    They go into the cache, once for each lock, where `rra run` finds them. Two that build at
    once wait for each other, and one that is killed leaves nothing that counts.

    Args:
        artifact: Directory of an artifact, or reference of a bundle.
        environments: Ids; all of kind pylock by default.
        imports: Also import, in the best sandbox that works here and without network, what the
            code imports; the answer is no where something fails. Code of the packages runs.
        into: Folder to build one environment in anew, instead of the cache.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or environment, it is not locked, or `into` is
            given for several.
        CorruptError: A file is not the one that was locked.
        EnvironmentBuildError: A file cannot be had, or the lock is not for this machine.
        StorageError: The disk is full or refuses.
    """
    with open_artifact(artifact, progress=progress, plain_http=plain_http) as opened:
        chosen = chosen_environments(opened.artifact, environments)
        if into is not None and len(chosen) > 1:
            message = f"one folder cannot hold {len(chosen)} environments"
            hint = f"name one with --environment: {', '.join(chosen)}"
            raise UsageError(message, hint=hint)
        made = {one: _make(opened.artifact, one, into, progress) for one in chosen}
        built = [_describe(one) for one in made.values()]
        if imports:
            built = [_tried(opened.artifact, made[one.id], one, progress) for one in built]
        return BuiltEnvironments(
            artifact=opened.name,
            environments=tuple(built),
            problems=opened.notices,
            exit_code=1 if any(one.failed for one in built) else 0,
        )


def _make(
    artifact: Artifact, env_id: str, into: Path | None, progress: Progress
) -> MaterialisedEnvironment:
    from rra.launch import build_environment

    return build_environment(artifact, env_id, target=into, progress=progress)


def _describe(made: MaterialisedEnvironment) -> BuiltEnvironment:
    level: Level = "bundled" if made.bundled else "locked"
    if made.bundled and made.offline:
        level = "rebuilt offline"
    return BuiltEnvironment(
        id=made.id,
        level=level,
        python=made.version,
        interpreter="own" if made.interpreter else "host",
        packages=tuple(f"{name} {version}" for name, version in made.packages),
        place=made.root,
        reused=made.reused,
        lock=made.lock_digest,
    )


def _tried(
    artifact: Artifact, made: MaterialisedEnvironment, one: BuiltEnvironment, progress: Progress
) -> BuiltEnvironment:
    from rra.api._lock_search import needed_imports
    from rra.environment.smoke import Installed, try_imports

    statements = [text for text, _ in needed_imports(artifact)]
    progress(f"importing what the code imports: {len(statements)} statements")
    failed = try_imports(Installed(made.root, made.python, made.base_prefix), statements)
    level: Level = "runs" if one.level == "rebuilt offline" and not failed else one.level
    return dataclasses.replace(
        one, level=level, imports=len(statements), failed=tuple(map(str, failed))
    )
