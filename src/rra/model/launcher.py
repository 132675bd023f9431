"""Launchers of a manifest (spec: launcher)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rra.model.base import Id, Object
from rra.model.parts import (
    Bytes,
    Name,
    ParameterValues,
    Positive,
    SafePath,
    Scalar,
    Seed,
    Size,
    Text,
    VariableName,
    Variables,
    distinct,
    whole,
)

_HOST = (
    r"^(?:\*\.)?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*"
    r"(?::[1-9][0-9]{0,4})?$"
)
_MEDIA = r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*"
_SUPPORTED = r"^[a-z0-9][a-z0-9-]{0,62}(?:/[a-z0-9][a-z0-9-]{0,62})?$"

MediaType = Annotated[str, Field(pattern=rf"^{_MEDIA}/{_MEDIA}(?: *;[^\x00-\x1f\x7f]*)?$")]
Host = Annotated[str, Field(pattern=_HOST)]
Values = Annotated[list[Scalar], Field(min_length=1), distinct]


class Parameter(Object):
    """One parameter of a launcher, passed as ``RRA_PARAM_<NAME>``."""

    type: Literal["string", "integer", "number", "boolean"] = "string"
    default: Scalar | None = None
    choices: Values | None = None


class OutputSpec(Object):
    """A file that a launcher leaves in its output directory."""

    name: SafePath
    required: bool = True
    media_type: MediaType | None = None
    max_bytes: Bytes | None = None


class Seeds(Object):
    """How a launcher takes its seed, and which seeds the author used."""

    parameter: Name | None = None
    variable: VariableName | None = None
    values: Annotated[list[Seed], distinct] = []


class Secret(Object):
    """A secret that a run needs, by the variable that carries it; never its value."""

    env: VariableName
    purpose: Text | None = None
    optional: bool = False


class Resources(Object):
    """What a run needs of a machine: cores, memory, accelerator devices, disk."""

    cpu: Positive | None = None
    memory: Size | None = None
    gpu: Annotated[int, Field(ge=0), whole] | None = None
    disk: Size | None = None


class Limits(Object):
    """What a launcher may use at most: wall seconds, bytes of output."""

    wall: Positive | None = None
    output: Bytes | None = None


class Hint(Object):
    """What a launcher took: wall seconds, and on which machine."""

    wall: Annotated[float, Field(ge=0)] | None = None
    measured_on: str | None = None


class Smoke(Object):
    """Parameters of a short run that shows that the launcher works."""

    parameters: ParameterValues | None = None
    wall: Positive | None = None


class Reduced(Object):
    """A cheaper run, and the reported values that it says nothing about."""

    parameters: ParameterValues
    cannot_support: Annotated[list[Annotated[str, Field(pattern=_SUPPORTED)]], distinct]


class Launcher(Object):
    """A directly invocable run."""

    entry: SafePath
    environment: Id
    needs: Annotated[list[Id], distinct] = []
    inputs: Annotated[list[Id], distinct] = []
    outputs: list[SafePath | OutputSpec] = []
    collect: dict[SafePath, SafePath] = {}
    parameters: dict[Name, Parameter] = {}
    matrix: Annotated[dict[Name, Values], Field(min_length=1)] | None = None
    seeds: Seeds | None = None
    deterministic: bool | None = None
    network: Literal["none", "full"] | Annotated[list[Host], Field(min_length=1), distinct] = "none"
    secrets: list[Secret] | None = None
    variables: Variables | None = None
    resources: Resources | None = None
    limits: Limits | None = None
    hint: Hint | None = None
    smoke: Smoke | None = None
    reduced: Reduced | None = None

    @property
    def output_specs(self) -> list[OutputSpec]:
        """The outputs in their long form."""
        return [OutputSpec(name=o) if isinstance(o, str) else o for o in self.outputs]
