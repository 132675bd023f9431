"""Selectors: where in a launcher's outputs a value stands (spec: selector)."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from rra.model.base import Id, Object

LOCATORS = ("json", "csv", "regex", "npz", "cell", "tensorboard", "mlflow")
"""Locators that the format knows."""

Text = Annotated[str, Field(min_length=1)]
"""Text that is not empty."""

Scalar = str | int | float | bool
Scalars = dict[str, Scalar]

_INSIDE = re.compile(r"(?!/)(?!.*(?:^|/)\.\.(?:/|\Z))(?![A-Za-z]:)[^\\\x00-\x1f]+\Z")


def _inside(path: str) -> str:
    if _INSIDE.match(path) is None:
        raise PydanticCustomError("inside", "not a path inside the artifact")
    return path


SafePath = Annotated[str, AfterValidator(_inside)]
"""Path with forward slashes that stays below the folder that it starts from."""

Pointer = Annotated[str, Field(pattern=r"^(/([^~/]|~[01])*)*$")]
"""JSON pointer (RFC 6901)."""


def _all_different(items: list[int]) -> list[int]:
    if len(set(items)) != len(items):
        raise PydanticCustomError("distinct", "an item is given twice")
    return items


class RunSelection(Object):
    """Runs of a launcher by seeds and parameters."""

    seeds: Annotated[list[int], Field(min_length=1), AfterValidator(_all_different)] | None = None
    parameters: Scalars | None = None


class CsvLocator(Object):
    """A column of a table, in the rows where other columns have given values."""

    where: Scalars | None = None
    column: Text


class NpzLocator(Object):
    """An element of an array."""

    key: Text | None = None
    index: int | Annotated[list[int], Field(min_length=1)] | None = None


class CellLocator(Object):
    """The output of one cell of a notebook, named by tag, id or index."""

    tag: Text | None = None
    id: Text | None = None
    index: Annotated[int, Field(ge=0)] | None = None
    regex: Text | None = None

    @model_validator(mode="after")
    def _one_name(self) -> CellLocator:
        if sum(name is not None for name in (self.tag, self.id, self.index)) != 1:
            raise PydanticCustomError("one_name", "name the cell by one of tag, id, index")
        return self


class TensorboardLocator(Object):
    """The scalars of one tag."""

    tag: Text


class MlflowLocator(Object):
    """The values of a metric in a file store."""

    metric: Text
    run: Text | None = None


class PickAt(Object):
    """The match whose labels have given values."""

    at: Annotated[Scalars, Field(min_length=1)]


Runs = Literal["all"] | RunSelection
Pick = Literal["only", "first", "last", "max", "min"] | PickAt
Aggregate = Literal["single", "mean", "median", "min", "max", "sd", "se"]


class SelectorPart(Object):
    """What a selector says beyond launcher and file; ``{row}`` and ``{column}`` stand for names."""

    runs: Runs | None = None
    json_pointer: Annotated[Pointer | None, Field(alias="json")] = None
    csv: CsvLocator | None = None
    regex: Text | None = None
    npz: NpzLocator | None = None
    cell: CellLocator | None = None
    tensorboard: TensorboardLocator | None = None
    mlflow: MlflowLocator | None = None
    pick: Pick | None = None
    aggregate: Aggregate | None = None
    unit: Text | None = None

    def locators(self) -> dict[str, Any]:
        """Return what is given of the locators, as plain values by name."""
        plain = self.to_json()
        return {name: plain[name] for name in LOCATORS if name in plain}


class Selector(Object):
    """Where in a launcher's outputs a value stands; exactly one locator is given."""

    launcher: Id
    runs: Runs | None = None
    file: SafePath
    json_pointer: Annotated[Pointer | None, Field(alias="json")] = None
    csv: CsvLocator | None = None
    regex: Text | None = None
    npz: NpzLocator | None = None
    cell: CellLocator | None = None
    tensorboard: TensorboardLocator | None = None
    mlflow: MlflowLocator | None = None
    pick: Pick = "only"
    aggregate: Aggregate = "single"
    unit: Text | None = None

    def locators(self) -> dict[str, Any]:
        """Return what is given of the locators, as plain values by name."""
        plain = self.to_json()
        return {name: plain[name] for name in LOCATORS if name in plain}

    @model_validator(mode="after")
    def _one_locator(self) -> Selector:
        if len(self.locators()) != 1:
            message = "a selector has exactly one locator: {known}"
            raise PydanticCustomError("one_locator", message, {"known": ", ".join(LOCATORS)})
        return self
