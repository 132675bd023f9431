"""Saved predictions: that they are declared, and that the metric is not computed from them."""

from __future__ import annotations

from collections.abc import Collection

from rra.model import Manifest


def not_recomputed(manifest: Manifest, names: Collection[str] | None = None) -> list[str]:
    """Return a note for each outcome whose metric could be computed again and is not.

    Args:
        manifest: The manifest.
        names: Ids of outcomes; all by default.
    """
    return [
        f"{name}: {outcome.predictions.metric} is not computed again from the predictions in "
        f"{outcome.predictions.file}; this version of rra does not do that"
        for name, outcome in manifest.outcomes().items()
        if outcome.predictions is not None and (names is None or name in names)
    ]
