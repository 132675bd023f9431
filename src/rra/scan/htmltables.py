"""Results tables written as HTML inside Markdown."""

from __future__ import annotations

import dataclasses
from html.parser import HTMLParser

from rra.values.tables import Table, read_cell


@dataclasses.dataclass
class _Cell:
    line: int
    column: int
    header: bool
    span: int
    text: str = ""


def html_tables(text: str) -> list[Table]:
    """Return the tables of a text that are written with ``<table>``, in order.

    The first row is the header. A cell that spans columns is repeated, one that spans rows is
    not: results tables with such cells are read as far as they go. Nested tables are flattened.

    Args:
        text: A Markdown or HTML document.
    """
    if "<table" not in text.lower():
        return []
    parser = _Parser()
    parser.feed(text)
    parser.close()
    return [table for rows in parser.tables if (table := _table(rows)) is not None]


class _Parser(HTMLParser):
    """Collects rows of cells; unknown and unclosed tags do not disturb it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[list[_Cell]]] = []
        self._depth = 0
        self._cell: _Cell | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._depth += 1
            if self._depth == 1:
                self.tables.append([])
        elif self._depth and tag == "tr":
            self._cell = None
            self.tables[-1].append([])
        elif self._depth and tag in {"td", "th"}:
            line, offset = self.getpos()
            span = dict(attrs).get("colspan") or "1"
            self._cell = _Cell(
                line, offset + 1, tag == "th", min(int(span), 50) if span.isdigit() else 1
            )
            if not self.tables[-1]:
                self.tables[-1].append([])
            self.tables[-1][-1].append(self._cell)

    def handle_endtag(self, tag: str) -> None:
        if tag == "table" and self._depth:
            self._depth -= 1
        if tag in {"td", "th", "tr", "table"}:
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.text += data


def _table(rows: list[list[_Cell]]) -> Table | None:
    filled = [[cell for cell in row for _ in range(cell.span)] for row in rows if row]
    if len(filled) < 2:
        return None
    header = tuple(" ".join(cell.text.split()) for cell in filled[0])
    body = []
    for row in filled[1:]:
        cells = [
            read_cell(" ".join(cell.text.split()), header=name, line=cell.line, column=cell.column)
            for name, cell in zip(header, row, strict=False)
        ]
        line = row[0].line
        cells += [read_cell("", line=line) for _ in range(len(header) - len(cells))]
        body.append(tuple(cells))
    return Table(header, tuple(body), filled[0][0].line)
