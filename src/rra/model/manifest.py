"""`rra.yaml`: the author's decisions (spec: manifest)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from rra.model.base import FormatVersion, Id, Object
from rra.model.experiment import DerivedOutcome, Experiment, Outcome

Scalar = str | int | float | bool


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
        """Return the outcomes that launchers make, by ``<experiment>/<outcome>``, in order."""
        return {
            f"{experiment_id}/{outcome_id}": outcome
            for experiment_id, experiment in self.experiments.items()
            for outcome_id, outcome in experiment.outcomes.items()
            if isinstance(outcome, Outcome)
        }

    def derived_outcomes(self) -> dict[str, DerivedOutcome]:
        """Return the outcomes that follow from others, by ``<experiment>/<outcome>``, in order."""
        return {
            f"{experiment_id}/{outcome_id}": outcome
            for experiment_id, experiment in self.experiments.items()
            for outcome_id, outcome in experiment.outcomes.items()
            if isinstance(outcome, DerivedOutcome)
        }
