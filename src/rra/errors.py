"""Every error that `rra` raises on purpose.

The tree, with the process exit code of each branch::

    RraError
    ├── UsageError (2)                the call itself is off
    │   └── NotAnArtifactError        the directory holds no rra.yaml
    ├── FormatError (4)               a document breaks the format; carries problems
    ├── UnsafePathError (4)           a path leads outside the place it belongs to
    ├── CorruptError (4)              bytes are not what a digest says
    │   └── ArchiveError              an archive is not one that the format allows
    ├── UnavailableError (3)          something outside is missing or refused
    │   ├── ToolMissingError          a program is not installed
    │   ├── LockError                 an environment cannot be locked
    │   │   ├── NoSolutionError       no versions satisfy its requirements
    │   │   └── OtherFileError        an index has another file than the author's lock says
    │   ├── EnvironmentBuildError     a lock cannot be materialised
    │   │   └── PlatformError         what it carries is not for this machine
    │   ├── StorageError              no space, no permission
    │   └── RegistryError             a registry is absent, refuses, or breaks off
    │       └── LoginError            it wants a login, or refuses the one it got
    ├── LaunchError (1)               a launcher did not succeed
    ├── SelectError (1)               a value is missing, ambiguous or not a number
    ├── PatchError (1)                a repair does not apply
    └── InternalError (70)            a fault of rra itself
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

Severity = Literal["error", "warning"]


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """One fault in one document, with its place.

    Attributes:
        message: What is wrong, with the value.
        path: File as the user named it, or relative to the artifact.
        line: 1-based line, when known.
        column: 1-based column, when known.
        pointer: JSON pointer (RFC 6901) of the faulty value.
        clause: Clause of the specification or slug that the value breaks.
        hint: What to do next.
        severity: ``error`` stops the document from being used, ``warning`` does not.
    """

    message: str
    path: str
    line: int | None = None
    column: int | None = None
    pointer: str = ""
    clause: str = ""
    hint: str = ""
    severity: Severity = "error"

    @property
    def place(self) -> str:
        """``path:line:column`` with the parts that are known."""
        parts = [self.path, *(str(n) for n in (self.line, self.column) if n is not None)]
        return ":".join(parts)

    def __str__(self) -> str:
        """One line: place, message, clause."""
        clause = f" [{self.clause}]" if self.clause else ""
        return f"{self.place}: {self.message}{clause}"


class RraError(Exception):
    """Base of all errors raised on purpose; what, where, and what to do next.

    Attributes:
        slug: Stable name of the kind of error, as ``rra explain`` takes it.
        exit_code: Exit code of the command line when this error ends it.
        hint: What to do next.
        problems: Single faults, when the error stands for several.
    """

    slug: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str = "", problems: tuple[Problem, ...] = ()) -> None:
        """Keep the message, the hint and the single problems."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.problems = problems


class UsageError(RraError):
    """The call names something that does not exist or does not go together."""

    slug = "usage"
    exit_code = 2


class NotAnArtifactError(UsageError):
    """The directory holds no ``rra.yaml``."""

    slug = "usage/not-an-artifact"


class FormatError(RraError):
    """A document cannot be read as what it should be; every problem is listed.

    Attributes:
        stage: Where it was decided, when known: ``yaml`` (the bytes are no document), ``schema``,
            ``semantic`` or ``artifact``.
    """

    slug = "format/invalid"
    exit_code = 4
    stage: str = ""


class UnsafePathError(RraError):
    """A path leads outside the artifact or the place that it belongs to."""

    slug = "format/unsafe-path"
    exit_code = 4


class CorruptError(RraError):
    """Bytes do not have the digest that vouches for them."""

    slug = "artifact/digest-mismatch"
    exit_code = 4


class ArchiveError(CorruptError):
    """An archive is damaged, larger than allowed, or not one that the format allows."""

    slug = "bundle/archive"


class UnavailableError(RraError):
    """Something outside the artifact is missing or refuses."""

    slug = "unavailable"
    exit_code = 3


class ToolMissingError(UnavailableError):
    """A program that the step needs is not installed."""

    slug = "unavailable/tool"


class LockError(UnavailableError):
    """An environment cannot be locked: resolving, fetching or building a package fails."""

    slug = "environment/unresolvable"


class NoSolutionError(LockError):
    """No versions satisfy the requirements of an environment together."""

    slug = "environment/no-solution"


class OtherFileError(LockError):
    """An index has another file for a package than the one that the author's own lock names."""

    slug = "environment/other-file"


class EnvironmentBuildError(UnavailableError):
    """A locked environment cannot be built on this machine."""

    slug = "environment/build"


class PlatformError(EnvironmentBuildError):
    """What an artifact carries for its environment does not fit this machine."""

    slug = "environment/platform"


class StorageError(UnavailableError):
    """The disk is full or refuses the write."""

    slug = "unavailable/storage"


class RegistryError(UnavailableError):
    """A registry does not answer, answers with an error, or breaks off in the middle."""

    slug = "registry/unavailable"


class LoginError(RegistryError):
    """A registry wants a login, or refuses the one that it was given."""

    slug = "registry/login"


class LaunchError(RraError):
    """A launcher ended without success."""

    slug = "launch/failed"
    exit_code = 1


class SelectError(RraError):
    """A selector finds no value, several values, or something that is not one."""

    slug = "evidence/no-value"
    exit_code = 1


class PatchError(RraError):
    """A repair does not apply to the tree it is written for."""

    slug = "repairs/does-not-apply"
    exit_code = 1


class HungUp(KeyboardInterrupt):
    """The terminal is gone (SIGHUP), such as when a connection broke: an interrupt by nobody."""


class InternalError(RraError):
    """A fault of `rra` itself."""

    slug = "internal"
    exit_code = 70
