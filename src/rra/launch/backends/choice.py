"""Finding a backend by its word: those of this package, and those that others install."""

from __future__ import annotations

from rra._base.plugins import make_plugin, plugin_names
from rra.errors import UsageError
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
    made: Backend | None = make_plugin(GROUP, name, what="backend")
    if made is not None:
        return made
    message = f"no backend is called {name!r}"
    hint = f"backends: {', '.join([*own, *plugin_names(GROUP)])}"
    raise UsageError(message, hint=hint)
