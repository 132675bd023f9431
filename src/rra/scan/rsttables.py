"""Results tables of reStructuredText: grid and simple tables."""

from __future__ import annotations

import itertools
import re

from rra.values.tables import Table, read_cell

_RULE = re.compile(r"^\s*=+(?:\s+=+)+\s*$")
_GRID = re.compile(r"^\s*\+(?:[-=]+\+)+\s*$")
Row = list[tuple[str, int]]


def rst_tables(text: str) -> list[Table]:
    """Return the grid and simple tables of a document that have a header, in order.

    Args:
        text: A reStructuredText document.
    """
    lines = text.split("\n")
    tables: list[Table] = []
    index = 0
    while index < len(lines):
        if _RULE.match(lines[index]):
            table, index = _simple(lines, index)
        elif _GRID.match(lines[index]):
            table, index = _grid(lines, index)
        else:
            table, index = None, index + 1
        if table is not None:
            tables.append(table)
    return tables


def _simple(lines: list[str], start: int) -> tuple[Table | None, int]:
    """Read ``==== ====`` / header / ``==== ====`` / rows / ``==== ====``."""
    starts = [found.start() for found in re.finditer(r"=+", lines[start])]
    rules = [start]
    end = start + 1
    while end < len(lines) and lines[end].strip():
        if _RULE.match(lines[end]):
            rules.append(end)
        end += 1
    if len(rules) < 3 or rules[1] != start + 2:
        return None, max(end, start + 1)
    rows = [(number + 1, _cut(lines[number], starts)) for number in range(rules[1] + 1, rules[-1])]
    header = _cut(lines[start + 1], starts)
    return _table(header, rows, start + 2), end


def _cut(line: str, starts: list[int]) -> Row:
    ends = [*starts[1:], max(len(line), starts[-1] + 1)]
    return [(line[a:b].strip(), a + 1) for a, b in zip(starts, ends, strict=True)]


def _grid(lines: list[str], start: int) -> tuple[Table | None, int]:
    """Read a grid table whose cells are one line high."""
    end = start
    rows: list[tuple[int, Row]] = []
    headed = False
    while end < len(lines) and lines[end].strip().startswith(("+", "|")):
        line = lines[end]
        if line.strip().startswith("|"):
            cuts = [i for i, c in enumerate(line) if c == "|"]
            pairs = itertools.pairwise(cuts)
            rows.append((end + 1, [(line[a + 1 : b].strip(), a + 2) for a, b in pairs]))
        elif "=" in line and len(rows) == 1:
            headed = True
        end += 1
    if not headed or len(rows) < 2:
        return None, end
    return _table(rows[0][1], rows[1:], rows[0][0]), end


def _table(header: Row, rows: list[tuple[int, Row]], line: int) -> Table:
    names = tuple(name for name, _ in header)
    body = []
    for number, cells in rows:
        padded = [*cells, *[("", 1)] * len(names)][: len(names)]
        body.append(
            tuple(
                read_cell(text, header=name, line=number, column=column)
                for name, (text, column) in zip(names, padded, strict=True)
            )
        )
    return Table(names, tuple(body), line)
