"""Where `rra` keeps what it can make again (cache), what it did (state), and what it was told."""

from __future__ import annotations

import os
from pathlib import Path

from rra.errors import StorageError


def cache_root() -> Path:
    """Return the folder of caches: ``$RRA_CACHE``, else ``rra`` in the XDG cache folder."""
    return _place("RRA_CACHE", "XDG_CACHE_HOME", ".cache")


def state_root() -> Path:
    """Return the folder of verifications and audits: ``$RRA_STATE``, else XDG's state folder."""
    return _place("RRA_STATE", "XDG_STATE_HOME", ".local/state")


def config_root() -> Path:
    """Return the folder of what the user decided: ``$RRA_CONFIG``, else XDG's config folder."""
    return _place("RRA_CONFIG", "XDG_CONFIG_HOME", ".config")


def make_cache() -> Path:
    """Return `cache_root`, made when it is missing.

    Raises:
        StorageError: It cannot be made; the place and the variable that moves it are named.
    """
    return _made(cache_root(), "the cache", "RRA_CACHE")


def writable_cache() -> Path | None:
    """Return `cache_root`, made when it is missing; None where nothing can be added to it."""
    try:
        place = make_cache()
    except StorageError:
        return None
    return place if os.access(place, os.W_OK | os.X_OK) else None


def make_state() -> Path:
    """Return `state_root`, made when it is missing.

    Raises:
        StorageError: It cannot be made; the place and the variable that moves it are named.
    """
    return _made(state_root(), "verifications and audits", "RRA_STATE")


def _made(place: Path, what: str, variable: str) -> Path:
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"no folder for {what} can be made at {place}: {error.strerror}"
        hint = f"set {variable} to a folder that can be written"
        raise StorageError(message, hint=hint) from error
    return place


def _place(own: str, xdg: str, default: str) -> Path:
    if given := os.environ.get(own):
        return Path(given).absolute()
    if base := os.environ.get(xdg):
        return Path(base) / "rra"
    return Path.home() / default / "rra"
