"""What has changed in an artifact since ``rra.lock`` was written."""

from __future__ import annotations

from collections.abc import Iterator

from rra._base.files import sha256_file
from rra.artifact import Artifact, layout
from rra.artifact.lockfile import data_lock
from rra.artifact.tree import tree_id
from rra.bundle.identity import CORE_ELEMENTS, core_digest, element_locks
from rra.errors import FormatError
from rra.model import Environment, EnvironmentLock, Lock

_AGAIN = "run: rra lock --keep"


def lock_notes(artifact: Artifact, core: str) -> list[str]:
    """Return what a reader must know of ``rra.lock``: that it is missing, or of other files.

    Args:
        artifact: The artifact.
        core: Its core digest now.

    Raises:
        FormatError: A file of the artifact has no place in an archive.
    """
    try:
        lock = artifact.lock
    except FormatError as error:
        return [f"{layout.LOCK} cannot be read: {error.message}"]
    if lock is None:
        return [f"there is no {layout.LOCK} to compare the files with; {_AGAIN}"]
    if lock.core == core:
        return []
    return [f"{layout.LOCK} is out of date: {'; '.join(changes_since_lock(artifact))}; {_AGAIN}"]


def changes_since_lock(artifact: Artifact) -> list[str]:
    """Return what differs between ``rra.lock`` and the files now; nothing without a lock.

    Raises:
        FormatError: The lock is not one, or a file has no place in an archive.
        UnavailableError: A file changes while it is read.
    """
    lock = artifact.lock
    if lock is None:
        return []
    found = [*_code(artifact, lock), *_environments(artifact, lock), *_launchers(artifact, lock)]
    found += _data(artifact, lock)
    elements = element_locks(artifact)
    if lock.core == core_digest(artifact, elements):
        return found
    named = {change.split()[0] for change in found}
    for name in CORE_ELEMENTS:
        known = lock.elements.get(name)
        if name.removesuffix("s") not in named and (
            known is None or known.diff_id != elements[name].diff_id
        ):
            found.append(f"{name}: other files have changed")
    return found or ["the definition of an environment, a launcher or an outcome has changed"]


def _code(artifact: Artifact, lock: Lock) -> Iterator[str]:
    now = tree_id(artifact.code_root, artifact.code_files())
    if now != lock.code.tree:
        yield f"code has changed: it is {now}, not {lock.code.tree}"


def _environments(artifact: Artifact, lock: Lock) -> Iterator[str]:
    declared = artifact.manifest.environments
    for name, environment in declared.items():
        known = lock.environments.get(name)
        if environment.lock is None or not artifact.path(environment.lock).is_file():
            continue
        if known is None:
            yield f"environment {name} is not in it"
        elif sha256_file(artifact.path(environment.lock)) != known.lock:
            yield f"environment {name} has changed: {environment.lock} is another"
        else:
            yield from _interpreter(artifact, name, environment, known)
    yield from (f"environment {name} is gone" for name in lock.environments if name not in declared)


def _interpreter(
    artifact: Artifact, name: str, environment: Environment, known: EnvironmentLock
) -> Iterator[str]:
    carried = environment.interpreter
    there = carried is not None and artifact.path(carried).is_file()
    now = sha256_file(artifact.path(carried)) if carried is not None and there else None
    if now != known.interpreter:
        what = "is not in it" if known.interpreter is None else "is another" if now else "is gone"
        yield f"environment {name} has changed: the interpreter it carries {what}"


def _launchers(artifact: Artifact, lock: Lock) -> Iterator[str]:
    declared = artifact.manifest.launchers
    for name, launcher in declared.items():
        if not artifact.path(launcher.entry).is_file():
            continue
        if name not in lock.launchers:
            yield f"launcher {name} is not in it"
        elif sha256_file(artifact.path(launcher.entry)) != lock.launchers[name]:
            yield f"launcher {name} has changed: {launcher.entry} is another"
    yield from (f"launcher {name} is gone" for name in lock.launchers if name not in declared)


def _data(artifact: Artifact, lock: Lock) -> Iterator[str]:
    declared = artifact.manifest.data
    for name, item in declared.items():
        known = lock.data.get(name)
        if item.access != "bundled" or not artifact.path(item.path).exists():
            continue
        if known is None:
            yield f"data {name} is not in it"
        elif data_lock(artifact, item.path).sha256 != known.sha256:
            yield f"data {name} has changed: {item.path} is another"
    yield from (f"data {name} is gone" for name in lock.data if name not in declared)
