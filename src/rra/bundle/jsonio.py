"""JSON of bundles that somebody else wrote: an object, read as strictly as other documents are."""

from __future__ import annotations

from typing import Any

from rra._base import jsontext
from rra.errors import FormatError, Problem


def parse_json(data: bytes, source: str) -> dict[str, Any]:
    """Read a JSON object: UTF-8, no key twice, only numbers that every reader keeps, not too deep.

    Args:
        data: The document; its size was limited when it was read.
        source: Name of the document for messages.

    Raises:
        FormatError: The document is none of that.
    """
    try:
        value = jsontext.parse_json(data, source=source).data
    except FormatError as error:
        raise _refuse(source, error.problems[0].message) from error
    if not isinstance(value, dict):
        raise _refuse(source, "not a JSON object")
    return value


def _refuse(source: str, what: str) -> FormatError:
    problem = Problem(what, source, clause="bundle/json")
    hint = "the bundle was not made by a tool that keeps the format"
    return FormatError(f"{source}: {what}", problems=(problem,), hint=hint)
