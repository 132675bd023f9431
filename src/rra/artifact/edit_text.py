"""Writing new values in the style of what stands around them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from rra._base.yaml import Node, double_quoted, scalar
from rra._base.yaml.write import single_quoted
from rra.errors import UsageError

_PUNCTUATION = frozenset(" _./()+%=;-")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def written(value: Any, style: str, *, json_like: bool = False) -> str:
    """Write a value in one line.

    Args:
        value: Plain data, as JSON has it.
        style: How a text stood there or stands beside it: a quote, or nothing.
        json_like: Whether the document may be JSON, where every text is between double quotes.

    Raises:
        UsageError: The value is none that a document can have.
    """
    if isinstance(value, Mapping):
        inner = (
            f"{written(key, '', json_like=json_like)}: {written(item, style, json_like=json_like)}"
            for key, item in value.items()
        )
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(written(item, style, json_like=json_like) for item in value) + "]"
    if not isinstance(value, str):
        return _number(value)
    if json_like or style == '"':
        return double_quoted(value)
    if style == "'" and value.isprintable() and double_quoted(value).find("\\u") < 0:
        return single_quoted(value)
    return value if not style and _is_plain(value) else scalar(value)


def _number(value: object) -> str:
    if value is not None and not isinstance(value, bool | int | float):
        message = f"a document holds no {type(value).__name__}"
        raise UsageError(message, hint="give text, a number, true, false, null, a list or a map")
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError as error:
        message = f"a document holds no {value}"
        raise UsageError(message, hint="give it as text") from error


def _is_plain(value: str) -> bool:
    """Tell whether a text needs no quotes for any reader, in block or flow style."""
    return (
        value[:1].isalpha()
        and value.lower() not in _WORDS
        and not value.endswith(" ")
        and value.isprintable()
        and all(one.isalnum() or one in _PUNCTUATION for one in value)
    )


def quote_beside(nodes: Iterable[Node]) -> str:
    """Return the quote that the texts of these nodes have; nothing when most have none."""
    styles = [node.style for node in nodes if node.kind == "scalar" and isinstance(node.value, str)]
    quotes = [style for style in styles if style in {"'", '"'}]
    if not quotes or len(quotes) * 2 < len(styles):
        return ""
    return max(("'", '"'), key=quotes.count)


def block_lines(value: Any, step: int, style: str) -> list[str]:
    """Write a map or list in block style, indented relative to its first line.

    Args:
        value: A map or list that is not empty.
        step: How far inner maps and lists are moved to the right.
        style: Quote of its texts, or nothing.
    """
    if isinstance(value, Mapping):
        return [
            row
            for key, item in value.items()
            for row in entry_lines(written(key, ""), item, step, style)
        ]
    return [row for item in value for row in item_lines(item, step, style)]


def entry_lines(key: str, value: Any, step: int, style: str) -> list[str]:
    """Write an entry of a map in block style, behind a key that is written already."""
    if isinstance(value, Mapping | list | tuple) and value:
        return [f"{key}:", *(" " * step + row for row in block_lines(value, step, style))]
    return [f"{key}: {written(value, style)}"]


def item_lines(value: Any, step: int, style: str) -> list[str]:
    """Write an item of a list in block style."""
    if isinstance(value, Mapping | list | tuple) and value:
        first, *others = block_lines(value, step, style)
        return [f"- {first}", *(f"  {row}" for row in others)]
    return [f"- {written(value, style)}"]


def literal_lines(value: str, indent: str) -> tuple[str, list[str]] | None:
    """Return header and lines of a text in literal style; None when it cannot be written so."""
    body = value.rstrip("\n")
    ends = len(value) - len(body)
    lines = body.split("\n")
    shown = all(line.isprintable() and double_quoted(line).find("\\u") < 0 for line in lines)
    if not body or not shown or lines[0][:1] in {" ", ""} or "\t" in value:
        return None
    chomping = "-" if not ends else "" if ends == 1 else "+"
    lines += [""] * (ends - 1)
    return f"|{chomping}", [indent + line if line else "" for line in lines]
