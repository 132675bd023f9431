"""What the files behind a launcher say about the values it makes: printed texts, result files."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

from rra.author.draft_launchers import DraftLauncher
from rra.author.patterns import label_pattern
from rra.errors import SelectError
from rra.scan import ResultValue, Scan
from rra.scan.text import read_text
from rra.values.numbers import ReportedNumber, matches, parse_value

_ECHO = re.compile(r"^\s*(?:echo|printf)\b(.*)$", re.MULTILINE)
_CAT = re.compile(r"\b(?:cat|head|tail)\s+(?:-\S+\s+)*([\w./-]+)")
_SCALES = (Decimal(1), Decimal(100), Decimal("0.01"))
_MAX_LEAVES = 20_000


@dataclasses.dataclass(frozen=True)
class Located:
    """A value found in a committed copy of a file that the code writes.

    Attributes:
        file: Place in the output directory.
        locator: Selector's locator: key and value.
        why: One line for the author.
        scale: Factor from the file's value to the reported one; None where it is not known.
    """

    file: str
    locator: tuple[str, object]
    why: str
    scale: Decimal | None


@dataclasses.dataclass(frozen=True)
class LauncherHints:
    """What is known of a launcher's output without running it.

    Attributes:
        printed: Texts that its code prints.
        prints: Whether anything is printed at all.
        code: Texts of the files behind it.
        results: Texts of committed files that look like results.
        written: Files that it writes and that are collected: (place, committed text or None).
    """

    printed: tuple[str, ...]
    prints: bool
    code: tuple[str, ...]
    results: tuple[str, ...]
    written: tuple[tuple[str, str | None], ...]

    def locate(self, value: ResultValue, siblings: Sequence[ResultValue]) -> Located | None:
        """Find where a value will stand in a file that the code writes."""
        for place, text in self.written:
            found = _in_committed(place, text, value, siblings) if text is not None else None
            if found is not None:
                return found
        tables = [place for place, _ in self.written if place.lower().endswith(".csv")]
        if not self.prints and len(tables) == 1 and "*" not in tables[0]:
            return _guessed_csv(tables[0], value)
        return None


def read_hints(scan: Scan, launcher: DraftLauncher) -> LauncherHints:
    """Gather what the files behind a launcher say.

    Args:
        scan: The scan of the repository.
        launcher: The launcher.
    """
    code: list[str] = []
    printed: list[str] = []
    prints = False
    for path in launcher.behind:
        python = scan.python_files.get(path)
        text = read_text(scan.root / path)
        if text is None:
            continue
        code.append(text)
        if python is not None:
            printed += [literal.text for literal in python.printed]
            prints = prints or python.prints
        else:
            printed += _ECHO.findall(text)
            prints = prints or bool(_ECHO.search(text))
    shown = list(_shown_files(scan, launcher, code))
    return LauncherHints(
        printed=(*printed, *shown),
        prints=prints or bool(shown) or not launcher.behind,
        code=tuple(code),
        results=tuple(_texts(scan, scan.result_files[:50])),
        written=tuple(_written(scan, launcher)),
    )


def _shown_files(scan: Scan, launcher: DraftLauncher, code: list[str]) -> Iterator[str]:
    """Yield the content of files that the command or a script behind it shows with ``cat``."""
    sources = [launcher.text, *code] if launcher.behind else [launcher.text]
    names = [name for text in sources for name in _CAT.findall(text)]
    paths = [PurePosixPath(name) for name in dict.fromkeys(names)]
    yield from _texts(scan, [path for path in paths if path in scan.files])


def _texts(scan: Scan, paths: Sequence[PurePosixPath]) -> Iterator[str]:
    for path in paths:
        text = read_text(scan.root / path) if scan.files.get(path, 0) < 200_000 else None
        if text is not None:
            yield text


def _written(scan: Scan, launcher: DraftLauncher) -> Iterator[tuple[str, str | None]]:
    for pattern, place in launcher.collect:
        path = PurePosixPath(pattern)
        small = path in scan.files and scan.files[path] < 1_000_000
        yield place, read_text(scan.root / path) if small else None


def _in_committed(
    place: str, text: str, value: ResultValue, siblings: Sequence[ResultValue]
) -> Located | None:
    try:
        reported = ReportedNumber.parse(value.text)
        if place.lower().endswith(".json"):
            return _in_json(place, text, value, reported)
        if place.lower().endswith((".csv", ".tsv")):
            return _in_csv(place, text, value, reported, siblings)
    except (SelectError, ValueError, csv.Error, RecursionError):
        return None
    return None


def _in_json(place: str, text: str, value: ResultValue, reported: ReportedNumber) -> Located | None:
    leaves = []
    for pointer, number in _json_leaves(json.loads(text, parse_float=Decimal)):
        scale = matches(number, reported, _SCALES)
        if scale is not None:
            leaves.append((pointer, scale))
    named = [leaf for leaf in leaves if _names(leaf[0], value)]
    chosen = named if len(named) == 1 else leaves
    if len(chosen) != 1:
        return None if leaves else _named_leaf(place, text, value)
    return Located(place, ("json", chosen[0][0]), _why(place), chosen[0][1])


def _why(place: str, *, value: bool = True) -> str:
    holds = "this value" if value else "another value"
    return f"read from {place}, which the code writes; a committed copy holds {holds} there"


def _named_leaf(place: str, text: str, value: ResultValue) -> Located | None:
    """Find a leaf by the labels alone; the committed number is another one."""
    wanted = [pattern for label in (value.row, value.column) if (pattern := label_pattern(label))]
    found = [
        pointer
        for pointer, _ in _json_leaves(json.loads(text, parse_float=Decimal))
        if wanted and all(re.search(pattern, pointer, re.IGNORECASE) for pattern in wanted)
    ]
    if len(found) != 1:
        return None
    return Located(place, ("json", found[0]), _why(place, value=False), None)


def _json_leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Decimal]]:
    pending = [(pointer, value)]
    count = 0
    while pending and count < _MAX_LEAVES:
        here, item = pending.pop()
        count += 1
        if isinstance(item, dict):
            keys = ((str(k).replace("~", "~0").replace("/", "~1"), v) for k, v in item.items())
            pending.extend((f"{here}/{key}", inner) for key, inner in keys)
        elif isinstance(item, list):
            pending.extend((f"{here}/{index}", inner) for index, inner in enumerate(item))
        elif isinstance(item, Decimal | int) and not isinstance(item, bool):
            yield here, Decimal(item)


def _names(text: str, value: ResultValue) -> bool:
    labels = [label_pattern(label) for label in (value.row, value.column) if label]
    return any(re.search(label, text, re.IGNORECASE) for label in labels if label)


def _in_csv(
    place: str,
    text: str,
    value: ResultValue,
    reported: ReportedNumber,
    siblings: Sequence[ResultValue],
) -> Located | None:
    delimiter = "\t" if place.lower().endswith(".tsv") else ","
    rows = [
        {k: v for k, v in row.items() if isinstance(k, str) and isinstance(v, str)}
        for row in csv.DictReader(io.StringIO(text), delimiter=delimiter)
    ]
    label = label_pattern(value.row)
    found = []
    for cells in rows:
        for column, cell in cells.items():
            scale = _matching(cell, reported)
            key = next((k for k, v in cells.items() if k != column and _is(label, v)), None)
            if scale is not None and (key is not None or len(rows) == 1):
                found.append(({key: cells[key]} if key else {}, column, scale))
    named = [entry for entry in found if _names(entry[1], value)]
    chosen = named if len(named) == 1 else found
    if not chosen:
        return _named_cell(place, rows, value)
    if len(chosen) != 1 or (len(siblings) > 1 and len(rows) > 1 and not chosen[0][0]):
        return None
    where, column, scale = chosen[0]
    locator: dict[str, object] = {"where": where, "column": column} if where else {"column": column}
    return Located(place, ("csv", locator), _why(place), scale)


def _named_cell(place: str, rows: list[dict[str, str]], value: ResultValue) -> Located | None:
    """Find a cell by the labels of its row and column; the committed number is another one."""
    row, column = label_pattern(value.row), label_pattern(value.column)
    cells = [
        (key, text, name)
        for line in rows
        for key, text in line.items()
        if _is(row, text)
        for name in line
        if name != key and _is(column, name)
    ]
    if len(cells) != 1:
        return None
    key, text, name = cells[0]
    locator = {"where": {key: text}, "column": name}
    return Located(place, ("csv", locator), _why(place, value=False), None)


def _matching(cell: str, reported: ReportedNumber) -> Decimal | None:
    try:
        return matches(parse_value(cell.strip().removesuffix("%")), reported, _SCALES)
    except SelectError:
        return None


def _is(label: str, cell: str) -> bool:
    """Tell whether a cell is a row's label, up to case and separators."""
    if not label:
        return False
    return re.fullmatch(rf"[\W_]*{label}[\W_]*", cell, re.IGNORECASE) is not None


def _guessed_csv(place: str, value: ResultValue) -> Located | None:
    """Guess the cell of a table that was never committed, by the names in the README."""
    column = re.sub(r"\([^()]*\)|%", "", value.column).strip()
    if not column or not value.row or not value.row_name:
        return None
    why = f"the code prints nothing and writes {place}; its column names are guessed from the table"
    locator = {"where": {value.row_name: value.row}, "column": column}
    return Located(place, ("csv", locator), why, None)
