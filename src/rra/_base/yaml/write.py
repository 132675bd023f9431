"""Writing scalars by hand, so that YAML and JSON read exactly them."""

from __future__ import annotations

import json
import re

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_UNPRINTABLE = re.compile(
    "[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)


def scalar(value: str | float | bool | None) -> str:  # noqa: FBT001 - it is the value
    """Write a value so that YAML reads exactly that value and type.

    Texts that look like a path or a word stay plain; those with a backslash are put between
    single quotes, where a regular expression is still readable.
    """
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    if "\\" in value and value.isprintable() and not _UNPRINTABLE.search(value):
        return single_quoted(value)
    return double_quoted(value)


def single_quoted(value: str) -> str:
    """Write a printable text of one line between single quotes."""
    return "'" + value.replace("'", "''") + "'"


def double_quoted(value: str) -> str:
    """Write a text between double quotes, so that YAML and JSON read exactly that text."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
