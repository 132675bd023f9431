"""What every way of isolating a launcher offers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol

from rra.sandbox.devices import accelerators
from rra.sandbox.limits import NO_LIMITS, Limits, Resource

Level = Literal["bwrap", "container", "none"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a launcher may see and change; everything that is not named is out of reach.

    Paths inside equal paths outside, except that `temporary` is also ``/tmp``.

    Attributes:
        read_only: Files and folders that it may read.
        writable: Folders that it may change.
        hidden: Folders inside the readable ones that look empty, and files that cannot be read.
        temporary: Folder of its own for temporary files.
        cwd: Working directory.
        env: Its whole environment.
        network: Whether it has one.
        limits: What all its processes may use together.
        devices: Devices of accelerators that it is shown; None for all.
    """

    read_only: Sequence[Path] = ()
    writable: Sequence[Path] = ()
    hidden: Sequence[Path] = ()
    temporary: Path
    cwd: Path
    env: Mapping[str, str]
    network: bool = False
    limits: Limits = NO_LIMITS
    devices: Sequence[Path] | None = None

    def accelerators(self) -> Sequence[Path]:
        """Return the devices of accelerators that it is shown."""
        return accelerators() if self.devices is None else self.devices


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What all processes of a launcher did together, as far as the system counts it.

    Attributes:
        cpu_seconds: User and system time; None where nothing counts it.
        peak_bytes: Most memory at one time, file caches included; None where nothing counts it.
        memory_kills: How many of them the kernel ended for want of memory.
        refused_processes: How often one could not be started for the limit.
    """

    cpu_seconds: float | None = None
    peak_bytes: int | None = None
    memory_kills: int = 0
    refused_processes: int = 0


class Sandbox(Protocol):
    """One way of isolating a launcher.

    Attributes:
        name: Word that the execution record uses.
        gaps: What it does not hold back, as sentences for the record.
        limited: Which limits of a view it sets by itself.
        programs: How many programs the wrapped command executes before the launcher.
        followed: Whether a tracer outside sees the programs inside.
        descends: Whether all that runs inside descends from the wrapped command.
        refusal: Exit status by which it says that it could not begin; None where a trace says so.
    """

    @property
    def name(self) -> Level:
        """Word that the execution record uses."""

    @property
    def gaps(self) -> tuple[str, ...]:
        """What it does not hold back, as sentences for the record."""

    @property
    def limited(self) -> tuple[Resource, ...]:
        """Which limits of a view it sets by itself."""

    @property
    def programs(self) -> int:
        """How many programs the wrapped command executes before the launcher."""

    @property
    def followed(self) -> bool:
        """Whether a tracer outside sees the programs inside."""

    @property
    def descends(self) -> bool:
        """Whether all that runs inside descends from the wrapped command."""

    @property
    def refusal(self) -> int | None:
        """Exit status by which it says that it could not begin; None where a trace says so."""

    def temporary_path(self, temporary: Path) -> Path:
        """Return where the launcher finds the folder that we know as `temporary`."""

    def wrap(self, argv: Sequence[str], view: View) -> list[str]:
        """Return the command that runs `argv` in this view.

        It is started with a plain environment: `View.env` reaches the launcher alone, so that
        nothing in it (``LD_PRELOAD``, say) acts on what isolates it.
        """

    def ask_to_end(self, view: View, pid: int, seconds: float) -> None:
        """Ask the launcher to end, and return when it has, or when the time is over.

        Args:
            view: What the wrapped command was made with.
            pid: Process of the wrapped command.
            seconds: How long to wait.
        """

    def finish(self, view: View) -> Usage | None:
        """End what outlived the wrapped command; called once when that has ended, however.

        Returns:
            What the launcher used, where the sandbox counts it.
        """


@dataclasses.dataclass(frozen=True, slots=True)
class Availability:
    """Whether a way of isolating or recording works on this machine, found by trying it.

    Attributes:
        name: Its word in the execution record.
        works: Whether the trial succeeded.
        why: Version, or what failed.
    """

    name: str
    works: bool
    why: str
