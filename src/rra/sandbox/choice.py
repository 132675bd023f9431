"""Choosing the isolation by what works, not by what is installed."""

from __future__ import annotations

from rra._base import process
from rra.errors import ToolMissingError, UsageError
from rra.sandbox.bubblewrap import BubblewrapSandbox, try_bubblewrap
from rra.sandbox.plain import PlainSandbox
from rra.sandbox.protocol import Availability, Sandbox

NAMES = ("bwrap", "none")
"""Names of the sandboxes, strongest first."""


def best_sandbox(prefer: str | None = None) -> Sandbox:
    """Return the strongest sandbox in which a program runs here.

    Args:
        prefer: Take this one, or fail.

    Raises:
        UsageError: There is none of that name.
        ToolMissingError: That one does not work here.
    """
    if prefer is not None and prefer not in NAMES:
        message = f"no sandbox is called {prefer!r}"
        raise UsageError(message, hint=f"sandboxes: {', '.join(NAMES)}")
    if prefer == "none":
        return PlainSandbox()
    trial = try_bubblewrap()
    program = process.find_tool("bwrap")
    if trial.works and program is not None:
        return BubblewrapSandbox(program)
    if prefer == "bwrap":
        message = f"bubblewrap does not work here: {trial.why}"
        hint = "install it (apt-get install bubblewrap), allow user namespaces, or use none"
        raise ToolMissingError(message, hint=hint)
    return PlainSandbox()


def probe() -> list[Availability]:
    """Say which sandboxes work on this machine and why, by running a program in each."""
    plain = Availability("none", works=True, why="always works and isolates nothing")
    return [try_bubblewrap(), plain]
