"""Writing ``rra.lock``: what a machine knows of an artifact."""

from __future__ import annotations

from collections.abc import Mapping

from rra._base import canonical
from rra._base.files import atomic_write, sha256_bytes, sha256_file
from rra.artifact import layout
from rra.artifact.reader import Artifact
from rra.artifact.tree import tree_id
from rra.errors import FormatError
from rra.model import ElementLock, EnvironmentLock, FileLock, Lock


def build_lock(
    artifact: Artifact,
    *,
    core: str,
    elements: Mapping[str, ElementLock],
    environments: Mapping[str, EnvironmentLock],
    elsewhere: Mapping[str, FileLock] | None = None,
) -> Lock:
    """Return the lock of an artifact as its files stand now.

    Args:
        artifact: The artifact.
        core: Core digest.
        elements: Locks of the elements by name.
        environments: Locks of the environments by id.
        elsewhere: Locks of data that is not bundled, as far as it is known.

    Raises:
        FormatError: A launcher's entry or a bundled data item is missing.
    """
    return Lock.model_validate(
        {
            "rra": artifact.manifest.rra,
            "core": core,
            "code": {"tree": tree_id(artifact.code_root, artifact.code_files())},
            "elements": {name: element.to_json() for name, element in elements.items()},
            "environments": {name: lock.to_json() for name, lock in environments.items()},
            "launchers": {
                name: _digest_of(artifact, launcher.entry)
                for name, launcher in artifact.manifest.launchers.items()
            },
            "data": {name: lock.to_json() for name, lock in (elsewhere or {}).items()}
            | {
                name: data_lock(artifact, item.path).to_json()
                for name, item in artifact.manifest.data.items()
                if item.access == "bundled"
            },
        }
    )


def write_lock(artifact: Artifact, lock: Lock) -> bool:
    """Write the lock as canonical JSON; return whether its bytes changed.

    Raises:
        StorageError: The disk is full or refuses.
    """
    path = artifact.root / layout.LOCK
    content = canonical.dumps(lock.to_json()) + b"\n"
    if path.is_file() and path.read_bytes() == content:
        return False
    atomic_write(path, content)
    return True


def data_lock(artifact: Artifact, relative: str) -> FileLock:
    """Return digest and size of a data item; a folder's digest is over its file list.

    Raises:
        FormatError: The item is missing.
    """
    place = artifact.path(relative)
    if place.is_file():
        return FileLock(sha256=sha256_file(place), size=place.stat().st_size)
    files = [path for path in artifact.element_files("data") if path.is_relative_to(relative)]
    if not files:
        message = f"data {relative} is declared as bundled but is not there"
        raise FormatError(message, hint="put it there, or declare how it is fetched")
    lines = [f"{sha256_file(artifact.root / path)}  {path}\n" for path in files]
    size = sum((artifact.root / path).stat().st_size for path in files)
    return FileLock(sha256=sha256_bytes("".join(lines).encode()), size=size)


def _digest_of(artifact: Artifact, relative: str) -> str:
    path = artifact.path(relative)
    if not path.is_file():
        message = f"launcher entry {relative} is not there"
        raise FormatError(message, hint="write it, or correct the entry in rra.yaml")
    return sha256_file(path)
