"""Finding a kind by its word: those of this package, and those that others install."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING

from rra.environment.built import named_environment
from rra.environment.kinds.conda import CondaKind
from rra.environment.kinds.container import ContainerKind
from rra.environment.kinds.languages import LanguageKind
from rra.environment.kinds.protocol import EnvironmentKind
from rra.environment.kinds.pylock import PylockKind
from rra.environment.kinds.system import SystemKind
from rra.errors import UnavailableError, UsageError

if TYPE_CHECKING:
    from rra.artifact import Artifact

GROUP = "rra.environment_kinds"
"""Entry point group in which a distribution names the kinds that it adds."""

JULIA = LanguageKind("julia", ("Manifest", "Project"))
"""Julia is no kind of the format: its files are described, and a container builds them."""

_OWN: dict[str, EnvironmentKind] = {
    kind.name: kind
    for kind in (
        PylockKind(),
        CondaKind(),
        ContainerKind(),
        LanguageKind("renv", ("renv.lock", "DESCRIPTION")),
        SystemKind(),
    )
}


def find_kind(name: str) -> EnvironmentKind:
    """Return the kind of a word; one of this package comes before one that others installed.

    Raises:
        UsageError: Nothing here knows it.
        UnavailableError: What is installed for it cannot be loaded.
    """
    if name in _OWN:
        return _OWN[name]
    for entry in importlib.metadata.entry_points(group=GROUP, name=name):
        try:
            made: EnvironmentKind = entry.load()()
        except Exception as error:
            message = f"kind {name} of {entry.value} cannot be loaded: {error}"
            raise UnavailableError(message, hint="mend or remove that distribution") from error
        return made
    message = f"no environment kind is called {name!r}"
    raise UsageError(message, hint=f"kinds: {', '.join(_OWN)}")


def kind_of(artifact: Artifact, env_id: str) -> EnvironmentKind:
    """Return the kind of an environment of an artifact.

    Raises:
        UsageError: There is no such environment, or nothing here knows its kind.
        UnavailableError: What is installed for its kind cannot be loaded.
    """
    return find_kind(named_environment(artifact, env_id).kind)
