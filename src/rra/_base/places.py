"""Where `rra` keeps what it can make again (cache) and what it was told to remember (state)."""

from __future__ import annotations

import os
from pathlib import Path


def cache_root() -> Path:
    """Return the folder of caches: ``$RRA_CACHE``, else ``rra`` in the XDG cache folder."""
    return _place("RRA_CACHE", "XDG_CACHE_HOME", ".cache")


def state_root() -> Path:
    """Return the folder of verifications and audits: ``$RRA_STATE``, else XDG's state folder."""
    return _place("RRA_STATE", "XDG_STATE_HOME", ".local/state")


def _place(own: str, xdg: str, default: str) -> Path:
    if given := os.environ.get(own):
        return Path(given).absolute()
    if base := os.environ.get(xdg):
        return Path(base) / "rra"
    return Path.home() / default / "rra"
