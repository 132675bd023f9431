"""Input data of a manifest (spec: data)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rra.model.base import Object
from rra.model.parts import Doi, SafePath, Text, Url

_OCI = r"^[^@/\x00-\x20\x7f]+(?:/[^@/\x00-\x20\x7f]+)+@sha256:[0-9a-f]{64}$"


class DataSource(Object):
    """One place that a data item can be had from; exactly one key is given."""

    url: Url | None = None
    doi: Doi | None = None
    oci: Annotated[str, Field(pattern=_OCI)] | None = None
    manual: Text | None = None


class DataItem(Object):
    """A file or folder of input data."""

    path: SafePath
    licence: Text | None = None
    access: Literal["bundled", "fetch", "gated", "private"] = "bundled"
    sources: list[DataSource] | None = None
    target: Text | None = None
