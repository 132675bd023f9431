"""The clauses of the specification, read from its pages."""

from __future__ import annotations

import dataclasses
import difflib
import re
from pathlib import Path

from rra._base.resources import spec_pages

CLAUSE = re.compile(
    r"- \*\*(?P<id>[^*]*)\*\* \((?P<classes>[^;()]*); (?P<checkers>[^()]*)\) (?P<text>\S.*)"
)
"""How a page writes a clause, its continuation lines joined."""


@dataclasses.dataclass(frozen=True, slots=True)
class Clause:
    """One requirement of the specification.

    Attributes:
        id: ``<page>/<slug>``.
        binds: Whom it binds, such as ``producer, validator``.
        checked: What checks it, such as ``schema``; ``declaration: REASON`` where no machine can.
        text: The requirement, in one paragraph.
        page: Page of the specification that it stands in, such as ``spec/v1/manifest.md``.
        path: The file of that page on this machine.
    """

    id: str
    binds: str
    checked: str
    text: str
    page: str
    path: Path


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
    path = spec_pages().get(page)
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
    name = f"spec/v1/{path.name}" if path.parent.name == "v1" else f"spec/{path.name}"
    return [
        Clause(found["id"], found["classes"], found["checkers"], found["text"], name, path)
        for found in map(CLAUSE.fullmatch, items)
        if found
    ]


def clause_pages() -> dict[str, int]:
    """Return the pages of the specification that hold clauses, with how many each holds."""
    counts = {page: len(page_clauses(page)) for page in spec_pages()}
    return {page: count for page, count in sorted(counts.items()) if count}
