"""Where the tasks of a plan run: here, on Slurm, or where a distribution adds a backend for."""

from __future__ import annotations

from rra.launch.backends.choice import GROUP, find_backend
from rra.launch.backends.local import LocalBackend
from rra.launch.backends.protocol import Backend, Campaign, Running, Session
from rra.launch.backends.slurm import SlurmBackend

__all__ = [
    "GROUP",
    "Backend",
    "Campaign",
    "LocalBackend",
    "Running",
    "Session",
    "SlurmBackend",
    "find_backend",
]
