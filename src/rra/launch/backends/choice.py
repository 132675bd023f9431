"""Finding a backend by its word: those of this package, and those that others install."""

from __future__ import annotations

import importlib.metadata

from rra.errors import UnavailableError, UsageError
from rra.launch.backends.local import LocalBackend
from rra.launch.backends.protocol import Backend
from rra.launch.backends.slurm import SlurmBackend

GROUP = "rra.backends"
"""Entry point group in which a distribution names the backends that it adds."""


def find_backend(name: str) -> Backend:
    """Return the backend of a word; one of this package comes before one that others installed.

    Raises:
        UsageError: Nothing here knows it.
        UnavailableError: What is installed for it cannot be loaded.
    """
    own: dict[str, Backend] = {one.name: one for one in (LocalBackend(), SlurmBackend())}
    if name in own:
        return own[name]
    for entry in importlib.metadata.entry_points(group=GROUP, name=name):
        try:
            made: Backend = entry.load()()
        except Exception as error:
            message = f"backend {name} of {entry.value} cannot be loaded: {error}"
            raise UnavailableError(message, hint="mend or remove that distribution") from error
        return made
    others = [entry.name for entry in importlib.metadata.entry_points(group=GROUP)]
    message = f"no backend is called {name!r}"
    raise UsageError(message, hint=f"backends: {', '.join([*own, *others])}")
