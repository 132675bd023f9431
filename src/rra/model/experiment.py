"""Experiments, their outcomes and results tables (spec: experiment, outcome, table)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from rra.model.base import Id, Object
from rra.model.selector import SafePath, Selector, SelectorPart, Text
from rra.model.text import distinct

Size = Annotated[str, Field(pattern=r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]{1,3})?$")]
"""A number that is not negative, as text."""

Comparable = Literal["always", "same-hardware", "never"]
Scope = Literal["aggregated", "rescored", "re-evaluated", "retrained"]
Direction = Literal["higher", "lower"]
Scale = Literal["linear", "log"]
SpreadKind = Literal["sd", "se", "ci95", "range"]
Bounds = Annotated[list[float], Field(min_length=2, max_length=2)]
AtLeastOne = Annotated[int, Field(ge=1)]
OutcomeRef = Annotated[str, Field(pattern=r"^([a-z0-9][a-z0-9-]{0,62}/)?[a-z0-9][a-z0-9-]{0,62}$")]
"""An outcome of the same experiment by its id, or ``<experiment>/<outcome>``."""


class ReportedUncertainty(Object):
    """The spread that the paper reports beside its value."""

    value: Size
    kind: SpreadKind
    runs: AtLeastOne


class Deviation(Object):
    """What the artifact gives instead of the reported value, and why."""

    observed: Text
    explanation: Text


class Derived(Object):
    """How a value follows from those of other outcomes."""

    op: Literal["difference", "ratio", "mean", "percent_change"]
    of: Annotated[list[OutcomeRef], Field(min_length=1)]


class Predictions(Object):
    """Saved predictions that a metric can be computed from again."""

    file: SafePath
    truth: Text
    predicted: Text
    metric: Text
    averaging: Literal["binary", "micro", "macro", "weighted"] | None = None
    positive: Text | None = None


class ReportedValue(Object):
    """One value that the paper reports: what outcomes of both kinds say of it."""

    type: Literal["number", "category", "list"]
    reported: Text | Annotated[list[Text], Field(min_length=1)]
    unit: Text | None = None
    reported_uncertainty: ReportedUncertainty | None = None
    comparable: Comparable = "always"
    scope: Scope = "retrained"
    location: Text | None = None
    metric: Text | None = None
    split: Text | None = None
    direction: Direction | None = None
    bounds: Bounds | None = None
    scale: Scale = "linear"
    n_items: AtLeastOne | None = None
    meaningful_difference: Size | None = None
    tolerance: Size | None = None
    order: Literal["ordered", "set"] = "ordered"
    predictions: Predictions | None = None
    deviation: Deviation | None = None


class Outcome(ReportedValue):
    """One reported value and where the artifact makes it."""

    selector: Selector

    @model_validator(mode="after")
    def _not_derived_too(self) -> Outcome:
        if "derived" in (self.model_extra or {}):
            raise PydanticCustomError("one_source", "give either a selector or `derived`")
        return self


class DerivedOutcome(ReportedValue):
    """One reported value that follows from others, such as the gain of one method over another."""

    derived: Derived

    def operands(self, experiment: str) -> list[str]:
        """Return what it follows from, each as ``<experiment>/<outcome>``.

        Args:
            experiment: The experiment that it belongs to.
        """
        return [one if "/" in one else f"{experiment}/{one}" for one in self.derived.of]

    def describe(self, experiment: str) -> str:
        """Return in one line how it follows from others."""
        op = self.derived.op.replace("_", " ")
        return f"{op} of {' and '.join(self.operands(experiment))}"


def _source(data: Any) -> str:
    if isinstance(data, dict):
        return "derived" if "derived" in data and "selector" not in data else "measured"
    return "derived" if isinstance(data, DerivedOutcome) else "measured"


AnyOutcome = Annotated[
    Annotated[Outcome, Tag("measured")] | Annotated[DerivedOutcome, Tag("derived")],
    Discriminator(_source),
]


class TableSpread(Object):
    """What the ± of a table's cells is, and the column it stands in when it has its own."""

    column: Text | None = None
    kind: SpreadKind
    runs: AtLeastOne


class TablePart(Object):
    """What holds for the cells of a table, of a row or column of it, or for one cell."""

    selector: SelectorPart | None = None
    type: Literal["number", "category"] | None = None
    unit: Text | None = None
    reported_uncertainty: TableSpread | None = None
    comparable: Comparable | None = None
    scope: Scope | None = None
    metric: Text | None = None
    split: Text | None = None
    direction: Direction | None = None
    bounds: Bounds | None = None
    scale: Scale | None = None
    n_items: AtLeastOne | None = None
    meaningful_difference: Size | None = None
    tolerance: Size | None = None


class TableLine(TablePart):
    """A row or a column: its name in the reported table and in the launcher's file."""

    launcher: Id | None = None
    file: SafePath | None = None
    reported: Text | Annotated[dict[str, str], Field(min_length=1)] | None = None
    output: Text | None = None
    skip: Text | None = None


class TableCell(TablePart):
    """One cell: what holds for it alone, why it deviates, or why it is left out."""

    launcher: Id | None = None
    file: SafePath | None = None
    skip: Text | None = None
    location: Text | None = None
    deviation: Deviation | None = None


Lines = (
    Annotated[list[Text], Field(min_length=1), distinct]
    | Annotated[dict[Id, Text | TableLine], Field(min_length=1)]
)


class ResultsTable(TablePart):
    """A whole results table; each of its cells is the outcome ``<row>-<column>``.

    Attributes:
        reported: The table as the paper has it, a file of the artifact, ``file#which``.
        launcher: Launcher that makes the values, where no part names another.
        file: File in the launcher's output directory, where no part names another.
        row_label: Column, or columns, whose text names a row; the first by default.
        rows: Rows by id or by name; all by default.
        columns: Columns by id or by name; all by default.
        cells: What holds for single cells, by the id of the outcome.
        location: Place of the table in the paper.
    """

    reported: SafePath
    launcher: Id
    file: SafePath
    row_label: Text | Annotated[list[Text], Field(min_length=1)] | None = None
    rows: Lines | None = None
    columns: Lines | None = None
    cells: dict[Id, TableCell] = {}
    location: Text | None = None


class Experiment(Object):
    """A group of outcomes, such as one table of the paper.

    Attributes:
        outcomes: Outcomes by id. The reader adds those that `table` declares.
        table: A results table, declared as a whole.
    """

    title: Text | None = None
    description: Text | None = None
    outcomes: Annotated[dict[Id, AnyOutcome], Field(min_length=1)] = {}
    table: ResultsTable | None = None

    @model_validator(mode="after")
    def _has_outcomes(self) -> Experiment:
        if not self.outcomes and self.table is None:
            raise PydanticCustomError("no_outcomes", "an experiment has outcomes or a table")
        return self
