"""Canonical JSON a second time, written from the page of the specification alone."""

from __future__ import annotations

import math
from typing import Any

_LIMIT = 2**53 - 1
_SHORT = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def canonical_text(value: Any) -> str:
    """Return the canonical form of a JSON value.

    Raises:
        ValueError: It has none.
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical_text(item) for item in value) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(f"{_string(name)}:{canonical_text(value[name])}" for name in names) + "}"


def _string(text: str) -> str:
    text.encode("utf-8")  # half a surrogate pair is no text
    return '"' + "".join(_character(character) for character in text) + '"'


def _character(character: str) -> str:
    code = ord(character)
    if code in _SHORT:
        return _SHORT[code]
    return f"\\u{code:04x}" if code < 0x20 else character


def _number(number: float) -> str:
    """Write a number as ECMAScript does (ECMA-262, Number::toString)."""
    if not math.isfinite(number):
        raise ValueError("not finite")
    if number == int(number):
        if abs(number) > _LIMIT:
            raise ValueError("beyond 2^53 - 1")
        return str(int(number))
    sign = "-" if number < 0 else ""
    mantissa, _, power = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # the value is 0.<digits> times ten to the power `point`
    point = int(power or 0) + len(whole) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    tail = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if point > 1 else '-'}{abs(point - 1)}"
