r"""Results tables of LaTeX sources: ``tabular`` and its relatives, read without running TeX.

What is understood: comments, nested groups and environments, ``\multicolumn`` and ``\multirow``,
rules of booktabs and of LaTeX, several rows of headers, rows that are titles of a section,
fonts, colours and sizes, ``\pm``, ``\%``, ``\num`` and its relatives, powers of ten, foot-note
marks and citations (dropped). Macros of the author are expanded where they have no arguments.
Files that the source includes are not followed. Time grows with the length of the source.
"""

from __future__ import annotations

import bisect
import collections
import dataclasses
import re
from collections.abc import Callable

from rra.values.latextext import MAX_CELL, blank_comments, group_end, macros, plain_text, skip_space
from rra.values.tables import Cell, Table, read_cell

Place = Callable[[int], tuple[int, int]]

MAX_TEXT = 16 * 1024 * 1024
"""Longest source that is read, in characters."""

MAX_COLUMNS = 200
"""Widest table; what stands to the right of it is dropped."""

MAX_ROWS = 20_000
"""Longest table; what stands below is dropped."""

MAX_SPAN = 50
"""Most columns or rows that one cell is taken to span."""

_TABLES = {"tabular": 1, "tabular*": 2, "tabularx": 2, "tabulary": 2, "tabu": 1} | {
    "longtable": 1,
    "supertabular": 1,
    "tblr": 1,
}
_FLOATS = {"table", "table*", "wraptable", "sidewaystable", "sidewaystable*", "longtable"}
_MARK = re.compile(
    r"\\(?:(?P<what>begin|end)\s*\{(?P<name>[A-Za-z]+\*?)\}"
    r"|label\s*\{(?P<label>[^{}]{1,200})\}|caption(?![A-Za-z])\*?)"
)
_RULE = re.compile(
    r"\\(?P<rule>toprule|midrule|bottomrule|hline|specialrule|cmidrule|cline|addlinespace|"
    r"morecmidrules|endhead|endfirsthead|endfoot|endlastfoot|noalign|rowcolor|Xhline|hdashline|"
    r"cdashline|arrayrulecolor|rowfont|pagebreak|nopagebreak)(?![A-Za-z])\*?"
)
_HEAD_ENDS = {"midrule", "hline", "endhead", "endfirsthead", "Xhline", "hdashline"}
_LENGTH = re.compile(r"[ \t]*\[[^\]\n&]{0,40}\]")
_SPANS = re.compile(r"\s*\{?(?:\\(?!multi)[A-Za-z]{1,30}\s*){0,5}\\multi(?P<what>column|row)\b\*?")


@dataclasses.dataclass(frozen=True, slots=True)
class LatexTable:
    r"""A table with what stands around it.

    Attributes:
        table: The table; its header joins all rows of headers.
        caption: The caption without markup, empty where there is none.
        number: Position among the floats with a caption, from 1; None without a caption.
        labels: What ``\label`` calls the float.
    """

    table: Table
    caption: str = ""
    number: int | None = None
    labels: tuple[str, ...] = ()


def latex_tables(text: str) -> list[LatexTable]:
    """Return the tables of a LaTeX source that have a header and a row, in order.

    Args:
        text: The source; beyond `MAX_TEXT` characters it is not read.
    """
    reader = _Reader(blank_comments(text[:MAX_TEXT]))
    behind_caption = 0
    for mark in _MARK.finditer(reader.source):
        if mark["label"]:
            reader.label(mark["label"].strip())
            continue
        if mark.start() < behind_caption:
            continue
        if mark["what"] == "begin":
            reader.begin(mark["name"], mark.end())
        elif mark["what"] == "end":
            reader.end(mark["name"], mark.start())
        else:
            behind_caption = reader.caption(mark.end())
    reader.flush("")
    return reader.tables


