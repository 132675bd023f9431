"""Finding a kind by its word: those of this package, and those that others install."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rra._base.plugins import make_plugin, plugin_names
from rra.environment.built import named_environment
from rra.environment.kinds.conda import CondaKind
from rra.environment.kinds.container import ContainerKind
from rra.environment.kinds.languages import LanguageKind
from rra.environment.kinds.protocol import EnvironmentKind
from rra.environment.kinds.pylock import PylockKind
from rra.environment.kinds.system import SystemKind
from rra.errors import UsageError

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
    made: EnvironmentKind | None = make_plugin(GROUP, name, what="kind")
    if made is not None:
        return made
    message = f"no environment kind is called {name!r}"
    hint = f"kinds: {', '.join([*_OWN, *plugin_names(GROUP)])}"
    raise UsageError(message, hint=hint)


def kind_of(artifact: Artifact, env_id: str) -> EnvironmentKind:
    """Return the kind of an environment of an artifact.

    Raises:
        UsageError: There is no such environment, or nothing here knows its kind.
        UnavailableError: What is installed for its kind cannot be loaded.
    """
    return find_kind(named_environment(artifact, env_id).kind)
