"""In which order launchers run."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from rra.errors import UsageError
from rra.model import Launcher, Manifest


def order_launchers(manifest: Manifest, selected: Sequence[str] | None = None) -> list[str]:
    """Return launchers so that each comes after those whose outputs it needs.

    Args:
        manifest: The manifest.
        selected: Ids; those they need are added. All launchers by default.

    Raises:
        UsageError: An id is unknown, or launchers need each other in a circle.
    """
    launchers = manifest.launchers
    order: list[str] = []
    for name in launchers if selected is None else selected:
        _visit(name, launchers, [], order)
    return order


def _visit(
    name: str, launchers: Mapping[str, Launcher], above: list[str], order: list[str]
) -> None:
    if name in above:
        circle = " → ".join([*above[above.index(name) :], name])
        message = f"launchers need each other in a circle: {circle}"
        raise UsageError(message, hint="take one of these out of its `needs` in rra.yaml")
    if name not in launchers:
        near = difflib.get_close_matches(name, launchers, n=1)
        hint = f"did you mean {near[0]}?" if near else f"launchers: {', '.join(launchers)}"
        asked = f", which {above[-1]} needs" if above else ""
        message = f"there is no launcher {name!r}{asked}"
        raise UsageError(message, hint=hint)
    if name in order:
        return
    for needed in launchers[name].needs:
        _visit(needed, launchers, [*above, name], order)
    order.append(name)
