"""``rra lock``: resolve and lock the environments, and note what the files are."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rra.api._result import Progress, VerbResult, silent
from rra.artifact import Artifact, load_artifact
from rra.artifact.lockfile import build_lock, write_lock
from rra.errors import Problem, UnavailableError, UsageError


@dataclasses.dataclass(frozen=True, kw_only=True)
class LockedOne:
    """One locked environment.

    Attributes:
        as_of: Date of the resolution, if one was set.
        packages: ``name version`` of each package.
        requirements: What was asked for.
        origin: Where the requirements were found, and why there.
    """

    id: str
    python: str
    as_of: str | None
    packages: tuple[str, ...]
    requirements: tuple[str, ...]
    origin: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class LockResult(VerbResult):
    """What was locked.

    Attributes:
        root: Directory of the artifact.
        core: Core digest of the artifact now.
        environments: The environments.
        changed: Whether ``rra.lock`` changed.
        notes: What a person should know.
    """

    root: Path
    core: str
    environments: tuple[LockedOne, ...]
    changed: bool
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": str(self.root),
            "core": self.core,
            "changed": self.changed,
            "environments": [dataclasses.asdict(one) for one in self.environments],
            "notes": list(self.notes),
        }


def lock(
    path: Path,
    *,
    environments: Sequence[str] = (),
    as_of: str | None = None,
    keep: bool = False,
    progress: Progress = silent,
) -> LockResult:
    """Resolve the environments of an artifact as of a date and write their locks.

    Args:
        path: Directory of the artifact.
        environments: Ids; all by default.
        as_of: Date (YYYY-MM-DD) that replaces the manifest's ``as_of``.
        keep: Keep environment locks that are there and only write ``rra.lock`` again.
        progress: Called with one line for each step.

    Raises:
        LockError: The requirements cannot be resolved.
        UnavailableError: An environment is of a kind that this release does not lock.
        UsageError: An id is unknown.
    """
    artifact = load_artifact(path)
    known = artifact.manifest.environments
    for name in environments:
        if name not in known:
            message = f"no environment is called {name}"
            raise UsageError(message, hint=f"environments: {', '.join(known)}")
    chosen = list(environments) or list(known)
    notes: list[str] = []
    locked = [
        one
        for name in chosen
        if (one := _lock_one(artifact, name, as_of, notes, keep=keep, progress=progress))
    ]
    return _write(path, locked, notes, progress)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Needed:
    """What an environment needs, where that is said, and what is unclear about it."""

    requirements: tuple[str, ...]
    origin: str
    findings: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether a package is needed, or may be."""
        return bool(self.requirements or self.findings)


def needed_packages(artifact: Artifact, name: str) -> Needed:
    """Find out what an environment needs: what the manifest says, else what the code shows."""
    from rra.environment import detect_requirements
    from rra.scan import third_party_imports

    stated = artifact.manifest.environments[name].requirements
    if stated is not None:
        return Needed(requirements=tuple(stated), origin="rra.yaml")
    imports = third_party_imports(artifact.code_root, artifact.code_files())
    found = detect_requirements(artifact.code_root, imports)
    return Needed(
        requirements=tuple(found.requirements),
        origin=found.why,
        findings=tuple(str(finding) for finding in found.findings),
    )


def _lock_one(
    artifact: Artifact,
    name: str,
    as_of: str | None,
    notes: list[str],
    *,
    keep: bool,
    progress: Progress,
) -> LockedOne | None:
    from rra.environment import lock_environment

    environment = artifact.manifest.environments[name]
    if environment.kind != "pylock":
        message = f"environment {name} is of kind {environment.kind}"
        hint = "this release locks environments of kind pylock; set kind: pylock in rra.yaml"
        raise UnavailableError(message, hint=hint)
    if keep and environment.lock and artifact.path(environment.lock).is_file():
        notes.append(f"{name}: kept the lock that is there")
        return None
    progress(f"looking for what {name} needs")
    needed = needed_packages(artifact, name)
    notes += [f"{name}: {finding}" for finding in needed.findings]
    locked = lock_environment(
        artifact.root,
        name,
        environment,
        list(needed.requirements),
        as_of=as_of or environment.as_of,
        progress=progress,
    )
    return LockedOne(
        id=name,
        python=locked.python,
        as_of=as_of or environment.as_of,
        packages=tuple(f"{package.name} {package.version}" for package in locked.packages),
        requirements=needed.requirements,
        origin=needed.origin,
    )


def _write(path: Path, locked: list[LockedOne], notes: list[str], progress: Progress) -> LockResult:
    """Write ``rra.lock`` from the files as they stand now."""
    from rra.bundle import core_digest, element_locks
    from rra.environment import read_entry

    progress("computing digests of code, environment, launchers and data")
    artifact = load_artifact(path)
    environments = {
        name: read_entry(artifact.path(environment.lock))
        for name, environment in artifact.manifest.environments.items()
        if environment.lock and artifact.path(environment.lock).is_file()
    }
    core = core_digest(artifact)
    document = build_lock(
        artifact, core=core, elements=element_locks(artifact), environments=environments
    )
    changed = write_lock(artifact, document)
    problems: tuple[Problem, ...] = artifact.warnings
    return LockResult(
        root=artifact.root,
        core=core,
        environments=tuple(locked),
        changed=changed,
        notes=tuple(notes),
        problems=problems,
    )
