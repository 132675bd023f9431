"""Accelerators of this machine, which every sandbox lets through."""

from __future__ import annotations

from pathlib import Path

_DEVICES = ("nvidia*", "dri", "kfd")


def accelerators() -> list[Path]:
    """Return the devices of accelerators, where there are any."""
    return [path for pattern in _DEVICES for path in sorted(Path("/dev").glob(pattern))]
