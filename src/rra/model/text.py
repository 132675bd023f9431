"""Kinds of text and lists that several documents of the format have in common."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

LARGEST_INTEGER = 2**53 - 1
"""Integers beyond it have no canonical JSON (RFC 8785, I-JSON)."""

Prose = Annotated[str, Field(pattern=r"[^ \t\r\n]")]
"""Text that says something: not empty, not only blanks."""

Count = Annotated[int, Field(ge=0, le=LARGEST_INTEGER)]
"""A number of things or of bytes."""

Integer = Annotated[int, Field(ge=-LARGEST_INTEGER, le=LARGEST_INTEGER)]
"""An integer that canonical JSON can carry."""


def _distinct(items: list[str]) -> list[str]:
    if len(set(items)) != len(items):
        raise PydanticCustomError("distinct", "an item is given twice")
    return items


distinct = AfterValidator(_distinct)
"""Refuses a list that names something twice."""
