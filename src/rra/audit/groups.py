"""Which runs make one report of an outcome, and with which seeds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from rra._base import canonical
from rra.artifact.semantics.plan import seed_of
from rra.model import Launcher, Manifest, RunSelection, Selector


@dataclasses.dataclass(frozen=True)
class Group:
    """Outcomes that are read from the same runs.

    Attributes:
        launcher: Id of the launcher.
        parameters: Values of its parameters that the selectors ask for.
        count: Runs that make one report: 5 for a mean of five seeds.
        outcomes: Ids of the outcomes.
    """

    launcher: str
    parameters: Mapping[str, Any]
    count: int
    outcomes: tuple[str, ...]

    @property
    def instance(self) -> str:
        """Name of these runs among those of the launcher."""
        if not self.parameters:
            return "default"
        return "p-" + canonical.digest(dict(self.parameters)).removeprefix("sha256:")[:12]


def group_outcomes(manifest: Manifest, names: Iterable[str] | None = None) -> list[Group]:
    """Group outcomes by the runs they are read from, in the order of the manifest.

    Args:
        manifest: The manifest.
        names: Ids of outcomes; all by default.
    """
    outcomes = manifest.outcomes()
    found: dict[str, Group] = {}
    for name in outcomes if names is None else names:
        selector = outcomes[name].selector
        launcher = manifest.launchers[selector.launcher]
        parameters, count = _asked(selector), _count(selector, launcher)
        key = f"{selector.launcher}/{count}/{canonical.digest(parameters)}"
        known = found.get(key)
        members = (*known.outcomes, name) if known else (name,)
        found[key] = Group(selector.launcher, parameters, count, members)
    return list(found.values())


def _asked(selector: Selector) -> dict[str, Any]:
    runs = selector.runs
    return dict(runs.parameters or {}) if isinstance(runs, RunSelection) else {}


def _count(selector: Selector, launcher: Launcher) -> int:
    """Return how many runs a selector takes: as many seeds as it or the author names."""
    if launcher.seeds is None or selector.runs is None:
        return 1
    if not isinstance(selector.runs, RunSelection):
        return max(1, len(launcher.seeds.values))
    return max(1, len(selector.runs.seeds or ()))


def draw_seed(launcher_id: str, launcher: Launcher, nonce: str, index: int) -> int | None:
    """Return the seed of the run with an index: from the nonce, never the author's favourite.

    None for a launcher that takes no seed.
    """
    if launcher.seeds is None:
        return None
    return seed_of(nonce, launcher_id, index)
