"""``rra guide``: bring the tables of the guide up to date; prose stays as it is."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from rra.api._result import Progress, VerbResult, silent
from rra.artifact import BLANK_MARK, load_artifact


@dataclasses.dataclass(frozen=True, kw_only=True)
class GuideUpdate(VerbResult):
    """What was rendered.

    Attributes:
        guide: Path of the guide.
        changed: Whether its bytes changed.
        tables: Names of the tables that were rendered.
        blanks: Line and text of each blank that is left.
        notes: What a person should know, such as a missing marker.
    """

    guide: Path
    changed: bool
    tables: tuple[str, ...]
    blanks: tuple[tuple[int, str], ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "guide": str(self.guide),
            "changed": self.changed,
            "tables": list(self.tables),
            "blanks": [{"line": line, "text": text} for line, text in self.blanks],
            "notes": list(self.notes),
        }


def guide(path: Path, *, progress: Progress = silent) -> GuideUpdate:
    """Render the guide's tables from the manifest, settings, repairs and evidence.

    Raises:
        UsageError: There is no guide.
        FormatError: A document that a table is made from breaks its schema.
    """
    from rra.author import render_guide

    artifact = load_artifact(path)
    progress("rendering the tables of the guide")
    rendered = render_guide(artifact)
    lines = rendered.path.read_text("utf-8").splitlines()
    blanks = tuple(
        (number, line.strip()) for number, line in enumerate(lines, 1) if BLANK_MARK in line
    )
    return GuideUpdate(
        guide=rendered.path,
        changed=rendered.changed,
        tables=tuple(rendered.tables),
        blanks=blanks,
        notes=tuple(rendered.notes),
        problems=artifact.warnings,
    )
