"""What all objects of the format share: frozen, and unknown fields kept."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

Id = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
"""Key of a map in the manifest."""

OutcomeId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}/[a-z0-9][a-z0-9-]{0,62}$")]
"""An outcome: id of its experiment, a slash, its own id."""

Timestamp = Annotated[
    str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$")
]
"""A moment in UTC, as RFC 3339 writes it with ``Z``."""

Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
"""Digest of bytes, always with its algorithm."""

FormatVersion = Annotated[str, Field(pattern=r"^1\.[0-9]+$")]
"""Version of the format that a document follows."""

Model = TypeVar("Model", bound=BaseModel)

_DOCUMENT = "document"


class Object(BaseModel):
    """A frozen object of the format; fields it does not know are kept as they came."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True, strict=True)

    def to_json(self) -> dict[str, Any]:
        """Return the plain JSON value, without fields that were never given."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)

    @model_validator(mode="before")
    @classmethod
    def _absent_is_not_null(cls, data: Any, info: ValidationInfo) -> Any:
        """Refuse a null in a document where a key may only be left out, as the schemas do."""
        if not (info.context and info.context.get(_DOCUMENT) and isinstance(data, dict)):
            return data
        for name, field in cls.model_fields.items():
            key = field.alias or name
            if key in data and data[key] is None and not field.is_required():
                raise PydanticCustomError(
                    "null", "{key} is null; leave the key out", {"key": key, "path": key}
                )
        return data


def validate_document(model: type[Model], data: Any) -> Model:
    """Build an object from a document, by the names that documents use and without nulls.

    The verdict is the one of the JSON Schema of the same name.

    Raises:
        pydantic.ValidationError: The data is no such object.
    """
    return model.model_validate(data, context={_DOCUMENT: True}, by_alias=True, by_name=False)
