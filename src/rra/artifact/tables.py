"""Expanding the results tables of a manifest into outcomes (spec: table).

A table in the paper is one declaration in ``rra.yaml`` and one file of the artifact. Each cell
becomes the outcome ``<row>-<column>``, with the text of the cell as what is reported, so the rest
of the program sees outcomes and nothing else. Every fault is said with its place, in the manifest
or in the file; cells without a value and rows left out are noted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as DiskPath

from rra._base import canonical
from rra._base.yaml import YamlDocument
from rra.artifact.semantics.derived import check_operands_in_tables
from rra.artifact.semantics.result_tables import MAX_CELLS, MAX_ID
from rra.artifact.table_cells import Maker, Spot
from rra.artifact.table_lines import (
    CELLS,
    COMPARED,
    DIFFER,
    KEPT,
    LABELS,
    LENGTH,
    NEW,
    PLACES,
    SIZE,
    TABLE,
    Faults,
    Line,
    Path,
    choose_columns,
    choose_rows,
    listed,
    near,
    spread_columns,
)
from rra.artifact.table_source import (
    ReportedTable,
    named_by,
    parse_reported,
    reported_text,
)
from rra.errors import Problem, SelectError
from rra.model import Experiment, Manifest, Outcome, ResultsTable, TableLine, TablePart


@dataclasses.dataclass(frozen=True)
class Expansion:
    """What became of a manifest with tables.

    Attributes:
        manifest: The manifest, with the outcomes of its tables among the others.
        levels: For each outcome of a table, where the manifest speaks of it: cell, row, column
            and table, the most particular place first.
        problems: Faults; the manifest is not to be used when there are any.
        notes: What of a table is not compared, and why.
    """

    manifest: Manifest
    levels: Mapping[str, tuple[Path, ...]] = dataclasses.field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()


def expand_tables(root: DiskPath, document: YamlDocument, manifest: Manifest) -> Expansion:
    """Turn every cell of the declared tables into an outcome.

    Args:
        root: The artifact.
        document: Its manifest with the place of each value.
        manifest: The same as a model.
    """
    experiments: dict[str, Experiment] = {}
    levels: dict[str, tuple[Path, ...]] = {}
    problems: list[Problem] = []
    notes: list[str] = []
    for name, experiment in manifest.experiments.items():
        if experiment.table is None:
            experiments[name] = experiment
            continue
        here: Path = ("experiments", name, "table")
        expander = _Expander(experiment, experiment.table, here, Faults(document))
        made = expander.expand(root, manifest)
        experiments[name] = experiment.model_copy(
            update={"outcomes": {**experiment.outcomes, **made}}
        )
        levels |= {f"{name}/{key}": paths for key, paths in expander.levels.items()}
        problems += expander.faults.problems
        notes += [f"{name}: {note}" for note in expander.faults.notes]
    expanded = manifest.model_copy(update={"experiments": experiments})
    if not problems:
        outcomes = expanded.outcomes()
        cells = {name: outcomes[name].to_json() for name in levels}
        problems += check_operands_in_tables(document, cells)
    return Expansion(expanded, levels, tuple(dict.fromkeys(problems)), tuple(notes))


class _Expander:
    """One table on its way to outcomes."""

    def __init__(
        self, experiment: Experiment, table: ResultsTable, here: Path, faults: Faults
    ) -> None:
        self.faults = faults
        self.levels: dict[str, tuple[Path, ...]] = {}
        self._experiment = experiment
        self._table = table
        self._here = here

    def expand(self, root: DiskPath, manifest: Manifest) -> dict[str, Outcome]:
        read = self._read(root, manifest)
        if read is None:
            return {}
        spreads = spread_columns(read, list(self._parts()), self.faults)
        rows = choose_rows(read, self._table, self._here, self.faults)
        columns = choose_columns(read, self._table, self._here, spreads, self.faults)
        if len(rows) * len(columns) > MAX_CELLS:
            message = f"{read.path} has {len(rows) * len(columns)} cells, more than {MAX_CELLS}"
            hint = "declare fewer rows or columns"
            self.faults.at(self._here, SIZE, message, hint)
            return {}
        spots = list(self._spots(read, rows, columns))
        if self.faults.problems:
            return {}
        outcomes = self._outcomes(read, spots)
        self._check_cells(spots)
        self._check_places(spots, outcomes)
        if not outcomes and not self.faults.problems:
            message = f"no cell of {read.place} is compared"
            hint = "declare rows and columns that hold values"
            self.faults.at(self._here, COMPARED, message, hint)
        return outcomes

    def _read(self, root: DiskPath, manifest: Manifest) -> ReportedTable | None:
        """Read the reported table; None when a fault was noted."""
        table, key, clause = self._table, "reported", KEPT
        try:
            text = reported_text(root, manifest, table.reported)
            clause = TABLE
            read = parse_reported(table.reported, text)
            key, clause = "row_label", LABELS
            return named_by(read, table.row_label)
        except SelectError as error:
            self.faults.at((*self._here, key), clause, error.message, error.hint)
            return None

    def _parts(self) -> Iterator[tuple[TablePart, Path]]:
        yield self._table, self._here
        for name, declared in (("rows", self._table.rows), ("columns", self._table.columns)):
            if isinstance(declared, dict):
                for key, line in declared.items():
                    if isinstance(line, TableLine):
                        yield line, (*self._here, name, key)
        for key, cell in self._table.cells.items():
            yield cell, (*self._here, "cells", key)

    # ------------------------------------------------------------------------------ cells

    def _spots(
        self, read: ReportedTable, rows: Sequence[Line], columns: Sequence[Line]
    ) -> Iterator[Spot]:
        """Yield the cells with their ids; two of one id are a fault with both places."""
        seen: dict[str, str] = {}
        for row in rows:
            for column in columns:
                cell = read.rows[row.index][column.index]
                place = f"{read.path}:{cell.line}:{cell.column}"
                identifier = f"{row.id}-{column.id}"
                if len(identifier) > MAX_ID:
                    message = f"{identifier} is longer than {MAX_ID} characters"
                    hint = "give shorter ids: `rows: {id: name}`, `columns: {id: name}`"
                    self.faults.in_file(read, cell.place, LENGTH, message, hint)
                    continue
                if identifier in seen:
                    message = f"{seen[identifier]} and this cell both give the id {identifier}"
                    hint = "give rows or columns ids of their own: `rows: {id: name}`"
                    self.faults.in_file(read, cell.place, DIFFER, message, hint)
                    continue
                seen[identifier] = place
                self._check_taken(identifier, place)
                yield Spot(identifier, row, column, cell, self._levels(identifier, row, column))

    def _check_taken(self, identifier: str, place: str) -> None:
        if identifier in self._experiment.outcomes:
            path = (*self._here[:-1], "outcomes", identifier)
            message = f"the outcome {identifier} is declared here and by the cell at {place}"
            hint = "rename it, or give row and column another id"
            self.faults.at(path, NEW, message, hint)

    def _levels(
        self, identifier: str, row: Line, column: Line
    ) -> tuple[tuple[TablePart, Path], ...]:
        levels: list[tuple[TablePart, Path]] = [(self._table, self._here)]
        levels += [(line.part, line.path) for line in (column, row) if line.part is not None]
        cell = self._table.cells.get(identifier)
        if cell is not None:
            levels.append((cell, (*self._here, "cells", identifier)))
        return tuple(levels)

    def _outcomes(self, read: ReportedTable, spots: Sequence[Spot]) -> dict[str, Outcome]:
        maker = Maker(read, self._table, self._here, self.faults)
        outcomes: dict[str, Outcome] = {}
        empty: list[str] = []
        for spot in spots:
            reason = spot.skip()
            if reason is not None:
                self.faults.notes.append(f"{spot.id} is not compared: {' '.join(reason.split())}")
            elif spot.is_empty(spot.last("type") or "number"):
                empty.append(spot.id)
            else:
                made = maker.make(spot)
                if made is not None:
                    outcomes[spot.id] = made
                    self.levels[spot.id] = tuple(path for _, path in reversed(spot.levels))
        if empty:
            self.faults.notes.append(f"empty in {read.path}, so not compared: {listed(empty)}")
        if maker.unexplained:
            self.faults.notes.append(
                f"what the ± of {read.path} is has not been declared, so it is not used: "
                f"{listed(maker.unexplained)}"
            )
        self._check_not_empty(empty)
        return outcomes

    def _check_not_empty(self, empty: Sequence[str]) -> None:
        for identifier in empty:
            if identifier in self._table.cells:
                message = f"the reported table has no value for {identifier}"
                self.faults.at((*self._here, "cells", identifier), CELLS, message, "take it out")

    # ----------------------------------------------------------------------------- checks

    def _check_cells(self, spots: Sequence[Spot]) -> None:
        known = [spot.id for spot in spots]
        for identifier in self._table.cells:
            if identifier not in known:
                message = f"the table has no cell {identifier!r}"
                here = (*self._here, "cells", identifier)
                self.faults.at(here, CELLS, message, near(identifier, known))

    def _check_places(self, spots: Sequence[Spot], outcomes: Mapping[str, Outcome]) -> None:
        """Two cells that are read from one place are a slip: the locator lacks a name."""
        seen: dict[str, str] = {}
        for spot in spots:
            if spot.id not in outcomes:
                continue
            key = canonical.digest(outcomes[spot.id].selector.to_json())
            if key in seen:
                message = f"{seen[key]} and {spot.id} are read from the same place"
                hint = "put {row} and {column} into the selector, or give a line its own `output`"
                self.faults.at(spot.declared, PLACES, message, hint)
            seen.setdefault(key, spot.id)
