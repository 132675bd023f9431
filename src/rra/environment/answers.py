"""What a kind answers when it is asked about an environment: the same words for every kind."""

from __future__ import annotations

import dataclasses
from pathlib import Path


@dataclasses.dataclass(frozen=True, slots=True)
class Rot:
    """One locked wheel that the index does not offer, or offers with other bytes.

    Attributes:
        package: Name and version.
        wheel: File name.
        state: ``gone`` or ``other``.
        beside: Whether it lies beside the lock, so that nobody needs the index.
    """

    package: str
    wheel: str
    state: str
    beside: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class CheckedEnvironment:
    """One environment and how its lock stands.

    Attributes:
        id: Environment's id.
        kind: Its kind.
        can: Verbs that this kind answers here.
        python: Python that it is for; None where nothing says it.
        packages: How many packages are locked or named.
        wheels: How many files they come from, where the kind locks files.
        beside: How many of these lie beside the lock.
        consistent: Whether the lock says what the other files say.
        available: Whether all files can be had; None where that was not asked.
        gone: Files that the index does not offer as they were locked.
    """

    id: str
    kind: str
    can: tuple[str, ...]
    python: str | None
    packages: int
    wheels: int = 0
    beside: int = 0
    consistent: bool
    available: bool | None = None
    gone: tuple[Rot, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class GatheredEnvironment:
    """The files of one environment.

    Attributes:
        id: Environment's id.
        wheels: How many there are.
        size: Their bytes.
        shared: How many this machine had already, from whatever artifact.
        beside: How many came from beside the lock.
        fetched: How many came from the index.
        folder: Folder that they were linked into, with ``requirements.txt``; None for none.
    """

    id: str
    wheels: int
    size: int
    shared: int
    beside: int
    fetched: int
    folder: Path | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExplainedPackage:
    """Why one environment has a package as it has it; None for what its files do not say.

    Attributes:
        id: Environment's id.
        versions: Versions that are locked.
        requirement: What asks for it.
        place: Where it is asked for, as ``file:line``.
        required_by: Locked packages that need it.
        overtaken_by: The newest version of the day, where the locked one is years older.
        index: Name of the further index of uv's settings that it came from.
        chains: Shortest ways to it from packages that a file asks for.
        manifest: File that was followed.
        manifest_why: Why that file.
        as_of: Day of the resolution.
        as_of_why: Where the day comes from.
        python: Python that it was resolved for.
        python_why: Where the Python comes from.
        tried: What was tried before, one line each.
        recorded: Whether the lock records reasons.
    """

    id: str
    versions: tuple[str, ...]
    requirement: str | None = None
    place: str | None = None
    required_by: tuple[str, ...] = ()
    overtaken_by: str | None = None
    index: str | None = None
    chains: tuple[tuple[str, ...], ...] = ()
    manifest: str | None = None
    manifest_why: str | None = None
    as_of: str | None = None
    as_of_why: str | None = None
    python: str | None = None
    python_why: str | None = None
    tried: tuple[str, ...] = ()
    recorded: bool = False
