"""The clauses of the specification, read from its pages."""

from __future__ import annotations

import dataclasses
import difflib
import re

from rra._base.resources import spec_path

_CLAUSE = re.compile(r"- \*\*(?P<id>[a-z0-9-]+/[a-z0-9-]+)\*\* \((?P<binds>[^)]*)\) (?P<text>.*)")


@dataclasses.dataclass(frozen=True, slots=True)
class Clause:
    """One requirement of the specification.

    Attributes:
        id: ``<page>/<slug>``.
        binds: Whom it binds, and who checks it.
        text: The requirement, in one paragraph.
        page: File of the specification that it stands in.
    """

    id: str
    binds: str
    text: str
    page: str


def find_clause(name: str) -> Clause | None:
    """Return a clause by its id, or None when the specification has none of that name."""
    page, _, _ = name.partition("/")
    return next((clause for clause in page_clauses(page) if clause.id == name), None)


def near_clauses(name: str) -> list[str]:
    """Return ids of the same page that are like one that is not there."""
    page, _, slug = name.partition("/")
    if "/" in slug:
        return []
    known = [clause.id.partition("/")[2] for clause in page_clauses(page)]
    return [f"{page}/{near}" for near in difflib.get_close_matches(slug, known, n=3, cutoff=0.6)]


def page_clauses(page: str) -> list[Clause]:
    """Return the clauses of a page of the specification, in its order; none of an unknown page."""
    path = spec_path(page)
    if path is None:
        return []
    items: list[str] = []
    is_open = False
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("- **"):
            items.append(line)
            is_open = True
        elif is_open and line.startswith("  "):
            items[-1] += f" {line.strip()}"
        else:
            is_open = False
    found = [_CLAUSE.fullmatch(item) for item in items]
    return [Clause(f["id"], f["binds"], f["text"], path.name) for f in found if f]
