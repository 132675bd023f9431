"""How a run ended, in the words of the format."""

from __future__ import annotations

from typing import Literal

Termination = Literal[
    "ok",
    "exit",
    "signal",
    "timeout",
    "memory",
    "disk",
    "network-denied",
    "cancelled",
    "infrastructure",
]
"""How a run ended."""
