"""CSV and TSV: the cells of one column in the rows where other columns have given values."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rra.errors import SelectError
from rra.values.numbers import parse_value
from rra.values.readers.candidate import MAX_CANDIDATES, Candidate, nearest, too_many

_DELIMITERS = (",", "\t", ";", "|")
_MAX_HEADER = 1 << 20


def read_csv(path: Path, locator: dict[str, Any]) -> list[Candidate]:
    """Return the cells of a column, one for each row that fits.

    The first row names the columns. The delimiter (comma, tab, semicolon or bar) is the one
    under which the first row has the columns that the locator names.

    Args:
        path: File to read, as a stream.
        locator: ``{column: name, where: {column: value, …}}``; without ``where``, every row.
            Values are compared as text, or as numbers when both are numbers.

    Raises:
        SelectError: A column is missing or named twice, no row fits, or the file is not CSV.
    """
    column, where = _checked(locator)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline(_MAX_HEADER)
            delimiter = _delimiter(path, first, [column, *where])
            file.seek(0)
            found = list(_rows(path, csv.reader(file, delimiter=delimiter), column, where))
    except UnicodeDecodeError as error:
        raise SelectError(f"{path.name} is not UTF-8 text") from error
    except csv.Error as error:
        raise SelectError(f"{path.name} is not valid CSV: {error}") from error
    return found


def _checked(locator: dict[str, Any]) -> tuple[str, dict[str, str]]:
    unknown = set(locator) - {"where", "column"}
    where = locator.get("where") or {}
    if unknown or not isinstance(locator.get("column"), str) or not isinstance(where, dict):
        raise SelectError(
            f"the csv locator {locator!r} is not understood",
            hint="write csv: {column: accuracy, where: {model: LDA}}",
        )
    return locator["column"], {str(key): _written(value) for key, value in where.items()}


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _header(line: str, delimiter: str) -> list[str]:
    row = next(csv.reader([line], delimiter=delimiter), [])
    return [name.strip() for name in row]


def _delimiter(path: Path, first: str, needed: list[str]) -> str:
    """Choose the delimiter whose header has all needed columns, each once."""
    if not first.strip():
        raise SelectError(f"{path.name} is empty", hint="check that the run writes its results")
    headers = {delimiter: _header(first, delimiter) for delimiter in _DELIMITERS}
    for delimiter, header in headers.items():
        if set(needed) <= set(header):
            repeated = [name for name in needed if header.count(name) > 1]
            if repeated:
                raise SelectError(f"{path.name} has the column {repeated[0]!r} more than once")
            return delimiter
    best = max(headers.values(), key=len)
    missing = [name for name in needed if name not in best] or needed
    raise SelectError(
        f"{path.name} has no column {', '.join(map(repr, missing))}",
        hint=nearest(missing[0], best),
    )


def _rows(path: Path, reader: Any, column: str, where: dict[str, str]) -> Iterator[Candidate]:
    header = [name.strip() for name in next(reader)]
    seen: dict[str, None] = {}
    count = 0
    for number, row in enumerate(reader, start=1):
        if not any(cell.strip() for cell in row):
            continue
        cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
        if not all(_equal(cells.get(name, ""), value) for name, value in where.items()):
            if len(seen) < 200:
                seen[", ".join(f"{name}={cells.get(name, '')}" for name in where)] = None
            continue
        if column not in cells:
            raise SelectError(
                f"{path.name}:{reader.line_num}: the row has {len(row)} of {len(header)} cells",
                hint="check that the run wrote the whole file",
            )
        count += 1
        if count > MAX_CANDIDATES:
            raise too_many(path.name)
        place = f"row {number}, column {column}"
        yield Candidate(cells[column], place, reader.line_num, cells, "text")
    if not count:
        wanted = ", ".join(f"{name}={value}" for name, value in where.items())
        raise SelectError(
            f"{path.name} has no row with {wanted}" if where else f"{path.name} has no rows",
            hint=nearest(wanted, seen),
        )


def _equal(cell: str, wanted: str) -> bool:
    if cell == wanted or (cell.lower() == wanted and wanted in {"true", "false"}):
        return True
    try:
        return parse_value(cell) == parse_value(wanted)
    except SelectError:
        return False
