"""From a cell of a results table to the outcome that it declares."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import pydantic

from rra.artifact.semantics.outcomes import NUMBERS_ONLY, outcome_faults
from rra.artifact.semantics.selectors import selector_faults
from rra.artifact.table_lines import (
    LOCATOR,
    OUTCOME,
    SPREAD,
    SPREAD_NUMBER,
    UNIT,
    VALUE,
    Faults,
    Line,
    Path,
)
from rra.artifact.table_source import EMPTY, ReportedTable
from rra.model import LOCATORS, Outcome, ResultsTable, TableCell, TablePart, TableSpread
from rra.values.tables import Cell
from rra.values.units import same_unit

_OWN = frozenset(
    {"reported", "row_label", "rows", "columns", "cells", "output", "skip", "location"}
    | {"launcher", "file", "selector", "reported_uncertainty"}
)
_BLANKS = frozenset({"", "-", "--", "---", "–", "—"})
_NO_LITERAL = re.compile(r"[][.^$*+?(){}|\\]")
_PLUS_MINUS = re.compile(r"±|\+/-|\+-|\\pm")


@dataclasses.dataclass(frozen=True)
class Spot:
    """One cell with everything that says what it is.

    Attributes:
        id: Id of the outcome.
        row: Its row.
        column: Its column.
        cell: What stands in the reported table.
        levels: What holds for it and where that is declared, most general first.
    """

    id: str
    row: Line
    column: Line
    cell: Cell
    levels: tuple[tuple[TablePart, Path], ...]

    @property
    def declared(self) -> Path:
        """The most particular place of the manifest that says something of the cell."""
        return self.levels[-1][1]

    def skip(self) -> str | None:
        """Return why the cell is not compared, as the manifest says; None when it is."""
        reasons = [getattr(part, "skip", None) for part, _ in self.levels]
        return next((reason for reason in reversed(reasons) if reason), None)

    def is_empty(self, kind: str) -> bool:
        """Tell whether the reported table has no value here."""
        return self.cell.text.casefold() in (_BLANKS if kind == "category" else EMPTY)

    def merged(self) -> dict[str, Any]:
        """Return the fields of the outcome; what is more particular counts."""
        fields: dict[str, Any] = {}
        for part, _ in self.levels:
            said = part.model_dump(by_alias=True, exclude_unset=True)
            fields |= {key: value for key, value in said.items() if key not in _OWN}
        return fields

    def last(self, name: str) -> Any:
        """Return a field of the most particular level that gives it."""
        values = [getattr(part, name, None) for part, _ in self.levels]
        return next((value for value in reversed(values) if value is not None), None)


class Maker:
    """Makes the outcomes of one table."""

    def __init__(
        self, read: ReportedTable, declared: ResultsTable, here: Path, faults: Faults
    ) -> None:
        """Keep the reported table, what the manifest says of it, and where."""
        self._read = read
        self._declared = declared
        self._here = here
        self._faults = faults
        self.unexplained: list[str] = []

    def make(self, spot: Spot) -> Outcome | None:
        """Return the outcome of a cell; None when a fault was noted."""
        fields = spot.merged()
        kind = fields.setdefault("type", "number")
        if kind == "number" and spot.cell.number is None:
            self._in_cell(
                spot,
                VALUE,
                f"{spot.id}: {spot.cell.text!r} is not a number",
                f"if it is not to be compared, say so: cells: {{{spot.id}: {{skip: why}}}}",
            )
            return None
        if kind != "number":
            fields = {key: value for key, value in fields.items() if key not in NUMBERS_ONLY}
        number = spot.cell.number if kind == "number" else None
        fields["reported"] = number.text if number is not None else spot.cell.text
        if number is not None and not self._add_unit(spot, fields):
            return None
        spread = self._spread(spot) if number is not None else None
        if spread is not None:
            fields["reported_uncertainty"] = spread
        fields["location"] = self._location(spot)
        selector = self._selector(spot)
        if selector is None:
            return None
        if kind != "number":
            selector.pop("unit", None)
        fields["selector"] = selector
        return self._checked(spot, fields)

    def _checked(self, spot: Spot, fields: dict[str, Any]) -> Outcome | None:
        """Build the outcome when it keeps to what holds for any outcome."""
        try:
            outcome = Outcome.model_validate(fields)
        except pydantic.ValidationError as error:
            for wrong in error.errors():
                where = ".".join(str(key) for key in wrong["loc"])
                message = f"{spot.id}: {where}: {wrong['msg']}"
                self._faults.at(spot.declared, OUTCOME, message)
            return None
        launchers = self._faults.document.data["launchers"]
        faults = [*outcome_faults(fields), *selector_faults(fields, launchers)]
        for fault in faults:
            message = f"{spot.id}: {fault.message}"
            if fault.path == ("reported",):
                self._in_cell(spot, fault.clause, message, fault.hint)
            else:
                self._faults.at(self._place(spot, fault.path), fault.clause, message, fault.hint)
        return None if faults else outcome

    def _place(self, spot: Spot, path: Path) -> Path:
        """Return the most particular place where the manifest says something of a cell."""
        for _, level in reversed(spot.levels):
            for inner in (path, path[1:]):
                if inner and (*level, *inner) in self._faults.document.positions:
                    return (*level, *inner)
        return spot.declared

    def _in_cell(self, spot: Spot, clause: str, message: str, hint: str = "") -> None:
        self._faults.in_file(self._read, spot.cell.place, clause, message, hint)

    def _location(self, spot: Spot) -> str:
        own = spot.levels[-1][0]
        if isinstance(own, TableCell) and own.location is not None:
            return own.location
        place = self._declared.location
        if place is None:
            place = f"{self._read.path} row {spot.row.index + 1}"
        return f"{place}, row {spot.row.name}, column {spot.column.name}"

    def _add_unit(self, spot: Spot, fields: dict[str, Any]) -> bool:
        written, given = spot.cell.unit, fields.get("unit")
        if written is None:
            return True
        if given is None:
            fields["unit"] = "percent" if same_unit(written, "percent") else written
            return True
        if not same_unit(written, given):
            message = f"{spot.id}: the table is in {written}, and the manifest says {given}"
            self._in_cell(spot, UNIT, message, "correct the unit of the table in rra.yaml")
            return False
        return True

    # -------------------------------------------------------------------------- spread

    def _spread(self, spot: Spot) -> dict[str, Any] | None:
        said: TableSpread | None = spot.last("reported_uncertainty")
        if said is not None and said.column is not None:
            return self._spread_of_column(spot, said, said.column)
        given = spot.cell.uncertainty
        if given is None:
            return None
        if said is None:
            self.unexplained.append(spot.id)
            return None
        in_brackets = not _PLUS_MINUS.search(spot.cell.text)
        if in_brackets and spot.cell.number and spot.cell.number.decimals > given.decimals:
            message = f"{spot.id}: {spot.cell.text!r} can be read in two ways"
            self._in_cell(spot, SPREAD, message, "write the spread with its point: 98.9 ± 0.3")
            return None
        return {"value": given.text, "kind": said.kind, "runs": said.runs}

    def _spread_of_column(
        self, spot: Spot, said: TableSpread, column: str
    ) -> dict[str, Any] | None:
        cell = self._read.rows[spot.row.index][self._read.column(column)]
        if cell.text.casefold() in EMPTY:
            return None
        if cell.number is None:
            message = f"{spot.id}: the spread {cell.text!r} is not a number"
            self._faults.in_file(self._read, cell.place, SPREAD_NUMBER, message)
            return None
        return {"value": cell.number.text, "kind": said.kind, "runs": said.runs}

    # ------------------------------------------------------------------------ selector

    def _selector(self, spot: Spot) -> dict[str, Any] | None:
        launcher, file = spot.last("launcher"), spot.last("file")
        said: dict[str, Any] = {}
        for part, _ in spot.levels:
            if part.selector is None:
                continue
            own = part.selector.model_dump(by_alias=True, exclude_unset=True)
            if any(name in own for name in LOCATORS):
                said = {key: value for key, value in said.items() if key not in LOCATORS}
            said |= own
        names = {"row": spot.row.output, "column": spot.column.output}
        file = _filled(file, names)
        if not any(name in said for name in LOCATORS):
            default = self._default(spot, file)
            if default is None:
                return None
            said |= default
        else:
            said = {key: _locator(key, value, names) for key, value in said.items()}
        return {"launcher": launcher, "file": file, **said}

    def _default(self, spot: Spot, file: str) -> dict[str, Any] | None:
        """Return where a cell stands in a file that is laid out like the reported table."""
        suffix = PurePosixPath(file).suffix.lower()
        labels = [self._read.header[at] for at in self._read.labels]
        if suffix == ".json":
            names = {"row": spot.row.output, "column": spot.column.output}
            return {"json": _locator("json", "/{row}/{column}", names)}
        if suffix in {".csv", ".tsv"} and all(labels):
            return {"csv": {"where": self._where(spot, labels), "column": spot.column.output}}
        path = self._here
        message = f"where in {file} the cells stand is not said"
        hint = "add a selector with {row} and {column} in it, such as "
        hint += '{regex: "{row}: {column}=(?P<value>[0-9.]+)"}'
        self._faults.at(path, LOCATOR, message, hint)
        return None

    def _where(self, spot: Spot, labels: Sequence[str]) -> dict[str, str]:
        if len(labels) == 1 or spot.row.output != spot.row.name:
            return {labels[-1]: spot.row.output}
        row = self._read.rows[spot.row.index]
        return {
            label: self._read.label(spot.row.index, at, row[at])
            for label, at in zip(labels, self._read.labels, strict=True)
        }


def _filled(text: str, names: Mapping[str, str]) -> str:
    """Put the names into ``{row}`` and ``{column}``."""
    return re.sub(r"\{(row|column)\}", lambda found: names[found[1]], text)


def _locator(kind: str, value: Any, names: Mapping[str, str]) -> Any:
    """Put the names into a locator, written as the locator needs them."""
    if kind == "json" and isinstance(value, str):
        pointers = {key: name.replace("~", "~0").replace("/", "~1") for key, name in names.items()}
        return _filled(value, pointers)
    if kind == "regex" and isinstance(value, str):
        return _filled(
            value, {key: _NO_LITERAL.sub(r"\\\g<0>", name) for key, name in names.items()}
        )
    return _inside(value, names) if kind in LOCATORS else value


def _inside(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {_filled(str(key), names): _inside(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [_inside(inner, names) for inner in value]
    return _filled(value, names) if isinstance(value, str) else value