class _Reader:
    """Environments that are open, and tables that wait for their caption."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tables: list[LatexTable] = []
        self._known = macros(source)
        self._starts = [0, *(found.end() for found in re.finditer("\n", source))]
        self._open: list[tuple[str, int]] = []
        self._counts: collections.Counter[str] = collections.Counter()
        self._waiting: list[Table] = []
        self._caption = ""
        self._captions = 0
        self._labels: list[str] = []

    def begin(self, name: str, at: int) -> None:
        """Open an environment."""
        self._open.append((name, at))
        self._counts[name] += 1

    def label(self, name: str) -> None:
        """Keep a label of the float that is open."""
        if self._inside(_FLOATS):
            self._labels.append(name)

    def caption(self, at: int) -> int:
        r"""Keep the caption of the float that is open: ``\caption[short]{long}``.

        Returns:
            The offset behind it; what stands in a caption opens and closes nothing.
        """
        at = skip_space(self.source, at)
        if self.source[at : at + 1] == "[":
            at = skip_space(self.source, group_end(self.source, at, at + MAX_CELL))
        if self.source[at : at + 1] != "{":
            return at
        end = group_end(self.source, at, at + MAX_CELL)
        if self._inside(_FLOATS):
            self._caption = plain_text(self.source[at + 1 : end - 1], self._known)
        return end

    def end(self, name: str, at: int) -> None:
        """Close an environment, and those in it that were left open; read it if it is a table."""
        if not self._counts[name]:
            return
        start = at
        while self._open:
            inner, start = self._open.pop()
            self._counts[inner] -= 1
            if inner == name:
                break
        if name in _TABLES and not self._inside(_TABLES):
            table = self._read(start, at, _TABLES[name])
            self._waiting += [table] if table is not None else []
        if not self._inside(_FLOATS):
            self.flush(self._caption if name in _FLOATS else "")

    def flush(self, caption: str) -> None:
        """Give the tables of a float their caption."""
        self._captions += bool(caption)
        number = self._captions if caption else None
        labels = tuple(self._labels)
        self.tables += [LatexTable(table, caption, number, labels) for table in self._waiting]
        self._waiting, self._caption, self._labels = [], "", []

    def _inside(self, names: dict[str, int] | set[str]) -> bool:
        return any(self._counts[name] for name in names)

    def _read(self, start: int, end: int, arguments: int) -> Table | None:
        at = start
        while (at := skip_space(self.source, at)) < end and arguments:
            if self.source[at] not in "[{":
                break
            arguments -= self.source[at] == "{"
            at = group_end(self.source, at, end)
        rows = _Rows(self.source, at, end).rows
        return _table(rows, self._known, self._place) if rows else None

    def _place(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, both from 1."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


@dataclasses.dataclass(slots=True)
class _Span:
    """A cell while the table is put together: its text, and how far it reaches."""

    text: str
    at: int
    columns: int = 1
    rows: int = 1


@dataclasses.dataclass(slots=True)
class _Row:
    cells: list[_Span]
    head_ends: bool


class _Rows:
    """The body of a table, split at ``&`` and line ends outside of groups and environments."""

    def __init__(self, source: str, at: int, end: int) -> None:
        self.rows: list[_Row] = []
        self._source = source
        self._cells: list[_Span] = []
        self._rule = False
        self._begin = at
        self._end = end
        depth = 0
        while at < end and len(self.rows) < MAX_ROWS:
            character = source[at]
            if not depth and (breaks := self._break(at)):
                self._cell(at)
                self._row()
                at = self._begin = breaks
                continue
            if character == "&" and not depth:
                self._cell(at)
                self._begin = at + 1
            depth = max(0, depth + self._depth(at))
            at += 2 if character == "\\" else 1
        self._cell(end)
        self._row()

    def _break(self, at: int) -> int:
        r"""Return the offset behind ``\\``, ``\\*``, ``\\[2pt]``; 0 where there is none."""
        for word in ("\\\\", "\\tabularnewline"):
            if self._source.startswith(word, at):
                behind = at + len(word)
                behind += self._source[behind : behind + 1] == "*"
                length = _LENGTH.match(self._source, behind, self._end)
                return length.end() if length is not None else behind
        return 0

    def _depth(self, at: int) -> int:
        """Return what a character does to the nesting; environments in a cell count as groups."""
        if self._source[at] == "\\":
            if self._source.startswith("\\begin{", at):
                return 1
            return -1 if self._source.startswith("\\end{", at) else 0
        return (self._source[at] == "{") - (self._source[at] == "}")

    def _cell(self, end: int) -> None:
        if not self._cells:
            self._pass_rules(end)
        if len(self._cells) < MAX_COLUMNS:
            self._cells.append(_Span(self._source[self._begin : end], self._begin))

    def _row(self) -> None:
        if any(cell.text.strip() for cell in self._cells):
            self.rows.append(_Row(self._cells, self._rule))
            self._rule = False
        self._cells = []

    def _pass_rules(self, end: int) -> None:
        """Pass the rules at the start of a row, and note when one ends the head."""
        at = self._begin
        while True:
            at = min(skip_space(self._source, at), end)
            found = _RULE.match(self._source, at, end)
            if found is None:
                break
            self._rule = self._rule or found["rule"] in _HEAD_ENDS
            at = found.end()
            while at < end and self._source[at] in "[({":
                at = group_end(self._source, at, end)
        self._begin = at


def _table(rows: list[_Row], known: dict[str, str], place: Place) -> Table | None:
    grid = [_resolved(row, known) for row in rows]
    width = min(max(sum(span.columns for span in spans) for spans in grid), MAX_COLUMNS)
    split = _header_rows(rows, grid)
    if split >= len(grid):
        return None
    header = _header(grid[:split], width)
    labels: dict[int, tuple[str, int]] = {}
    section = ""
    body: list[tuple[Cell, ...]] = []
    for spans in grid[split:]:
        filled = [span for span in spans if span.text]
        if width > 1 and len(filled) == 1 and (filled[0].columns > 1 or len(spans) == 1):
            section = filled[0].text
            continue
        cells = _cells(spans, header, width, place, labels)
        if section and cells[0].number is None:
            cells[0] = dataclasses.replace(cells[0], text=f"{section} {cells[0].text}".strip())
        body.append(tuple(cells))
    return Table(header, tuple(body), place(rows[0].cells[0].at)[0]) if body else None


def _resolved(row: _Row, known: dict[str, str]) -> list[_Span]:
    """Resolve spans and markup of a row's cells."""
    cells = []
    for raw in row.cells:
        text, columns, rows = raw.text, 1, 1
        for _ in range(2):  # a \multirow in a \multicolumn, or the other way round
            found = _SPANS.match(text)
            if found is None:
                break
            count, text = _spanned(text, found.end())
            rows, columns = (count, columns) if found["what"] == "row" else (rows, count)
        indent = len(raw.text) - len(raw.text.lstrip())
        cells.append(_Span(plain_text(text, known), raw.at + indent, columns, rows))
    return cells


