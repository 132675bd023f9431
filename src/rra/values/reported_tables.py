r"""Finding the one table that a reference such as ``paper.md#results`` means.

CSV and TSV files hold one table. In Markdown and LaTeX the part behind ``#`` is the number of the
table in the file, counted from 1, or its name: the heading that it stands under, as in a link on
GitHub, or the ``\label`` of its float.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from rra.errors import SelectError
from rra.values.latextables import latex_tables
from rra.values.tables import Table, csv_table, markdown_tables

KINDS = ("csv", "tsv", "md", "markdown", "tex")
"""Endings of files that a reported table can be read from."""

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(?P<text>.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_SHOWN = 8


def find_table(path: PurePosixPath, text: str, fragment: str) -> Table:
    """Return the table that a reference means.

    Args:
        path: Name of the file; its ending says what it is.
        text: Its content.
        fragment: What stands behind ``#``; empty when there is only one table.

    Raises:
        SelectError: The kind of file is not known, or there is no such table, or several.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind in {"csv", "tsv"}:
        if fragment:
            raise SelectError(
                f"{path} holds one table, so #{fragment} says nothing", hint=f"write {path}"
            )
        return csv_table(text, delimiter="\t" if kind == "tsv" else ",")
    if kind in {"md", "markdown"}:
        tables = markdown_tables(text)
        named = [(table, (_slug_above(text, table.line),)) for table in tables]
        return _choose(named, path, fragment)
    if kind == "tex":
        return _choose([(one.table, one.labels) for one in latex_tables(text)], path, fragment)
    raise SelectError(
        f"{path} is not a file that a table is read from", hint=f"use one of {', '.join(KINDS)}"
    )


def _slug_above(text: str, line: int) -> str:
    """Return the anchor of the nearest heading above a line, as GitHub makes it."""
    above = "\n".join(text.splitlines()[: line - 1])
    found = [match["text"] for match in _HEADING.finditer(above)]
    return heading_slug(found[-1]) if found else ""


def heading_slug(text: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    plain = re.sub(r"!?\[([^\[\]]{0,500})\]\([^()]{0,500}\)", r"\1", text)
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


def _choose(
    tables: Sequence[tuple[Table, tuple[str, ...]]], path: PurePosixPath, fragment: str
) -> Table:
    """Choose by number or by name; one table needs neither."""
    if not tables:
        raise SelectError(f"there is no table in {path}")
    known = [
        f"#{number} (line {table.line}{''.join(f', #{name}' for name in names if name)})"
        for number, (table, names) in enumerate(tables, 1)
    ]
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    hint = f"there are {', '.join(known[:_SHOWN])}{more}"
    if not fragment:
        found = [table for table, _ in tables]
    elif fragment.isascii() and fragment.isdigit():
        found = [table for table, _ in tables][int(fragment) - 1 : int(fragment)]
    else:
        found = [table for table, names in tables if fragment in names]
    if len(found) == 1:
        return found[0]
    if not found:
        raise SelectError(f"there is no table #{fragment} in {path}", hint=hint)
    where = f"under #{fragment} of {path}" if fragment else f"in {path}"
    raise SelectError(f"there are {len(found)} tables {where}", hint=hint)
