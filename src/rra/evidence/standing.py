"""Is a record still one of the artifact as it is?"""

from __future__ import annotations

from rra._base.files import sha256_file
from rra.artifact import Artifact
from rra.errors import RraError
from rra.model import ExecutionRecord

_NOT_COMPARED = frozenset({"output", "reference"})


def changed_since(artifact: Artifact, record: ExecutionRecord) -> list[str]:
    """Return the files that a run used and that are others now, each once.

    Compared are its inputs (outputs of earlier launchers and references excepted), its entry,
    which for a notebook is the code itself, and the lock of its environment.

    Args:
        artifact: The artifact.
        record: A record of one of its runs.
    """
    changed = [
        item.path
        for item in record.inputs
        if item.role not in _NOT_COMPARED and _digest_now(artifact, item.path) != item.sha256
    ]
    launcher = artifact.manifest.launchers.get(record.launcher.id)
    if launcher is not None and _digest_now(artifact, launcher.entry) != record.launcher.sha256:
        changed.append(launcher.entry)
    environment = artifact.manifest.environments.get(record.environment.id)
    lock = environment.lock if environment is not None else None
    if lock is not None and _digest_now(artifact, lock) != record.environment.lock:
        changed.append(lock)
    return list(dict.fromkeys(changed))


def _digest_now(artifact: Artifact, relative: str) -> str | None:
    try:
        path = artifact.path(relative)
        return sha256_file(path) if path.is_file() else None
    except (RraError, OSError):
        return None
