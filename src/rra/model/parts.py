"""Kinds of text, numbers and lists that the objects of the manifest are made of."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from rra.model.text import LARGEST_INTEGER

_SEGMENT = (
    r"(?:[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*|\.(?:[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*)?"
    r"|\.\.[^/\\\x00-\x1f\x7f]+)"
)
_FIRST = (
    r"(?:[A-Za-z](?:[^:/\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*)?"
    r"|[^./\\A-Za-z\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*"
    r"|\.(?:[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*)?|\.\.[^/\\\x00-\x1f\x7f]+)"
)

Scalar = str | int | float | bool
"""A single value: text, a number, true or false."""

Text = Annotated[str, Field(min_length=1)]
"""Text that is not empty."""

SafePath = Annotated[str, Field(pattern=rf"^{_FIRST}(?:/+{_SEGMENT})*/*$")]
"""Path with forward slashes that stays below the folder that it starts from."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,62}$")]
"""Name of a parameter."""

VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""Name of an environment variable."""

Variables = dict[VariableName, str]
"""Environment variables; the values are text."""

ParameterValues = dict[Name, Scalar]
"""Values by the name of a parameter."""

Url = Annotated[
    str, Field(pattern=r'^https?://[^/?#@\x00-\x20"<>\\\x7f]+(?:[/?#][^\x00-\x20"<>\\\x7f]*)?$')
]
"""Address without user name and password."""

Doi = Annotated[str, Field(pattern=r"^10\.[0-9]{4,9}/[^\x00-\x20\x7f]+$")]
"""Digital object identifier, from its ``10.`` on."""


def _whole(value: Any) -> Any:
    """Take ``3.0`` for 3, as JSON Schema does."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _distinct(items: list[Any]) -> list[Any]:
    seen = {(isinstance(item, bool), item) for item in items}
    if len(seen) != len(items):
        raise PydanticCustomError("distinct", "an item is given twice")
    return items


distinct = AfterValidator(_distinct)
"""Refuses a list that holds a value twice; true is not 1."""

whole = BeforeValidator(_whole)
"""Takes a number without a fraction for an integer."""

Bytes = Annotated[int, Field(ge=1), whole]
"""A number of bytes, at least one."""

Seed = Annotated[int, Field(ge=-LARGEST_INTEGER, le=LARGEST_INTEGER), whole]
"""A seed that canonical JSON can carry."""

Size = (
    Bytes
    | Annotated[
        str,
        Field(pattern=r"^[1-9][0-9]*(?:\.[0-9]+)? ?(?:B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$"),
    ]
)
"""Bytes as a number, or text of a number and a unit."""

Positive = Annotated[float, Field(gt=0)]
"""A number above zero."""
