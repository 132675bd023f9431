"""`rra.yaml`: the author's decisions (spec: manifest)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from rra.model.base import FormatVersion, Id, Object

Scalar = str | int | float | bool
Unit = str


class Author(Object):
    """A person who made the artifact or the paper."""

    name: str
    orcid: str | None = None


class Paper(Object):
    """The publication whose results are reproduced."""

    title: str | None = None
    authors: list[str] | None = None
    year: int | None = None
    doi: str | None = None
    arxiv: str | None = None
    url: str | None = None
    sha256: str | None = None


class Source(Object):
    """The upstream tree that the code was made from.

    Attributes:
        swhid: ``swh:1:dir:<40 hex>``, the number git gives for the tree.
    """

    repository: str | None = None
    commit: str | None = None
    swhid: Annotated[str, Field(pattern=r"^swh:1:dir:[0-9a-f]{40}$")] | None = None


class Code(Object):
    """Where the code is, and which files of it do not belong to the artifact."""

    root: str = "code"
    exclude: list[str] = []


class Environment(Object):
    """One software environment and its lock."""

    kind: Literal["pylock", "conda", "container", "renv", "system"]
    python: str | None = None
    platforms: list[str] | None = None
    lock: str | None = None
    requirements: list[str] | None = None
    as_of: str | None = None
    as_of_why: Literal["manifest-commit", "paper-date", "bisected", "author"] | None = None
    system_packages: dict[str, list[str]] | None = None
    variables: dict[str, str] | None = None
    accelerator: dict[str, Any] | None = None
    wheels: str | None = None


class DataSource(Object):
    """One place that a data item can be had from."""

    url: str | None = None
    doi: str | None = None
    oci: str | None = None
    manual: str | None = None


class DataItem(Object):
    """A file or folder of input data."""

    path: str
    licence: str | None = None
    access: Literal["bundled", "fetch", "gated", "private"] = "bundled"
    sources: list[DataSource] | None = None
    target: str | None = None


class Parameter(Object):
    """One parameter of a launcher, passed as ``RRA_PARAM_<NAME>``."""

    type: Literal["string", "integer", "number", "boolean"] = "string"
    default: Scalar | None = None
    choices: list[Scalar] | None = None


class OutputSpec(Object):
    """A file that a launcher leaves in its output directory."""

    name: str
    required: bool = True
    media_type: str | None = None
    max_bytes: int | None = None


class Seeds(Object):
    """How a launcher takes its seed, and which seeds the author used."""

    parameter: str | None = None
    variable: str | None = None
    values: list[int] = []


class Limits(Object):
    """What a launcher may use at most: wall seconds, bytes of output."""

    wall: float | None = None
    output: int | None = None


class Hint(Object):
    """What a launcher took: wall seconds, and on which machine."""

    wall: float | None = None
    measured_on: str | None = None


class Smoke(Object):
    """Parameters of a short run that shows that the launcher works."""

    parameters: dict[str, Scalar] | None = None
    wall: float | None = None


class Launcher(Object):
    """A directly invocable run."""

    entry: str
    environment: Id
    needs: list[Id] = []
    inputs: list[Id] = []
    outputs: list[str | OutputSpec] = []
    collect: dict[str, str] = {}
    parameters: dict[str, Parameter] = {}
    seeds: Seeds | None = None
    deterministic: bool | None = None
    network: Literal["none", "full"] | list[str] = "none"
    variables: dict[str, str] | None = None
    limits: Limits | None = None
    hint: Hint | None = None
    smoke: Smoke | None = None

    @property
    def output_specs(self) -> list[OutputSpec]:
        """The outputs in their long form."""
        return [OutputSpec(name=o) if isinstance(o, str) else o for o in self.outputs]


class Selector(Object):
    """Where in a launcher's outputs a value stands; exactly one locator is given."""

    launcher: Id
    runs: Literal["all"] | dict[str, Any] | None = None
    file: str
    json_pointer: Annotated[str | None, Field(alias="json")] = None
    csv: dict[str, Any] | None = None
    regex: str | None = None
    npz: dict[str, Any] | None = None
    pick: Literal["only", "first", "last", "max", "min"] | dict[str, Any] = "only"
    aggregate: Literal["single", "mean", "median", "min", "max", "sd", "se"] = "single"
    unit: Unit | None = None


class ReportedUncertainty(Object):
    """The spread that the paper reports beside its value."""

    value: str
    kind: Literal["sd", "se", "ci95", "range"]
    runs: int


class Deviation(Object):
    """What the artifact gives instead of the reported value, and why."""

    observed: str
    explanation: str


