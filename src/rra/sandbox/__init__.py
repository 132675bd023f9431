"""Isolation of launchers: bubblewrap, Apptainer, the image of a container, or none."""

from __future__ import annotations

from rra.sandbox.apptainer import Apptainer, ApptainerSandbox, find_apptainer, try_apptainer
from rra.sandbox.cgroups import memory_of_machine, try_groups
from rra.sandbox.choice import NAMES, best_sandbox, find_builder, image_sandbox, probe
from rra.sandbox.confined import ConfinedSandbox, confined
from rra.sandbox.container import ContainerSandbox, end_container
from rra.sandbox.devices import Gpu, gpus, selection, shown
from rra.sandbox.engine import Engine, find_engine, try_engine
from rra.sandbox.limits import Limits
from rra.sandbox.protocol import Availability, Sandbox, Usage, View

__all__ = [
    "NAMES",
    "Apptainer",
    "ApptainerSandbox",
    "Availability",
    "ConfinedSandbox",
    "ContainerSandbox",
    "Engine",
    "Gpu",
    "Limits",
    "Sandbox",
    "Usage",
    "View",
    "best_sandbox",
    "confined",
    "end_container",
    "find_apptainer",
    "find_builder",
    "find_engine",
    "gpus",
    "image_sandbox",
    "memory_of_machine",
    "probe",
    "selection",
    "shown",
    "try_apptainer",
    "try_engine",
    "try_groups",
]
