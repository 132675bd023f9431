"""``rra spec versions``: which versions of the format this implementation knows."""

from __future__ import annotations

import dataclasses
from typing import Any

from rra._base.resources import schema_names
from rra.api._result import Progress, VerbResult, silent
from rra.artifact.migration import STEPS
from rra.schema import FORMAT, load_schema


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpecVersions(VerbResult):
    """The versions of the format, and the documents of the one that is written.

    Attributes:
        writes: The version that is written.
        reads: The versions that are read, as a pattern.
        steps: The migrations that are known: from, to, and what changes.
        schemas: Names of the schemas, with their ``$id`` and title.
    """

    writes: str
    reads: str
    steps: tuple[tuple[str, str, str], ...]
    schemas: dict[str, tuple[str, str]]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "writes": self.writes,
            "reads": self.reads,
            "migrations": [
                {"from": source, "to": target, "about": about}
                for source, target, about in self.steps
            ],
            "schemas": [
                {"name": name, "id": identifier, "title": title}
                for name, (identifier, title) in self.schemas.items()
            ],
        }


def spec_versions(*, progress: Progress = silent) -> SpecVersions:
    """Say which versions of the format are read and written, and which schemas describe them.

    Args:
        progress: Not used; every function of the api takes it.
    """
    del progress
    loaded = {name: load_schema(name) for name in schema_names()}
    return SpecVersions(
        writes=FORMAT,
        reads=f"{FORMAT.split('.')[0]}.x",
        steps=tuple((step.source, step.target, step.about) for step in STEPS),
        schemas={name: (schema["$id"], schema["title"]) for name, schema in loaded.items()},
    )
