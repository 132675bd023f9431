"""Where the tasks of a plan run: on this machine, or wherever a distribution adds a backend for."""

from __future__ import annotations

from rra.launch.backends.choice import GROUP, find_backend
from rra.launch.backends.local import LocalBackend
from rra.launch.backends.protocol import Backend, Campaign, Running, Session

__all__ = [
    "GROUP",
    "Backend",
    "Campaign",
    "LocalBackend",
    "Running",
    "Session",
    "find_backend",
]
