"""``rra env build``: install what is locked, and say how far the artifact carries a reader."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rra.api._env_chosen import chosen_environments, passed_over
from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.errors import Problem, UsageError

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.environment import Built

Level = Literal["locked", "bundled", "rebuilt offline", "runs"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class BuiltEnvironment:
    """One environment that is there and is what its lock says.

    Attributes:
        id: Environment's id.
        kind: Its kind.
        level: What was reached: ``locked`` needs an index, ``bundled`` has every wheel beside
            the lock, ``rebuilt offline`` was built from these alone, ``runs`` imports as well what
            the code imports, which is something.
        python: Full version of its Python; None where the kind has none or does not say.
        interpreter: ``own`` for the one that the artifact carries, ``host`` for one of here,
            ``image`` for what the image has.
        packages: ``name version`` of each package.
        place: Folder of the environment; None for one that is in no folder of its own.
        image: Name of the image, for a container.
        reused: Whether it was there before.
        lock: Digest of the lock.
        imports: How many import statements of the code were tried; None where none was asked for.
        failed: Those that fail, with why.
    """

    id: str
    kind: str
    level: Level
    python: str | None
    interpreter: Literal["own", "host", "image"]
    packages: tuple[str, ...]
    place: Path | None
    image: str | None
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
                {**dataclasses.asdict(one), "place": str(one.place) if one.place else None}
                for one in self.environments
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
        environments: Ids; all whose kind is built here by default.
        imports: Also import, in the best sandbox that works here and without network, what the
            code imports; the answer is no where something fails. Code of the packages runs.
        into: Folder to build one environment in anew, instead of the cache.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or environment, it is not locked, or `into` is
            given for several.
        CorruptError: A file is not the one that was locked.
        EnvironmentBuildError: A file cannot be had, the lock is not for this machine, or the kind
            is not built here.
        StorageError: The disk is full or refuses.
    """
    with open_artifact(artifact, progress=progress, plain_http=plain_http) as opened:
        chosen = chosen_environments(opened.artifact, environments, "build")
        if into is not None and len(chosen) > 1:
            message = f"one folder cannot hold {len(chosen)} environments"
            hint = f"name one with --environment: {', '.join(chosen)}"
            raise UsageError(message, hint=hint)
        _refuse(opened.artifact, chosen, into=into, imports=imports)
        made = {one: _make(opened.artifact, one, into, progress) for one in chosen}
        built = [_describe(one) for one in made.values()]
        if imports:
            built = [_tried(opened.artifact, made[one.id], one, progress) for one in built]
        return BuiltEnvironments(
            artifact=opened.name,
            environments=tuple(built),
            problems=(
                *opened.notices,
                *passed_over(opened.artifact, chosen, "build"),
                *(problem for one in made.values() for problem in _shared(opened.artifact, one)),
            ),
            exit_code=1 if any(one.failed for one in built) else 0,
        )


def _refuse(artifact: Artifact, chosen: Sequence[str], *, into: Path | None, imports: bool) -> None:
    """Refuse what the kind of an environment has no notion of."""
    from rra.environment.kinds import kind_of

    for name in chosen:
        kind = kind_of(artifact, name)
        lacks = "build" in kind.can() and "imports" not in kind.can()
        if lacks and (imports or into is not None):
            wanted = "whose imports could be tried" if imports else "for a folder"
            message = f"environment {name} is of kind {kind.name}, which is no thing {wanted}"
            hint = "leave the option out, or name other environments with --environment"
            raise UsageError(message, hint=hint)


def _shared(artifact: Artifact, made: Built) -> Iterator[Problem]:
    """Say which packages overwrite each other's files."""
    from rra.environment.overlap import shared_files

    for one in shared_files(made.root) if made.root is not None else ():
        message = f"{one}; which of them is there depends on the order of installing"
        hint = "leave one of the two out of the requirements, and lock again"
        place = artifact.manifest.environments[made.id].lock or f"environment/{made.id}"
        yield Problem(message, place, hint=hint, severity="warning")


def _make(artifact: Artifact, env_id: str, into: Path | None, progress: Progress) -> Built:
    from rra.launch import build_environment

    return build_environment(artifact, env_id, target=into, progress=progress)


def _describe(made: Built) -> BuiltEnvironment:
    level: Level = "bundled" if made.bundled else "locked"
    if made.bundled and made.offline:
        level = "rebuilt offline"
    return BuiltEnvironment(
        id=made.id,
        kind=made.kind,
        level=level,
        python=made.version or None,
        interpreter="image" if made.image else "own" if made.interpreter else "host",
        packages=tuple(f"{name} {version}" for name, version in made.packages),
        place=made.root,
        image=made.image,
        reused=made.reused,
        lock=made.lock_digest,
    )


def _tried(
    artifact: Artifact, made: Built, one: BuiltEnvironment, progress: Progress
) -> BuiltEnvironment:
    from rra.api._lock_search import needed_imports
    from rra.environment.smoke import Installed, try_imports

    statements = [text for text, _ in needed_imports(artifact)]
    progress(f"importing what the code imports: {len(statements)} statements")
    if made.root is None or made.python is None or made.base_prefix is None:
        return one
    failed = try_imports(Installed(made.root, made.python, made.base_prefix), statements)
    shown = bool(statements) and not failed
    level: Level = "runs" if one.level == "rebuilt offline" and shown else one.level
    return dataclasses.replace(
        one, level=level, imports=len(statements), failed=tuple(map(str, failed))
    )
