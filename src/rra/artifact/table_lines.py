"""Choosing the rows and columns of a results table that are declared, and giving them ids."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence

from rra._base.slugs import slug_of
from rra._base.yaml import Key, YamlDocument
from rra.artifact.table_source import EMPTY, ReportedTable, same_form
from rra.errors import Problem, SelectError
from rra.model import ResultsTable, TableLine, TablePart
from rra.values.tables import without_unit

KEPT = "table/reported-is-kept"
TABLE = "table/reported-is-a-table"
LABELS = "table/row-label-exists"
LINES = "table/lines-exist"
NAMED = "table/names-give-ids"
NEW = "table/ids-are-new"
DIFFER = "table/ids-differ"
LENGTH = "table/id-length"
CELLS = "table/cells-exist"
COMPARED = "table/has-cells"
SIZE = "table/size"
VALUE = "table/cell-is-a-value"
UNIT = "table/unit-agrees"
SPREAD = "table/spread-is-clear"
SPREAD_NUMBER = "table/spread-is-a-number"
LOCATOR = "table/locator-is-known"
PLACES = "table/places-differ"
OUTCOME = "table/cell-is-an-outcome"
"""Clauses that the expansion of a table checks."""

Path = tuple[Key, ...]
Declared = Sequence[str] | Mapping[str, str | TableLine] | None


@dataclasses.dataclass(frozen=True)
class Line:
    """A row or a column that is declared.

    Attributes:
        id: Its part of the outcome's id.
        name: Its name in the reported table.
        output: Its name in the launcher's file.
        index: Its position in the reported table.
        path: Where the manifest declares it; the table itself when all are taken.
        part: What holds for its cells.
    """

    id: str
    name: str
    output: str
    index: int
    path: Path
    part: TableLine | None = None


@dataclasses.dataclass
class Faults:
    """Problems and notes of one table, as they are found.

    Attributes:
        document: The manifest.
        problems: What stops the artifact from being used.
        notes: What is not compared, for people.
    """

    document: YamlDocument
    problems: list[Problem] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)

    def at(self, path: Path, clause: str, message: str, hint: str = "") -> None:
        """Note a problem at a value of the manifest."""
        self.problems.append(self.document.problem(path, message, clause=clause, hint=hint))

    def in_file(
        self,
        table: ReportedTable,
        place: tuple[int, int],
        clause: str,
        message: str,
        hint: str = "",
    ) -> None:
        """Note a problem at a line and column of the reported table."""
        where = (str(table.path), *place)
        self.problems.append(Problem(message, *where, clause=clause, hint=hint))


def choose_rows(
    read: ReportedTable, declared: ResultsTable, here: Path, faults: Faults
) -> list[Line]:
    """Return the rows that a table declares, in the order of the declaration."""
    if declared.rows is None:
        return list(_all_rows(read, here, faults))
    chooser = _Chooser(
        "row",
        read,
        faults,
        read.rows_called,
        lambda index: read.names[index],
        read.names,
    )
    lines = chooser.choose(declared.rows, (*here, "rows"))
    _note_others("row", read.names, range(len(read.names)), lines, faults)
    return lines


def choose_columns(
    read: ReportedTable, declared: ResultsTable, here: Path, spreads: set[int], faults: Faults
) -> list[Line]:
    """Return the columns that a table declares, in the order of the declaration.

    Args:
        read: The reported table.
        declared: What the manifest says of it.
        here: Where the manifest says it.
        spreads: Columns that hold nothing but the spread of others.
        faults: Takes what is wrong.
    """
    values = [at for at in range(len(read.header)) if at not in read.labels and at not in spreads]
    if declared.columns is None:
        return list(_all_columns(read, declared, values, here, faults))
    chooser = _Chooser(
        "column",
        read,
        faults,
        read.columns_called,
        lambda index: read.header[index],
        [read.header[at] for at in values],
    )
    lines = chooser.choose(declared.columns, (*here, "columns"))
    _note_others("column", read.header, values, lines, faults)
    return lines


def _all_rows(read: ReportedTable, here: Path, faults: Faults) -> Iterator[Line]:
    for index, (name, row) in enumerate(zip(read.names, read.rows, strict=True)):
        values = [cell.text for at, cell in enumerate(row) if at not in read.labels]
        if all(text.casefold() in EMPTY for text in values):
            faults.notes.append(f"row {name or '(no name)'} of {read.path} is empty")
            continue
        identifier = slug_of(name)
        if not identifier:
            what = f"the name {name!r} gives no id" if name else "the row has no name"
            hint = "declare the rows: `rows: {id: name}`, or `row_label` if another column names"
            faults.in_file(read, row[0].place, NAMED, what, hint)
            continue
        yield Line(identifier, name, name, index, here)


def _all_columns(
    read: ReportedTable, declared: ResultsTable, values: list[int], here: Path, faults: Faults
) -> Iterator[Line]:
    for at in values:
        name = read.header[at]
        if declared.type != "category" and not any(row[at].number for row in read.rows):
            faults.notes.append(f"column {name or '(no name)'} of {read.path} holds no number")
            continue
        identifier = slug_of(without_unit(name))
        if not identifier:
            what = f"the name {name!r} gives no id" if name else f"column {at + 1} has no name"
            hint = "declare the columns: `columns: {id: name}`"
            faults.in_file(read, (read.line, 1), NAMED, what, hint)
            continue
        yield Line(identifier, name, name, at, here)


def _note_others(
    what: str, names: Sequence[str], all_: Sequence[int], chosen: list[Line], faults: Faults
) -> None:
    taken = {line.index for line in chosen}
    left = [names[at] or "(no name)" for at in all_ if at not in taken]
    if left and chosen:
        faults.notes.append(f"{what}s that are not declared: {listed(left)}")


@dataclasses.dataclass(frozen=True)
class _Chooser:
    """Finds declared rows, or columns, in the reported table."""

    what: str
    read: ReportedTable
    faults: Faults
    called: Callable[[str], list[int]]
    name_of: Callable[[int], str]
    known: Sequence[str]

    def choose(self, declared: Declared, here: Path) -> list[Line]:
        lines: list[Line] = []
        for identifier, entry, path in _entries(declared, here):
            part = entry if isinstance(entry, TableLine) else None
            found = self._find(identifier, entry, path)
            if found is None:
                continue
            name = self.name_of(found)
            output = part.output if part is not None and part.output else name
            given = identifier or self._id(name)
            if not given:
                hint = f"give it an id: `{self.what}s: {{id: {name}}}`"
                self.faults.at(path, NAMED, f"the name {name!r} gives no id", hint)
                continue
            lines.append(Line(given, name, output, found, path, part))
        return lines

    def _id(self, name: str) -> str:
        return slug_of(without_unit(name) if self.what == "column" else name)

    def _find(self, identifier: str, entry: str | TableLine, path: Path) -> int | None:
        reported = entry if isinstance(entry, str) else entry.reported
        if isinstance(reported, dict):
            return self._find_where(reported, path)
        if reported is not None:
            found, wanted = self.called(reported), reported
        else:
            found = [at for at, name in enumerate(self._names()) if self._id(name) == identifier]
            wanted = identifier
        if len(found) == 1:
            return found[0]
        if found:
            hint = f"name them by id, with reported: {{column: text}}: {self._places(found)}"
            message = f"{len(found)} {self.what}s of {self.read.place} are called {wanted!r}"
        else:
            message = f"{self.read.place} has no {self.what} {wanted!r}"
            hint = near(wanted, self.known)
        self.faults.at(path, LINES, message, hint)
        return None

    def _find_where(self, texts: Mapping[str, str], path: Path) -> int | None:
        shown = ", ".join(f"{column}: {text}" for column, text in texts.items())
        try:
            found = self.read.rows_where(texts)
        except SelectError as error:
            self.faults.at(path, LINES, error.message, error.hint)
            return None
        if len(found) == 1:
            return found[0]
        message = f"{len(found) or 'no'} rows of {self.read.place} have {shown}"
        hint = self._places(found) if found else "compare with the file"
        self.faults.at(path, LINES, message, hint)
        return None

    def _names(self) -> Sequence[str]:
        return self.read.names if self.what == "row" else self.read.header

    def _places(self, found: Sequence[int]) -> str:
        if self.what == "column":
            return f"columns {listed([str(at + 1) for at in found])}"
        return f"lines {listed([str(self.read.rows[at][0].line) for at in found])}"


def _entries(declared: Declared, here: Path) -> Iterator[tuple[str, str | TableLine, Path]]:
    """Yield (id or nothing, entry, where the manifest has it)."""
    if isinstance(declared, Mapping):
        for identifier, entry in declared.items():
            yield identifier, entry, (*here, identifier)
    else:
        for index, name in enumerate(declared or ()):
            yield "", name, (*here, index)


def near(wanted: str, known: Sequence[str]) -> str:
    """Say which known names are meant, or all of them."""
    close = difflib.get_close_matches(
        same_form(wanted), list(dict.fromkeys(known)), n=3, cutoff=0.5
    )
    if close:
        return f"did you mean {' or '.join(close)}?"
    return f"there are: {listed([name for name in known if name])}"


def listed(names: Sequence[str], limit: int = 12) -> str:
    """Join names, the first ones when there are many."""
    shown = ", ".join(names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown


def spread_columns(
    read: ReportedTable, parts: Sequence[tuple[TablePart, Path]], faults: Faults
) -> set[int]:
    """Return the columns that hold the spread of others, as the declarations say."""
    found: set[int] = set()
    for part, path in parts:
        spread = part.reported_uncertainty
        if spread is None or spread.column is None:
            continue
        try:
            found.add(read.column(spread.column))
        except SelectError as error:
            here = (*path, "reported_uncertainty", "column")
            faults.at(here, LINES, error.message, error.hint)
    return found
