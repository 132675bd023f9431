"""What all objects of the format share: frozen, and unknown fields kept."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

Id = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
"""Key of a map in the manifest."""

OutcomeId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}/[a-z0-9][a-z0-9-]{0,62}$")]
"""An outcome: id of its experiment, a slash, its own id."""

Timestamp = Annotated[
    str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$")
]
"""A moment in UTC, as RFC 3339 writes it with ``Z``."""

_INSIDE = re.compile(r"(?!/)(?!.*(?:^|/)\.\.?(?:/|\Z))[^\\:\x00-\x1f\x7f]+\Z")


def _inside(text: str) -> str:
    if not _INSIDE.match(text):
        raise ValueError("the path is not relative, or leads out of the bundle")
    return text


BundlePath = Annotated[str, AfterValidator(_inside)]
"""Path inside a bundle: forward slashes, no empty, ``.`` or ``..`` first part."""

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
    def _as_the_schemas(cls, data: Any, info: ValidationInfo) -> Any:
        """Read the keys of a document as the schemas do.

        A null is refused where a key may only be left out, and 3.0 is an integer (JSON Schema
        2020-12, validation §6.1.1).
        """
        if not (info.context and info.context.get(_DOCUMENT) and isinstance(data, dict)):
            return data
        made = data
        for key, optional, whole in _fields(cls):
            if key not in data:
                continue
            if optional and data[key] is None:
                raise PydanticCustomError(
                    "null", "{key} is null; leave the key out", {"key": key, "path": key}
                )
            if whole:
                made = {**made, key: _integral(data[key])}
        return made


@functools.cache
def _fields(model: type[BaseModel]) -> list[tuple[str, bool, bool]]:
    """Return, for each field: its key, whether it may be left out, whether it holds integers."""
    return [
        (field.alias or name, not field.is_required(), _is_whole(field.annotation))
        for name, field in model.model_fields.items()
    ]


def _is_whole(annotation: Any) -> bool:
    """Whether a type is for integers, or lists of them, and for no other numbers."""
    kinds = set(_kinds(annotation))
    return int in kinds and float not in kinds


def _kinds(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) in {Annotated, list, Union, UnionType}:
        for inner in get_args(annotation):
            yield from _kinds(inner)
    else:
        yield annotation


def _integral(value: Any) -> Any:
    if isinstance(value, list):
        return [_integral(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def validate_document(model: type[Model], data: Any) -> Model:
    """Build an object from a document, by the names that documents use and without nulls.

    The verdict is the one of the JSON Schema of the same name.

    Raises:
        pydantic.ValidationError: The data is no such object.
    """
    return model.model_validate(data, context={_DOCUMENT: True}, by_alias=True, by_name=False)
