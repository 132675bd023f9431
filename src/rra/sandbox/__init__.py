"""Isolation of launchers: one protocol; bubblewrap, the image of a container, or none."""

from __future__ import annotations

from rra.sandbox.choice import NAMES, best_sandbox, probe
from rra.sandbox.container import ContainerSandbox
from rra.sandbox.engine import Engine, find_engine, try_engine
from rra.sandbox.protocol import Availability, Sandbox, Usage, View

__all__ = [
    "NAMES",
    "Availability",
    "ContainerSandbox",
    "Engine",
    "Sandbox",
    "Usage",
    "View",
    "best_sandbox",
    "find_engine",
    "probe",
    "try_engine",
]