def _spanned(text: str, at: int) -> tuple[int, str]:
    """Return count and content of ``{n}{spec}{content}``, options and ``*`` passed over."""
    groups: list[str] = []
    while len(groups) < 3 and (at := skip_space(text, at)) < len(text):
        end = group_end(text, at) if text[at] in "[{" else at + 1
        if text[at] in "{*":
            groups.append(text[at + 1 : end - 1])
        elif text[at] != "[":
            break
        at = end
    count = groups[0].strip() if groups else ""
    number = min(max(1, abs(int(count))), MAX_SPAN) if re.fullmatch(r"-?\d{1,4}", count) else 1
    return number, groups[2] if len(groups) == 3 else ""


def _header_rows(rows: list[_Row], grid: list[list[_Span]]) -> int:
    """Return how many rows are headers: up to the first rule, else the first one."""
    for index in range(1, len(rows)):
        if rows[index].head_ends:
            above = grid[1:index]
            if all(not spans[0].text or not _has_numbers(spans) for spans in above):
                return _continued(grid, index)
            break
    return _continued(grid, 1)


def _continued(grid: list[list[_Span]], split: int) -> int:
    """Add the rows that only continue the header: they have no label and no numbers."""
    while split < len(grid) - 1 and not grid[split][0].text and not _has_numbers(grid[split]):
        split += 1
    return split


def _has_numbers(spans: list[_Span]) -> bool:
    return any(read_cell(span.text).number is not None for span in spans[1:])


def _header(grid: list[list[_Span]], width: int) -> tuple[str, ...]:
    """Join the rows of headers, column by column; a title of the whole table is left out."""
    names: list[list[str]] = [[] for _ in range(width)]
    for spans in grid:
        if len(grid) > 1 and len(spans) == 1 and spans[0].columns >= width:
            continue
        column = 0
        for span in spans:
            for at in range(column, min(column + span.columns, width)):
                if span.text and span.text not in names[at]:
                    names[at].append(span.text)
            column += span.columns
    return tuple(" ".join(parts) for parts in names)


def _cells(
    spans: list[_Span],
    header: tuple[str, ...],
    width: int,
    place: Place,
    labels: dict[int, tuple[str, int]],
) -> list[Cell]:
    """Lay out a row; text that spans rows is repeated, a number that spans is not."""
    cells: list[Cell] = []
    for span in spans:
        line, column = place(span.at)
        for offset in range(min(span.columns, width - len(cells))):
            at = len(cells)
            text = span.text if not offset else ""
            kept, left = labels.pop(at, ("", 0))
            if span.rows > 1 and text and read_cell(text).number is None:
                labels[at] = (text, span.rows - 1)
            elif left and not text:
                text = kept
                labels[at] = (kept, left - 1)
            cells.append(read_cell(text, header=header[at], line=line, column=column))
    line = cells[0].line if cells else 1
    return cells + [read_cell("", line=line) for _ in range(width - len(cells))]
