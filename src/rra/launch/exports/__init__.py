"""Plans of runs as files of other tools, which start the launchers with nothing of `rra`."""

from __future__ import annotations

from rra.launch.exports.export import Export, export_plan

__all__ = ["Export", "export_plan"]
