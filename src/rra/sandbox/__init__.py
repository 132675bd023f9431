"""Isolation of launchers: one protocol, bubblewrap where it works, none where it does not."""

from __future__ import annotations

from rra.sandbox.choice import NAMES, best_sandbox, probe
from rra.sandbox.protocol import Availability, Sandbox, View

__all__ = ["NAMES", "Availability", "Sandbox", "View", "best_sandbox", "probe"]
