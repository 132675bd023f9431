"""``rra spec schema``: print a schema of the format."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from rra._base.resources import schema_names, schema_path
from rra.api._result import Progress, VerbResult, silent
from rra.errors import UsageError
from rra.schema import nearest


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpecSchema(VerbResult):
    """One schema, as it ships.

    Attributes:
        name: Its name.
        text: Its text, byte for byte.
    """

    name: str
    text: str

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {"name": self.name, "schema": json.loads(self.text)}


def spec_schema(name: str, *, editor: bool = False, progress: Progress = silent) -> SpecSchema:
    """Return the JSON Schema of a document.

    Args:
        name: Name of the document, such as ``manifest``; its file or ``$id`` is understood too.
        editor: The draft-07 form for editors, with the text that they show.
        progress: Not used; every function of the api takes it.

    Raises:
        UsageError: There is no such schema; near names are given.
    """
    del progress
    known = schema_names()
    wanted = name.rsplit("/", 1)[-1].removesuffix(".schema.json")
    if wanted not in known:
        near = nearest(wanted, known)
        hint = f"did you mean {near}? " if near else ""
        raise UsageError(f"no schema is called {name}", hint=f"{hint}known: {', '.join(known)}")
    return SpecSchema(name=wanted, text=schema_path(wanted, editor=editor).read_text("utf-8"))
