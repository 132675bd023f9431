"""`rra.lock`: what a machine knows of an artifact (spec: lock)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rra.model.base import Digest, FormatVersion, Id, Object


class ElementLock(Object):
    """One element as a canonical archive: its digest, number of files and bytes."""

    diff_id: Digest
    files: int
    size: int


class FileLock(Object):
    """One file or folder of data: digest and size in bytes."""

    sha256: Digest
    size: int


class EnvironmentLock(Object):
    """One locked environment."""

    lock: Digest
    requirements: Digest
    python: str
    packages: int
    as_of: str | None = None


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
    elements: dict[str, ElementLock]
    environments: dict[Id, EnvironmentLock]
    launchers: dict[Id, Digest]
    data: dict[Id, FileLock]
