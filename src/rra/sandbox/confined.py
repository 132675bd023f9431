"""A sandbox whose launcher is held to limits, and which says which of them could not be set."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from rra.sandbox.cgroups import ControlGroup, able_places
from rra.sandbox.limits import Limits, Resource, unlimited
from rra.sandbox.protocol import Level, Sandbox, Usage, View


class ConfinedSandbox:
    """One run in a sandbox: what isolates it, and the control group that holds it to limits.

    A sandbox that starts its launcher out of our reach sets the limits of the view by itself.
    """

    def __init__(self, inner: Sandbox, limits: Limits, group: ControlGroup | None) -> None:
        """Take a group that was made for this run; None where there is none."""
        self._inner, self._limits, self._group = inner, limits, group
        self._told: Usage | None = None

    @property
    def name(self) -> Level:
        """Word that the execution record uses."""
        return self._inner.name

    @property
    def limited(self) -> tuple[Resource, ...]:
        """What is really limited."""
        return self._group.limited if self._group is not None else self._inner.limited

    @property
    def gaps(self) -> tuple[str, ...]:
        """What it does not hold back, limits that could not be set included."""
        missing = (one for one in self._limits.named() if one not in self.limited)
        return (*self._inner.gaps, *map(unlimited, missing))

    @property
    def held(self) -> dict[str, int | float]:
        """The limits that hold, by name."""
        return self._limits.held(self.limited)

    @property
    def programs(self) -> int:
        """How many programs the wrapped command executes before the launcher."""
        return self._inner.programs + (1 if self._group is not None and self._group.members else 0)

    @property
    def followed(self) -> bool:
        """Whether a tracer outside sees the programs inside."""
        return self._inner.followed

    @property
    def descends(self) -> bool:
        """Whether all that runs inside descends from the wrapped command."""
        return self._inner.descends

    @property
    def refusal(self) -> int | None:
        """Exit status by which it says that it could not begin."""
        return self._inner.refusal

    def refused(self, returncode: int) -> bool:
        """Tell, after `finish`, whether what isolates the launcher failed before that began."""
        return self._told is None and returncode == self.refusal

    def temporary_path(self, temporary: Path) -> Path:
        """Return where the launcher finds the folder that we know as `temporary`."""
        return self._inner.temporary_path(temporary)

    @property
    def members(self) -> list[Path]:
        """Files that list the processes of the launcher."""
        return self._group.members if self._group is not None else []

    def wrap(self, argv: Sequence[str], view: View) -> list[str]:
        """Return the command that runs `argv` in this view, within the limits."""
        command = self._inner.wrap(argv, view)
        return command if self._group is None else self._group.joined(command)

    def ask_to_end(self, view: View, pid: int, seconds: float) -> None:
        """Ask the launcher to end, and return when it has, or when the time is over."""
        self._inner.ask_to_end(view, pid, seconds)

    def end_all(self) -> int:
        """Kill whatever of the launcher still runs, as far as it can be told; say how many."""
        return self._group.end_all() if self._group is not None else 0

    def memory_kills(self) -> int:
        """Return how many processes of the launcher were ended for want of memory so far."""
        return self._group.used().memory_kills if self._group is not None else 0

    def finish(self, view: View) -> Usage | None:
        """End what outlived the wrapped command, and return what the launcher used."""
        self._told = self._inner.finish(view)
        return self._told if self._group is None else self._group.used()


@contextlib.contextmanager
def confined(sandbox: Sandbox, limits: Limits) -> Iterator[ConfinedSandbox]:
    """Hold one run in a sandbox to limits, as far as this machine allows.

    Args:
        sandbox: What isolates it.
        limits: What all its processes may use together; the view has to have the same.
    """
    if not sandbox.descends:
        yield ConfinedSandbox(sandbox, limits, None)
        return
    group = ControlGroup(limits, able_places())
    try:
        yield ConfinedSandbox(sandbox, limits, group)
    finally:
        group.end_all()
        group.remove()
