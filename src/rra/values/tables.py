"""Results tables as authors write them in a README or a CSV file, with their numbers read.

Only what stands in a cell alone is a number there: ``98.9``, ``**98.9 %**``, ``98.9 ± 0.3``,
``0.12 s``. A cell such as ``ResNet 50`` is text. The unit comes from the cell, else from its
column header (``Accuracy (%)``).
"""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import re
from collections.abc import Iterator

from rra.errors import SelectError
from rra.values.numbers import ReportedNumber
from rra.values.units import known_unit

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
_DELIMITER_ROW = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_MARKUP = re.compile(
    r"\*\*|__|`+|~~|</?(?:b|i|em|strong|u|sup|sub|code|br)\s*/?>|(?<!\w)[*_]|[*_](?!\w)"
)
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()]{0,500}\)")
_HEADER_UNIT = re.compile(
    r"[(\[]\s*(?:in\s+)?(?P<unit>[^()\[\]]{1,20}?)\s*[)\]]\s*$|,\s*(?P<after>[^\s,]{1,12})\s*$"
)
_CELL_NUMBER = re.compile(
    r"""
    [~\u2248\s]*
    (?P<number> [^\s±(%‰A-Za-z*†‡§]+ (?:[eE][+-]?[0-9]+)? | [+-]?(?:nan|inf) )
    (?: \s* (?P<unit> [%‰A-Za-zµμ][A-Za-z%-]{0,12} ) )?
    (?: \s* (?: ± | \+/- | \+- | \\pm ) \s* (?P<spread> [^\s%‰A-Za-z)]+ (?:[eE][+-]?[0-9]+)? )
      | \s* \( \s* (?: ± | \+/- )? \s* (?P<bracket> [0-9.]+ ) \s* \) )?
    (?: \s* (?P<unit_after> [%‰A-Za-zµμ][A-Za-z%-]{0,12} ) )?
    [\s*†‡§]*
    """,
    re.VERBOSE,
)


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table.

    Attributes:
        text: Content without markup.
        number: The number that the cell states, or None when it is text.
        uncertainty: The number behind ``±`` or in brackets behind the value.
        unit: Unit as written in the cell or in the column header.
        line: 1-based line in the source.
        column: 1-based column in the source where the content starts.
    """

    text: str
    number: ReportedNumber | None
    uncertainty: ReportedNumber | None
    unit: str | None
    line: int
    column: int

    @property
    def place(self) -> tuple[int, int]:
        """Line and column."""
        return self.line, self.column


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """A table with a header.

    Attributes:
        header: Column names without markup.
        rows: Cells, each row as long as the header.
        line: 1-based line of the header in the source.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    line: int

    @property
    def has_numbers(self) -> bool:
        """Whether any cell states a number."""
        return any(cell.number is not None for row in self.rows for cell in row)


def markdown_tables(text: str) -> list[Table]:
    r"""Find the pipe tables of a Markdown text (GitHub's extension).

    Tables inside fenced code are examples and are passed over. As on GitHub, ``\|`` does not end
    a cell, short rows are filled with empty cells and surplus cells are dropped.

    Args:
        text: The document.

    Returns:
        Tables in order; a table without a data row is returned with no rows.
    """
    tables: list[Table] = []
    lines = text.splitlines()
    open_lines = _outside_fences(lines)
    index = 0
    while index + 1 < len(lines):
        starts = (
            index in open_lines
            and index + 1 in open_lines
            and "|" in lines[index]
            and "-" in lines[index + 1]
            and _DELIMITER_ROW.fullmatch(lines[index + 1]) is not None
        )
        header = _split_row(lines[index]) if starts else []
        if not starts or len(header) != len(_split_row(lines[index + 1])):
            index += 1
            continue
        end = index + 2
        while end in open_lines and "|" in lines[end] and lines[end].strip():
            end += 1
        body = [(number + 1, _split_row(lines[number])) for number in range(index + 2, end)]
        tables.append(_table([name for name, _ in header], body, index + 1))
        index = end
    return tables


def csv_table(text: str, *, delimiter: str = ",") -> Table:
    """Read a CSV text whose first row is the header.

    Args:
        text: The file's content.
        delimiter: One character between cells.

    Raises:
        SelectError: There is no header, or quoting is broken.
    """
    plain = text.removeprefix("\ufeff")
    lines = plain.split("\n")
    reader = csv.reader(io.StringIO(plain), delimiter=delimiter, strict=True)
    body: list[tuple[int, list[tuple[str, int]]]] = []
    header: list[str] = []
    first_line = 1
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if not header:
                header, first_line = row, reader.line_num
            else:
                body.append((reader.line_num, _placed(row, lines, reader.line_num, delimiter)))
    except csv.Error as error:
        raise SelectError(f"line {reader.line_num} is not valid CSV: {error}") from error
    if not header:
        raise SelectError("the table is empty", hint="the first row must name the columns")
    return _table(header, body, first_line)


