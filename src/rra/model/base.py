"""What all objects of the format share: frozen, and unknown fields kept."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Id = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
"""Key of a map in the manifest."""

Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
"""Digest of bytes, always with its algorithm."""

FormatVersion = Annotated[str, Field(pattern=r"^1\.[0-9]+$")]
"""Version of the format that a document follows."""


class Object(BaseModel):
    """A frozen object of the format; fields it does not know are kept as they came."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True, strict=True)

    def to_json(self) -> dict[str, Any]:
        """Return the plain JSON value, without fields that were never given."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