class Outcome(Object):
    """One reported value and where the artifact makes it."""

    type: Literal["number", "category", "list"]
    reported: str | list[str]
    unit: Unit | None = None
    reported_uncertainty: ReportedUncertainty | None = None
    comparable: Literal["always", "same-hardware", "never"] = "always"
    scope: Literal["aggregated", "rescored", "re-evaluated", "retrained"] = "retrained"
    location: str | None = None
    metric: str | None = None
    split: str | None = None
    direction: Literal["higher", "lower"] | None = None
    bounds: list[float] | None = None
    scale: Literal["linear", "log"] = "linear"
    n_items: int | None = None
    meaningful_difference: str | None = None
    tolerance: str | None = None
    order: Literal["ordered", "set"] = "ordered"
    selector: Selector
    deviation: Deviation | None = None


class SelectorPart(Object):
    """What a selector says beyond launcher and file, with ``{row}`` and ``{column}`` in it."""

    runs: Literal["all"] | dict[str, Any] | None = None
    json_pointer: Annotated[str | None, Field(alias="json")] = None
    csv: dict[str, Any] | None = None
    regex: str | None = None
    npz: dict[str, Any] | None = None
    pick: Literal["only", "first", "last", "max", "min"] | dict[str, Any] | None = None
    aggregate: Literal["single", "mean", "median", "min", "max", "sd", "se"] | None = None
    unit: Unit | None = None


class TableSpread(Object):
    """What the ± of a table's cells is, and the column it stands in when it has its own."""

    column: str | None = None
    kind: Literal["sd", "se", "ci95", "range"]
    runs: int


class TablePart(Object):
    """What holds for the cells of a table, of a row or column of it, or for one cell."""

    launcher: Id | None = None
    file: str | None = None
    selector: SelectorPart | None = None
    type: Literal["number", "category"] | None = None
    unit: Unit | None = None
    reported_uncertainty: TableSpread | None = None
    comparable: Literal["always", "same-hardware", "never"] | None = None
    scope: Literal["aggregated", "rescored", "re-evaluated", "retrained"] | None = None
    metric: str | None = None
    split: str | None = None
    direction: Literal["higher", "lower"] | None = None
    bounds: list[float] | None = None
    scale: Literal["linear", "log"] | None = None
    n_items: int | None = None
    meaningful_difference: str | None = None
    tolerance: str | None = None


class TableLine(TablePart):
    """A row or a column: its name in the reported table and in the launcher's file."""

    reported: str | dict[str, str] | None = None
    output: str | None = None
    skip: str | None = None


class TableCell(TablePart):
    """One cell: what holds for it alone, why it deviates, or why it is left out."""

    skip: str | None = None
    location: str | None = None
    deviation: Deviation | None = None


class ResultsTable(TablePart):
    """A whole results table; each of its cells is the outcome ``<row>-<column>``.

    Attributes:
        reported: The table as the paper has it, a file of the artifact, ``file#which``.
        row_label: Column, or columns, whose text names a row; the first by default.
        rows: Rows by id or by name; all by default.
        columns: Columns by id or by name; all by default.
        cells: What holds for single cells, by the id of the outcome.
        location: Place of the table in the paper.
    """

    reported: str
    row_label: str | list[str] | None = None
    rows: list[str] | dict[Id, str | TableLine] | None = None
    columns: list[str] | dict[Id, str | TableLine] | None = None
    cells: dict[Id, TableCell] = {}
    location: str | None = None


class Experiment(Object):
    """A group of outcomes, such as one table of the paper.

    Attributes:
        outcomes: Outcomes by id. The reader adds those that `table` declares.
        table: A results table, declared as a whole.
    """

    title: str | None = None
    outcomes: dict[Id, Outcome] = {}
    table: ResultsTable | None = None


class Manifest(Object):
    """The whole of `rra.yaml`."""

    rra: FormatVersion
    name: Id
    version: str
    license: str
    title: str | None = None
    description: str | None = None
    authors: list[Author] | None = None
    paper: Paper | None = None
    source: Source | None = None
    code: Code = Code()
    guide: str | None = None
    keywords: list[str] | None = None
    status: Literal["complete", "incomplete"] | dict[str, Any] | None = None
    environments: dict[Id, Environment]
    data: dict[Id, DataItem] = {}
    launchers: dict[Id, Launcher]
    experiments: dict[Id, Experiment]

    def outcomes(self) -> dict[str, Outcome]:
        """Return all outcomes by ``<experiment>/<outcome>``, in the order of the manifest."""
        return {
            f"{experiment_id}/{outcome_id}": outcome
            for experiment_id, experiment in self.experiments.items()
            for outcome_id, outcome in experiment.outcomes.items()
        }
