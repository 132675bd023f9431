"""`rra.yaml`: the author's decisions (spec: manifest)."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from rra.model.base import Digest, FormatVersion, Id, Object
from rra.model.data import DataItem
from rra.model.environment import Environment
from rra.model.experiment import DerivedOutcome, Experiment, Outcome
from rra.model.launcher import Launcher
from rra.model.parts import Doi, SafePath, Text, Url, distinct, whole

_ORCID = r"^[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]$"
_ARXIV = r"^(?:[0-9]{4}\.[0-9]{4,5}|[a-z][a-z-]*(?:\.[A-Z]{2})?/[0-9]{7})(?:v[1-9][0-9]*)?$"
_CREDENTIALS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*:[^/?#]*@|[Hh][Tt][Tt][Pp][Ss]?://[^/?#]*@"
)
_NAME = (
    r"(?:[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*|\.[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*"
    r"|\.\.[^/\\\x00-\x1f\x7f]+)"
)
_FIRST = (
    r"(?:[A-Za-z](?:[^:/\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*)?"
    r"|[^./\\A-Za-z\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*"
    r"|\.[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*|\.\.[^/\\\x00-\x1f\x7f]+)"
)
_ROOT = rf"^(?:\.|{_FIRST}(?:/{_NAME})*)$"
_PRE = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = (
    r"^(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)"
    rf"(?:-{_PRE}(?:\.{_PRE})*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$"
)
_LICENCE_ID = r"(?:\( *)*[A-Za-z0-9][A-Za-z0-9.:-]*\+?(?: *\))*"
_LICENSE = rf"^(?:⟦fill[^⟦⟧]*⟧|{_LICENCE_ID}(?: +(?:AND|OR|WITH) +{_LICENCE_ID})*)$"


def _without_credentials(repository: str) -> str:
    if _CREDENTIALS.match(repository):
        raise PydanticCustomError("credentials", "an address with a user name or password")
    return repository


class Author(Object):
    """A person who made the artifact or the paper."""

    name: Text
    orcid: Annotated[str, Field(pattern=_ORCID)] | None = None


class Paper(Object):
    """The publication whose results are reproduced."""

    title: Text | None = None
    authors: list[Text] | None = None
    year: Annotated[int, Field(ge=1000, le=9999), whole] | None = None
    doi: Doi | None = None
    arxiv: Annotated[str, Field(pattern=_ARXIV)] | None = None
    url: Url | None = None
    sha256: Digest | None = None


class Source(Object):
    """The upstream tree that the code was made from.

    Attributes:
        swhid: ``swh:1:dir:<40 hex>``, the number git gives for the tree.
    """

    repository: Annotated[Text, AfterValidator(_without_credentials)] | None = None
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")] | None = None
    swhid: Annotated[str, Field(pattern=r"^swh:1:dir:[0-9a-f]{40}$")] | None = None


class Code(Object):
    """Where the code is, and which files of it do not belong to the artifact."""

    root: Annotated[str, Field(pattern=_ROOT)] = "code"
    exclude: list[Text] = []


class Incomplete(Object):
    """What an artifact lacks, one sentence for each thing."""

    incomplete: Annotated[list[Text], Field(min_length=1)]


class Manifest(Object):
    """The whole of `rra.yaml`."""

    rra: FormatVersion
    name: Id
    version: Annotated[str, Field(pattern=_SEMVER)]
    license: Annotated[str, Field(pattern=_LICENSE)]
    title: str | None = None
    description: str | None = None
    authors: list[Author] | None = None
    paper: Paper | None = None
    source: Source | None = None
    code: Code = Code()
    guide: SafePath | None = None
    keywords: Annotated[list[Text], distinct] | None = None
    status: Literal["complete"] | Incomplete | None = None
    environments: Annotated[dict[Id, Environment], Field(min_length=1)]
    data: dict[Id, DataItem] = {}
    launchers: Annotated[dict[Id, Launcher], Field(min_length=1)]
    experiments: Annotated[dict[Id, Experiment], Field(min_length=1)]

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

    def reported_values(self) -> dict[str, Outcome | DerivedOutcome]:
        """Return all outcomes, made and derived, by ``<experiment>/<outcome>``, in order."""
        return {
            f"{experiment_id}/{outcome_id}": outcome
            for experiment_id, experiment in self.experiments.items()
            for outcome_id, outcome in experiment.outcomes.items()
        }

    def sources(self, name: str) -> list[str]:
        """Return the outcomes that a derived one follows from in the end: those launchers make."""
        derived = self.derived_outcomes()
        found: list[str] = []
        waiting = [name]
        seen: set[str] = set()
        while waiting:
            current = waiting.pop(0)
            if current in seen:
                continue
            seen.add(current)
            if current in derived:
                waiting += derived[current].operands(current.partition("/")[0])
            else:
                found.append(current)
        return found
