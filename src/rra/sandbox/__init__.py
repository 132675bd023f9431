"""Isolation of launchers: one protocol; bubblewrap, the image of a container, or none."""

from __future__ import annotations

from rra.sandbox.cgroups import memory_of_machine, try_groups
from rra.sandbox.choice import NAMES, best_sandbox, probe
from rra.sandbox.confined import ConfinedSandbox, confined
from rra.sandbox.container import ContainerSandbox
from rra.sandbox.engine import Engine, find_engine, try_engine
from rra.sandbox.limits import Limits
from rra.sandbox.protocol import Availability, Sandbox, Usage, View

__all__ = [
    "NAMES",
    "Availability",
    "ConfinedSandbox",
    "ContainerSandbox",
    "Engine",
    "Limits",
    "Sandbox",
    "Usage",
    "View",
    "best_sandbox",
    "confined",
    "find_engine",
    "memory_of_machine",
    "probe",
    "try_engine",
    "try_groups",
]
