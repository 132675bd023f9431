"""podman, or docker elsewhere: the program that builds and keeps images."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from rra._base import process
from rra._base.process import Completed
from rra.errors import ToolMissingError

_TRIAL_SECONDS, _BUILD_SECONDS = 60.0, 3600.0


@dataclasses.dataclass(frozen=True, slots=True)
class Engine:
    """A container engine that answers: its name and its program."""

    name: str
    program: Path

    def run(self, arguments: Sequence[str | Path], *, timeout: float = _BUILD_SECONDS) -> Completed:
        """Run one command of the engine to its end."""
        return process.run([self.program, *arguments], timeout=timeout)

    def image(self, name: str) -> str | None:
        """Return the id of an image that the engine has, or None: ``sha256:`` and 64 digits."""
        done = self.run(["image", "inspect", "--format", "{{.Id}}", name], timeout=_TRIAL_SECONDS)
        found = done.stdout.strip()
        return f"sha256:{found.removeprefix('sha256:')}" if done.ok and found else None


def find_engine() -> Engine:
    """Return the engine that works here, found by asking it, podman before docker.

    Raises:
        ToolMissingError: None of them answers; says why.
    """
    reasons = []
    for name in ("podman", "docker"):
        program = process.find_tool(name)
        if program is None:
            reasons.append(f"{name} is not on PATH")
            continue
        done = process.run([program, "info"], timeout=_TRIAL_SECONDS)
        if done.ok:
            return Engine(name, program)
        reasons.append(f"{name} does not work: {done.last_error(1)}")
    message = f"no container engine works here: {'; '.join(reasons)}"
    raise ToolMissingError(message, hint="install podman, or start docker")
