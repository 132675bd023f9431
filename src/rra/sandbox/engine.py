"""podman, or docker elsewhere: the program that builds, keeps and enters images."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Sequence
from pathlib import Path

from rra._base import process
from rra._base.process import Completed
from rra.errors import ToolMissingError
from rra.sandbox.protocol import Availability

ENGINES = ("podman", "docker")
"""Names of the engines, in the order in which they are asked."""

_TRIAL_SECONDS, _BUILD_SECONDS = 60.0, 3600.0
_OWN = ("HOME", "PATH", "USER", "XDG_", "CONTAINERS_", "CONTAINER_", "DOCKER_", "REGISTRY_AUTH_")
"""Starts of variables of the caller that tell an engine where its settings and images are."""

_CONTROLLERS = {
    "podman": "{{.Host.CgroupControllers}}",
    "docker": "{{if .MemoryLimit}}memory{{end}} {{if .PidsLimit}}pids{{end}} "
    "{{if .CPUCfsQuota}}cpu{{end}}",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Engine:
    """A container engine that answers: its name and its program."""

    name: str
    program: Path

    def run(self, arguments: Sequence[str | Path], *, timeout: float = _BUILD_SECONDS) -> Completed:
        """Run one command of the engine to its end."""
        return process.run([self.program, *arguments], timeout=timeout)

    @property
    def at_once(self) -> list[str]:
        """Options that remove a container without waiting for it to end by itself."""
        return ["--time", "0"] if self.name == "podman" else []

    def image(self, name: str) -> str | None:
        """Return the id of an image that the engine has, or None: ``sha256:`` and 64 digits."""
        done = self.run(["image", "inspect", "--format", "{{.Id}}", name], timeout=_TRIAL_SECONDS)
        found = done.stdout.strip()
        return f"sha256:{found.removeprefix('sha256:')}" if done.ok and found else None

    def asked(self, image: str, script: str, *, timeout: float) -> Completed:
        """Have the shell of an image carry out a script, without network or any file of ours."""
        options = ["--rm", "--pull=never", "--network=none", "--log-driver=none", "--cap-drop=all"]
        command = ["run", *options, "--entrypoint", "", image, "/bin/sh", "-c", script]
        return self.run(command, timeout=timeout)

    def variables(self, image: str) -> dict[str, str]:
        """Return the variables that an image sets."""
        shown = self.run(["image", "inspect", "--format", "{{json .Config.Env}}", image])
        entries = json.loads(shown.stdout or "null") or []
        return dict(entry.split("=", 1) for entry in entries if "=" in entry)

    def controllers(self) -> tuple[str, ...]:
        """Return which of ``memory``, ``pids`` and ``cpu`` the engine can limit here."""
        return _controllers(self.name, self.program, tuple(self.settings()))

    def settings(self) -> list[str]:
        """Return ``NAME=value`` of the variables by which the engine finds what it has."""
        found = {name: os.environ[name] for name in os.environ if name.startswith(_OWN)}
        return [f"{name}={value}" for name, value in sorted(found.items())]


def find_engine(wanted: str | None = None) -> Engine:
    """Return the engine that works here, found by asking it, podman before docker.

    Args:
        wanted: Take this one, or fail.

    Raises:
        ToolMissingError: None of them answers; says why.
    """
    reasons = []
    for name in ENGINES if wanted is None else (wanted,):
        program = process.find_tool(name)
        if program is None:
            reasons.append(f"{name} is not on PATH")
            continue
        fault = _fault(program, tuple(Engine(name, program).settings()))
        if fault is None:
            return Engine(name, program)
        reasons.append(f"{name} does not work: {fault}")
    message = f"no container engine works here: {'; '.join(reasons)}"
    raise ToolMissingError(message, hint="install podman, or start docker")


@functools.cache
def _fault(program: Path, settings: tuple[str, ...]) -> str | None:
    """Ask an engine for its state, once for each program and settings; None where it answers."""
    del settings  # part of the key alone: the engine reads them from our environment
    done = process.run([program, "info"], timeout=_TRIAL_SECONDS)
    return None if done.ok else done.last_error(1) or f"exit status {done.returncode}"


@functools.cache
def _controllers(name: str, program: Path, settings: tuple[str, ...]) -> tuple[str, ...]:
    """Ask an engine what it can limit: podman names controllers, docker answers one by one."""
    del settings  # part of the key alone: the engine reads them from our environment
    template = _CONTROLLERS[name]
    done = process.run([program, "info", "--format", template], timeout=_TRIAL_SECONDS)
    words = done.stdout.replace("[", " ").replace("]", " ").split() if done.ok else []
    return tuple(one for one in ("memory", "pids", "cpu") if one in words)


def try_engine() -> Availability:
    """Say whether an engine answers here, and which."""
    try:
        found = find_engine()
    except ToolMissingError as error:
        return Availability("container", works=False, why=error.message)
    version = process.run([found.program, "--version"], timeout=_TRIAL_SECONDS).stdout.strip()
    return Availability("container", works=True, why=version or found.name)
