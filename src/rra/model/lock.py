"""`rra.lock`: what a machine knows of an artifact (spec: lock)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rra.model.base import Digest, FormatVersion, Id, Object
from rra.model.text import Count, Prose


class ElementLock(Object):
    """One element as a canonical archive: its digest, number of files and bytes."""

    diff_id: Digest
    files: Count
    size: Count


class FileLock(Object):
    """One file or folder of data: digest and size in bytes."""

    sha256: Digest
    size: Count


class EnvironmentLock(Object):
    """One locked environment; next to a pylock all but `as_of` and `interpreter` is known."""

    lock: Digest
    requirements: Digest | None = None
    python: Prose | None = None
    packages: Count | None = None
    as_of: Prose | None = None
    interpreter: Digest | None = None


class ElementLocks(Object):
    """The elements, each as one canonical archive."""

    code: ElementLock
    environment: ElementLock
    launchers: ElementLock
    data: ElementLock
    guide: ElementLock

    def get(self, name: str) -> ElementLock | None:
        """Return the lock of an element by its name."""
        found = getattr(self, name, None)
        return found if isinstance(found, ElementLock) else None


class CodeLock(Object):
    """The tree of the code: the number that git and Software Heritage give it."""

    tree: Annotated[str, Field(pattern=r"^swh:1:dir:[0-9a-f]{40}$")]


class Lock(Object):
    """The whole of `rra.lock`.

    Attributes:
        core: Digest over code, environment, launchers, data and the definitions of
            launchers and outcomes; reproductions name it.
    """

    rra: FormatVersion
    core: Digest
    code: CodeLock
    elements: ElementLocks
    environments: dict[Id, EnvironmentLock]
    launchers: dict[Id, Digest]
    data: dict[Id, FileLock]
