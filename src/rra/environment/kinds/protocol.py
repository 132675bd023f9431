"""What every kind of environment offers: found, described, locked and built in one way."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rra.environment.carried import Unpack
from rra.environment.materialise import MaterialisedEnvironment
from rra.environment.why import Reasons
from rra.model import Environment

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.sandbox import Sandbox

Progress = Callable[[str], None]


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
    """A lock that was written: its path, None where the kind has none, and what it holds."""

    lock: Path | None
    packages: tuple[str, ...] = ()
    changed: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What is built: an environment of an artifact, where, and with what."""

    artifact: Artifact
    id: str
    target: Path | None = None
    progress: Progress = silent
    unpack: Unpack | None = None
    sandbox: Sandbox | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """An environment that is there now.

    Attributes:
        id: Environment's id.
        kind: Its kind.
        digest: What names it: of the lock, or of the image.
        environment: The installed environment, for a kind that has one.
        image: Name of the image, for a container.
    """

    id: str
    kind: str
    digest: str
    environment: MaterialisedEnvironment | None = None
    image: str | None = None


class EnvironmentKind(Protocol):
    """One kind of environment.

    An installed distribution adds one by an entry point of the group
    ``rra.environment_kinds`` whose name is the kind and whose object makes it.
    """

    @property
    def name(self) -> str:
        """Word that the manifest uses."""

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

    def build(self, request: BuildRequest) -> Built:
        """Build the environment, or find the one that was built from the same files.

        Raises:
            EnvironmentBuildError: It cannot be built here.
            ToolMissingError: What builds it is not installed.
            CorruptError: A file is not the one that was locked.
        """
