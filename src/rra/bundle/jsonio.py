"""Reading JSON that somebody else wrote, strictly."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from rra.errors import FormatError, Problem

MAX_DEPTH = 64


def parse_json(data: bytes, source: str) -> dict[str, Any]:
    """Read a JSON object: UTF-8, no key twice, no NaN, not nested deeper than `MAX_DEPTH`.

    Args:
        data: The document; its size was limited when it was read.
        source: Name of the document for messages.

    Raises:
        FormatError: The document is none of that.
    """
    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=_object, parse_constant=_constant
        )
    except (ValueError, RecursionError) as error:
        what = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise _refuse(source, f"not valid JSON: {what}") from error
    if not isinstance(value, dict):
        raise _refuse(source, "not a JSON object")
    if _deeper(value, MAX_DEPTH):
        raise _refuse(source, f"nested deeper than {MAX_DEPTH} levels")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"key {twice[:80]!r} is given twice")
    return document


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _deeper(value: object, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [
            inner
            for item in layer
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return bool(layer)


def _refuse(source: str, what: str) -> FormatError:
    problem = Problem(what, source, clause="bundle/json")
    hint = "the bundle was not made by a tool that keeps the format"
    return FormatError(f"{source}: {what}", problems=(problem,), hint=hint)
