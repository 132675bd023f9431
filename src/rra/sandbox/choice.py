"""Choosing the isolation by what works, not by what is installed."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from rra._base import process
from rra.errors import ToolMissingError, UsageError
from rra.sandbox.apptainer import (
    PROGRAMS,
    SUFFIX,
    Apptainer,
    ApptainerSandbox,
    find_apptainer,
    try_apptainer,
)
from rra.sandbox.bubblewrap import BubblewrapSandbox, try_bubblewrap
from rra.sandbox.container import ContainerSandbox
from rra.sandbox.engine import ENGINES, Engine, find_engine
from rra.sandbox.plain import PlainSandbox
from rra.sandbox.protocol import Availability, Sandbox

NAMES = ("bwrap", "apptainer", "none")
"""Names of the sandboxes, strongest first."""

CHOSEN = "RRA_CONTAINER_ENGINE"
"""Variable that names the container engine to take."""


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
    if prefer == "apptainer":
        return ApptainerSandbox(find_apptainer())
    trial = try_bubblewrap()
    program = process.find_tool("bwrap")
    if trial.works and program is not None:
        return BubblewrapSandbox(program)
    if prefer == "bwrap":
        message = f"bubblewrap does not work here: {trial.why}"
        hint = "install it (apt-get install bubblewrap), allow user namespaces, or use none"
        raise ToolMissingError(message, hint=hint)
    with contextlib.suppress(ToolMissingError):
        return ApptainerSandbox(find_apptainer())
    return PlainSandbox()


def find_builder() -> Engine | Apptainer:
    """Return what builds and enters images here: podman or docker, else Apptainer.

    ``RRA_CONTAINER_ENGINE`` names one of them that is to be taken.

    Raises:
        UsageError: The variable names something else.
        ToolMissingError: None of them works here, or not the one that is named.
    """
    wanted = os.environ.get(CHOSEN) or None
    if wanted is not None and wanted not in {*ENGINES, *PROGRAMS}:
        message = f"{CHOSEN} names {wanted!r}, which is no container engine that rra knows"
        raise UsageError(message, hint=f"engines: {', '.join((*ENGINES, *PROGRAMS))}")
    if wanted in PROGRAMS:
        return find_apptainer()
    try:
        return find_engine(wanted)
    except ToolMissingError:
        if wanted is None:
            with contextlib.suppress(ToolMissingError):
                return find_apptainer()
        raise


def image_sandbox(image: str) -> Sandbox:
    """Return what enters an image: Apptainer for one that is a file, else podman or docker.

    Args:
        image: Path of the file, or a name that the engine knows.

    Raises:
        ToolMissingError: None of them works here.
    """
    if Path(image).suffix == SUFFIX:
        return ApptainerSandbox(find_apptainer(), image)
    return ContainerSandbox(find_engine(), image)


def probe() -> list[Availability]:
    """Say which sandboxes work on this machine and why, by running a program in each."""
    plain = Availability("none", works=True, why="always works and isolates nothing")
    return [try_bubblewrap(), try_apptainer(), plain]
