"""No isolation: an ordinary process, said loudly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rra._base import proctree
from rra.sandbox.limits import Resource
from rra.sandbox.protocol import Level, View


class PlainSandbox:
    """Runs a launcher as an ordinary process with the rights of whoever calls."""

    @property
    def name(self) -> Level:
        """Word that the execution record uses."""
        return "none"

    @property
    def gaps(self) -> tuple[str, ...]:
        """What it does not hold back."""
        return (
            "the launcher could read any file of the user, references included",
            "the launcher could write outside its own folders, the artifact included",
            "the network was open, whatever the launcher declares",
            "a process that left its session and cleared its environment could outlive the run",
        )

    @property
    def limited(self) -> tuple[Resource, ...]:
        """What it holds the launcher to by itself: nothing, that is left to a control group."""
        return ()

    @property
    def programs(self) -> int:
        """How many programs the wrapped command executes before the launcher."""
        return 1

    @property
    def followed(self) -> bool:
        """Whether a tracer outside sees the programs inside."""
        return True

    @property
    def descends(self) -> bool:
        """Whether all that runs inside descends from the wrapped command."""
        return True

    @property
    def refusal(self) -> int | None:
        """Exit status by which it says that it could not begin: the trace says so."""
        return None

    def temporary_path(self, temporary: Path) -> Path:
        """Return where the launcher finds the folder that we know as `temporary`: there."""
        return temporary

    def wrap(self, argv: Sequence[str], view: View) -> list[str]:
        """Return the command that runs `argv` with the view's environment and nothing else."""
        variables = [f"{name}={value}" for name, value in sorted(view.env.items())]
        return ["/usr/bin/env", "-i", *variables, *argv]

    def ask_to_end(self, view: View, pid: int, seconds: float) -> None:  # noqa: ARG002 - as the others
        """Ask every process of the launcher's group to end."""
        proctree.ask_group(pid, seconds)

    def finish(self, view: View) -> None:
        """Do nothing: the launcher is a child of ours, which is ended and measured as such."""
