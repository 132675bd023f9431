"""What other distributions add through entry points."""

from __future__ import annotations

import importlib.metadata
from typing import Any

from rra.errors import UnavailableError


def make_plugin(group: str, name: str, *, what: str) -> Any | None:
    """Make what a distribution adds under a word; None where no distribution does.

    Args:
        group: Group of its entry point, which names a class or a function without arguments.
        name: The word.
        what: What it is, for messages, such as ``backend``.

    Raises:
        UnavailableError: What is installed for it cannot be loaded.
    """
    for entry in importlib.metadata.entry_points(group=group, name=name):
        try:
            return entry.load()()
        except Exception as error:
            message = f"{what} {name} of {entry.value} cannot be loaded: {error}"
            raise UnavailableError(message, hint="mend or remove that distribution") from error
    return None


def plugin_names(group: str) -> list[str]:
    """Return the words under which distributions add something to a group."""
    return [entry.name for entry in importlib.metadata.entry_points(group=group)]
