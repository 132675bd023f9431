"""Building environments with everything that an artifact may bring for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from rra.artifact import Artifact
from rra.bundle.extract import Limits, extract_archive
from rra.bundle.names import printable
from rra.environment import Built
from rra.environment.kinds import BuildRequest, kind_of
from rra.environment.kinds.protocol import silent
from rra.environment.runtime import DESCRIPTION, PREFIX
from rra.errors import ArchiveError
from rra.sandbox import Sandbox

_LIMITS = Limits(members=50_000, file_bytes=1 << 30, total_bytes=4 << 30, names_bytes=16 << 20)
"""An interpreter has about a thousand files and less than 100 MiB."""


def build_environment(
    artifact: Artifact,
    env_id: str,
    *,
    target: Path | None = None,
    progress: Callable[[str], None] | None = None,
    sandbox: Sandbox | None = None,
) -> Built:
    """Build an environment as its kind does it, with what the artifact carries for it.

    Args:
        artifact: The artifact.
        env_id: Environment's id.
        target: Folder to build in anew; None for the cache.
        progress: Told about steps that may last.
        sandbox: What a carried interpreter runs in; the best that works by default.

    Raises:
        UsageError: There is no such environment or no lock yet, or the target is in use.
        CorruptError: A file of the environment is not the one that was locked.
        UnavailableError: It cannot be built here.
        StorageError: The disk is full or refuses.
    """
    request = BuildRequest(
        artifact=artifact,
        id=env_id,
        target=target,
        progress=progress or silent,
        unpack=unpack_interpreter,
        sandbox=sandbox,
    )
    return kind_of(artifact, env_id).build(request)


def isolation_level(artifact: Artifact, environments: Iterable[str], sandbox: Sandbox) -> str:
    """Return the word for how launchers are isolated: by the sandbox, or by what they run in.

    Args:
        artifact: The artifact.
        environments: Ids of the environments that are used.
        sandbox: Isolation where an environment brings none of its own.
    """
    own = {kind_of(artifact, one).isolation for one in environments}
    levels = sorted({level or sandbox.name for level in own})
    return ", ".join(levels) if levels else sandbox.name


def unpack_interpreter(archive: Path, directory: Path, *, digest: str) -> None:
    """Unpack a packed interpreter into an empty folder, as carefully as a layer of a bundle.

    Args:
        archive: The canonical tar.
        directory: The folder; when an error is raised, the caller removes it.
        digest: Digest that the archive must have.

    Raises:
        ArchiveError: The archive is damaged, not canonical, or larger than allowed.
        UnsafePathError: A member does not stay in the folder.
        CorruptError: The archive has another digest.
        StorageError: The disk is full or refuses.
    """
    with archive.open("rb") as stream:
        found = extract_archive(
            stream, directory, limits=_LIMITS, expected_diff_id=digest, what=archive.name
        )
    for path in found.paths:
        if path.partition("/")[0] != PREFIX and path != DESCRIPTION:
            message = f"{archive.name} holds {printable(path)}, which is no part of an interpreter"
            raise ArchiveError(message, hint="make it again: rra lock --keep --runtime")