def _placed(row: list[str], lines: list[str], number: int, delimiter: str) -> list[tuple[str, int]]:
    """Return cells with their columns, where the row is one line; else with column 1."""
    line = lines[number - 1] if number <= len(lines) else ""
    starts = [found.start() + 1 for found in _csv_cells(line, delimiter)]
    if len(starts) != len(row):
        starts = [1] * len(row)
    return list(zip(row, starts, strict=True))


def _csv_cells(line: str, delimiter: str) -> Iterator[re.Match[str]]:
    """Yield the cells of one line as they are written, quotes included."""
    mark = re.escape(delimiter)
    pattern = re.compile(rf'(?:^|(?<={mark}))(?:"(?:[^"]|"")*"|[^{mark}"]*)(?={mark}|$)')
    yield from pattern.finditer(line)


def read_cell(text: str, *, header: str = "", line: int = 1, column: int = 1) -> Cell:
    """Read one cell: strip markup, find its number, spread and unit.

    Args:
        text: Content of the cell as written.
        header: Name of its column, for the unit.
        line: Line to note in the cell.
        column: Column to note in the cell.
    """
    plain = _plain(text)
    number, spread, unit = _cell_number(plain)
    if number is not None and unit is None:
        unit = _header_unit(header)
    return Cell(plain, number, spread, unit, line, column)


def _cell_number(plain: str) -> tuple[ReportedNumber | None, ReportedNumber | None, str | None]:
    found = _CELL_NUMBER.fullmatch(plain)
    if found is None or not re.search("[0-9]", plain):
        return None, None, None
    unit = found["unit"] or found["unit_after"]
    if unit is not None and not known_unit(unit):
        return None, None, None
    spread = found["spread"] or found["bracket"]
    try:
        number = ReportedNumber.parse(found["number"])
        return number, ReportedNumber.parse(spread) if spread else None, unit
    except SelectError:
        return None, None, None


def without_unit(header: str) -> str:
    """Return a column name without the unit behind it: ``Accuracy`` for ``Accuracy (%)``."""
    found = _HEADER_UNIT.search(header)
    if found is not None and known_unit(str(found["unit"] or found["after"])):
        return header[: found.start()].strip()
    return header.strip()


def _header_unit(header: str) -> str | None:
    found = _HEADER_UNIT.search(header)
    if found is not None:
        unit = str(found["unit"] or found["after"])
        if known_unit(unit):
            return unit
    return "%" if "%" in header else None


def _plain(text: str) -> str:
    """Drop Markdown and HTML markup around the content of a cell."""
    without = _MARKUP.sub("", _LINK.sub(r"\1", text.replace("\\|", "|")))
    without = without.replace("\\%", "%").replace("$", "").replace("\\pm", "±")
    without = without.replace("&plusmn;", "±").replace("&nbsp;", " ").replace("&minus;", "-")
    return without.strip()


def _outside_fences(lines: list[str]) -> set[int]:
    """Return the indexes of lines that are not part of fenced code."""
    outside: set[int] = set()
    fence = ""
    for index, line in enumerate(lines):
        found = _FENCE.match(line)
        mark = found["fence"] if found is not None else ""
        if fence:
            closes = mark[:1] == fence[0] and len(mark) >= len(fence)
            if closes and line.strip() == mark:
                fence = ""
        elif mark:
            fence = mark
        else:
            outside.add(index)
    return outside


def _split_row(line: str) -> list[tuple[str, int]]:
    """Split a pipe row into (content, 1-based column of the content)."""
    cuts = [-1, *_pipes(line), len(line)]
    if line.lstrip().startswith("|"):
        cuts.pop(0)
    if len(cuts) > 2 and not line[cuts[-2] + 1 :].strip():
        cuts.pop()
    cells: list[tuple[str, int]] = []
    for before, after in itertools.pairwise(cuts):
        content = line[before + 1 : after]
        indent = len(content) - len(content.lstrip())
        cells.append((content.strip(), before + 2 + indent))
    return cells


def _pipes(line: str) -> Iterator[int]:
    """Yield the offsets of pipes that end a cell."""
    index = 0
    while index < len(line):
        character = line[index]
        if character == "\\":
            index += 1
        elif character == "|":
            yield index
        index += 1


def _table(header: list[str], body: list[tuple[int, list[tuple[str, int]]]], line: int) -> Table:
    rows = []
    for number, cells in body:
        padded = cells[: len(header)] + [("", 1)] * (len(header) - len(cells))
        rows.append(
            tuple(
                read_cell(content, header=name, line=number, column=column)
                for name, (content, column) in zip(header, padded, strict=True)
            )
        )
    return Table(tuple(_plain(name) for name in header), tuple(rows), line)
