"""What every kind of environment offers: each verb asks it in one way."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from rra.environment.answers import CheckedEnvironment, ExplainedPackage, GatheredEnvironment
from rra.environment.built import Built
from rra.environment.carried import Unpack
from rra.environment.carry import CarriedFiles
from rra.environment.difference import Side
from rra.environment.why import Reasons
from rra.errors import Problem
from rra.model import Environment
from rra.sandbox.protocol import Level

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.sandbox import Sandbox

Progress = Callable[[str], None]
Ability = Literal["lock", "search", "carry", "build", "imports", "wheels", "run"]
"""What not every kind can do: ``rra lock``, its ``--search`` and its ``--wheels``, ``rra env
build`` and its ``--imports``, ``rra env wheels``, and starting launchers in it. Every kind can be
checked, explained and compared."""


def silent(_step: str) -> None:
    """Tell nobody."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What an environment consists of, read from its files; nothing is built or asked for.

    Attributes:
        kind: Word of the format, or the language where the format has none.
        version: Version of the interpreter or the base; empty when none is named.
        packages: ``name version`` of each package that is known, sorted.
        unknown: Packages that cannot be had without the tool of this kind.
        files: Files it was read from, relative to the folder that was looked at.
        rebuilt: How it can be built again, in one sentence.
        problems: What could not be read.
    """

    kind: str
    version: str = ""
    packages: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    rebuilt: str = ""
    problems: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LockRequest:
    """What is locked: an environment of an artifact, what it asks for, as of which day."""

    root: Path
    id: str
    env: Environment
    requirements: tuple[str, ...] = ()
    as_of: str | None = None
    reasons: Reasons | None = None
    progress: Progress = silent


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class KindLock:
    """A lock that was written: its path, None where the kind has none, and what it holds.

    Attributes:
        notes: What a person should know, one line each.
    """

    lock: Path | None
    packages: tuple[str, ...] = ()
    python: str = ""
    changed: bool = False
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """What is checked.

    Attributes:
        artifact: The artifact.
        id: Environment's id.
        needed: Tells what the code needs (PEP 508), for a kind that asks.
        available: Whether the files that are locked are asked for, too.
        progress: Told about steps that may last.
    """

    artifact: Artifact
    id: str
    needed: Callable[[], Sequence[str]] = tuple
    available: bool = False
    progress: Progress = silent


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What is built: an environment of an artifact, where, and with what.

    Attributes:
        artifact: The artifact.
        id: Environment's id.
        target: Folder to build in anew; None for the cache. A kind that has no use for a folder
            builds anew all the same.
        progress: Told about steps that may last.
        unpack: Unpacks an interpreter that the artifact carries.
        sandbox: What such an interpreter runs in.
    """

    artifact: Artifact
    id: str
    target: Path | None = None
    progress: Progress = silent
    unpack: Unpack | None = None
    sandbox: Sandbox | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CarryRequest:
    """What is put beside a lock: its files, and a packed interpreter where one is given."""

    root: Path
    id: str
    env: Environment
    archive: Path | None = None
    progress: Progress = silent


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GatherRequest:
    """What is brought here: the files of a lock, into a folder where one is named."""

    artifact: Artifact
    id: str
    folder: Path | None = None
    progress: Progress = silent


class EnvironmentKind(Protocol):
    """One kind of environment.

    An installed distribution adds one by an entry point of the group
    ``rra.environment_kinds`` whose name is the kind and whose object makes it. What it need not
    know better it takes from `rra.environment.kinds.DescribedKind`.
    """

    @property
    def name(self) -> str:
        """Word that the manifest uses."""

    @property
    def isolation(self) -> Level | None:
        """Level of the isolation that it brings itself; None where a sandbox is chosen."""

    def can(self) -> frozenset[Ability]:
        """Return what this kind does here; asked for what else, it refuses and says why."""

    def detect(self, root: Path) -> tuple[str, ...]:
        """Return the files under a folder that this kind is described by."""

    def describe(self, root: Path, env: Environment) -> Description:
        """Say what an environment consists of, from the files of an artifact or repository."""

    def lock(self, request: LockRequest) -> KindLock:
        """Write what fixes the environment.

        Raises:
            LockError: It cannot be fixed, or only with a tool that is not here.
            UsageError: The manifest does not say enough.
        """

    def carry(self, request: CarryRequest) -> CarriedFiles:
        """Put what was locked beside the lock, so that no index is needed.

        Raises:
            UnavailableError: This kind carries nothing.
            UsageError: It is not locked, or names other places for the files.
            LockError: A file cannot be had.
        """

    def check(self, request: CheckRequest) -> tuple[CheckedEnvironment, list[Problem]]:
        """Say whether the lock says what the files around it say; nothing is built.

        Raises:
            UsageError: It is not locked.
            FormatError: The lock cannot be read.
            LockError: An index that was to be asked cannot be reached.
        """

    def build(self, request: BuildRequest) -> Built:
        """Build the environment, or find the one that was built from the same files.

        Raises:
            EnvironmentBuildError: It cannot be built here.
            ToolMissingError: What builds it is not installed.
            CorruptError: A file is not the one that was locked.
        """

    def gather(self, request: GatherRequest) -> GatheredEnvironment:
        """Bring the files of a lock here, each once.

        Raises:
            UnavailableError: This kind has no such files.
            LockError: A file is nowhere to be had.
        """

    def explain(self, artifact: Artifact, env_id: str, package: str) -> ExplainedPackage | None:
        """Say why a package (normalised name) has its version; None where it is not locked."""

    def side(self, artifact: Artifact, env_id: str) -> Side:
        """Return what is locked, to be compared.

        Raises:
            UsageError: It is not locked.
            FormatError: The lock cannot be read.
        """
