"""Numbers of CSV and TSV files, each with the cells that pick its row."""

from __future__ import annotations

import collections
import csv
import io
import itertools
import re
from collections.abc import Iterator

from rra.errors import SelectError
from rra.values.leaves.leaf import MAX_KEY, MAX_LEAVES, FileLeaves, Leaf, Locator, number_of
from rra.values.numbers import parse_value
from rra.values.tables import read_cell

_DELIMITERS = (",", "\t", ";", "|")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_SETTING = re.compile(
    r"(?i).*(?:step|epoch|iter(?:ation)?s?|round|fold|split|seed|run|trial|rep(?:eat)?|id|index|rank|"
    r"size|dims?|depth|width|layers?|degree|order|level|year|[kndp]|num[_ ]?\w+|n_\w+)"
)
_MAX_CONDITIONS = 3
_MAX_KEY_COLUMNS = 8


def csv_leaves(text: str, file: str) -> FileLeaves:
    """Return the numbers of a table whose first row names the columns.

    Raises:
        SelectError: It is not CSV, or its first row does not name columns.
    """
    header, rows = _read(text)
    table = _Table(header, rows)
    leaves: list[Leaf] = []
    for index, (line, row) in enumerate(rows):
        labels = tuple(cell[:MAX_KEY] for cell in row if cell and _is_label(cell))
        for column, cell in enumerate(row[: len(header)]):
            number = number_of(cell) if table.is_named(column) else None
            if number is None:
                continue
            own = tuple(label for label in labels if label != cell)
            keys = (header[column][:MAX_KEY], *own)
            digits, value, unit = number
            at = (index, column)
            leaves.append(Leaf(value, digits, unit, line, keys, f"row {index}", header[column], at))
        if len(leaves) > MAX_LEAVES:
            break
    complete = len(leaves) <= MAX_LEAVES
    return FileLeaves(file, "csv", tuple(leaves[:MAX_LEAVES]), complete, table.locate)


def _is_label(cell: str) -> bool:
    """Tell what names a row from what is measured in it: text and whole numbers."""
    if cell[:1].isalpha() or _WHOLE.fullmatch(cell):
        return True
    return number_of(cell) is None and read_cell(cell).number is None


def _read(text: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    lines = text.split("\n", 1)
    delimiter = max(_DELIMITERS, key=lambda mark: len(_header(lines[0], mark)))
    header = _header(lines[0], delimiter)
    if not any(header) or any(_is_measured(name) for name in header):
        raise SelectError("the first row does not name columns")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows = []
    try:
        next(reader)
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append((reader.line_num, [cell.strip() for cell in row]))
            if len(rows) > MAX_LEAVES:
                break
    except csv.Error as error:
        raise SelectError(f"not valid CSV: {error}") from error
    return header, rows


def _header(line: str, delimiter: str) -> list[str]:
    try:
        return [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def _is_measured(name: str) -> bool:
    number = number_of(name)
    return number is not None and not _WHOLE.fullmatch(number[0])


def _same(cell: str) -> object:
    """Return what a selector compares: numbers by value, truth values in lower case."""
    if cell.lower() in {"true", "false"}:
        return cell.lower()
    try:
        value = parse_value(cell)
    except SelectError:
        return cell
    return value.normalize() if value.is_finite() else cell


class _Table:
    """Rows and columns, with what it takes to name one row."""

    def __init__(self, header: list[str], rows: list[tuple[int, list[str]]]) -> None:
        self._header = header
        self._rows = [row for _, row in rows]
        self._counts: dict[tuple[int, ...], collections.Counter[tuple[object, ...]]] = {}
        named = [index for index in range(len(header)) if self._names_rows(index)]
        # Text names a row better than a number does.
        named.sort(key=lambda index: (self._is_numeric(index), index))
        self._columns = named[:_MAX_KEY_COLUMNS]

    def is_named(self, column: int) -> bool:
        """Tell whether a column has a name, and has it alone."""
        name = self._header[column]
        return bool(name) and self._header.count(name) == 1

    def locate(self, leaf: Leaf) -> Locator | None:
        """Return the column with the fewest cells that pick the row; None when rows are alike."""
        index, column = (int(part) for part in leaf.at)
        name = self._header[column]
        if len(self._rows) == 1:
            return Locator("csv", {"column": name})
        for keys in self._choices(index, column):
            if self._unique(index, keys):
                where: dict[str, object] = {
                    self._header[key]: self._cell(index, key) for key in keys
                }
                return Locator("csv", {"where": where, "column": name})
        if index == len(self._rows) - 1:
            return Locator("csv", {"column": name}, "last")
        return Locator("csv", {"column": name}, "first") if index == 0 else None

    def _choices(self, index: int, column: int) -> Iterator[tuple[int, ...]]:
        """Yield columns that may name a row together, few first; a first one of numbers last."""
        usable = [key for key in self._columns if key != column and self._cell(index, key)]
        for size in range(1, _MAX_CONDITIONS + 1):
            yield from itertools.combinations(usable, size)
        if column and 0 not in self._columns and self.is_named(0) and self._cell(index, 0):
            yield (0,)  # sizes, thresholds and the like, where nothing else tells rows apart

    def _cell(self, index: int, column: int) -> str:
        row = self._rows[index]
        return row[column] if column < len(row) else ""

    def _cells(self, column: int) -> list[str]:
        return [cell for index in range(len(self._rows)) if (cell := self._cell(index, column))]

    def _names_rows(self, column: int) -> bool:
        """Tell whether a column says what a row is about: no measured number stands in it.

        Counts look like that too, so whole numbers need a name such as ``epoch``.
        """
        if not self.is_named(column) or not all(map(_is_label, self._cells(column))):
            return False
        setting = _SETTING.fullmatch(self._header[column]) is not None
        return setting or not self._is_numeric(column)

    def _is_numeric(self, column: int) -> bool:
        cells = self._cells(column)
        return bool(cells) and all(number_of(cell) is not None for cell in cells)

    def _unique(self, index: int, keys: tuple[int, ...]) -> bool:
        if keys not in self._counts:
            self._counts[keys] = collections.Counter(
                tuple(_same(self._cell(row, key)) for key in keys) for row in range(len(self._rows))
            )
        return self._counts[keys][tuple(_same(self._cell(index, key)) for key in keys)] == 1
