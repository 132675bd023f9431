"""An environment that is there now, of whatever kind, as a launcher sees it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from rra._base.files import sha256_file
from rra.artifact import layout
from rra.errors import CorruptError, UsageError

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.model import Environment


@dataclasses.dataclass(frozen=True, slots=True)
class Built:
    """An environment that was built, or found, and is what its lock says.

    Paths are those that a launcher sees, so they lie in the image of an environment that has
    one. What the kind has no notion of is None or empty.

    Attributes:
        id: Environment's id.
        root: Folder that holds it alone, such as a virtual environment.
        python: Its interpreter.
        bin: Folder to put first on PATH.
        version: Full version of Python.
        base_prefix: Where Python itself is installed; a sandbox must show it.
        variables: Variables that are set in it.
        packages: (name, version) of everything installed, sorted.
        lock_digest: Digest of its lock, or of what stands for one.
        installed_digest: Digest of what is installed: of the canonical JSON of `packages`, or
            of the image.
        interpreter: Digest of the packed interpreter that the artifact carries and that this
            one is; None for a Python of the machine.
        bundled: Whether everything that it needs lies beside the lock.
        offline: Whether it was built from that alone, and no index was asked.
        reused: Whether it was there before.
        kind: Word of the manifest.
        image: Name of its image, for a container.
    """

    id: str
    root: Path | None
    python: Path | None
    bin: Path | None
    version: str
    base_prefix: Path | None
    variables: dict[str, str]
    packages: tuple[tuple[str, str], ...]
    lock_digest: str
    installed_digest: str
    interpreter: str | None = None
    bundled: bool = False
    offline: bool = False
    reused: bool = dataclasses.field(default=False, compare=False)
    kind: str = "pylock"
    image: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class MaterialisedEnvironment(Built):
    """An environment that was installed into a folder of its own and compared with its lock."""

    root: Path
    python: Path
    bin: Path
    base_prefix: Path


def named_environment(artifact: Artifact, env_id: str) -> Environment:
    """Return an environment of an artifact.

    Raises:
        UsageError: There is none of that name.
    """
    known = artifact.manifest.environments
    if env_id not in known:
        message = f"no environment is called {env_id}"
        raise UsageError(message, hint=f"environments: {', '.join(known)}")
    return known[env_id]


def checked_digest(artifact: Artifact, env_id: str, path: Path) -> str:
    """Return the digest of a lock.

    Raises:
        CorruptError: ``rra.lock`` names another one.
    """
    digest = sha256_file(path)
    known = artifact.lock.environments.get(env_id) if artifact.lock else None
    if known is not None and known.lock != digest:
        name = path.relative_to(artifact.root)
        message = f"{name} is not the one that {layout.LOCK} names: {digest}, not {known.lock}"
        hint = "get the file again; if you changed it on purpose, run rra lock"
        raise CorruptError(message, hint=hint)
    return digest
