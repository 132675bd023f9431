"""What a scalar without quotes stands for: the core schema of YAML 1.2.2, section 10.3."""

from __future__ import annotations

import re
from decimal import Decimal

_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_STARTS = frozenset("-+.0123456789")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")

MAX_INTEGER = 2**53 - 1
"""Largest whole number that every reader of JSON keeps (RFC 7493, section 2.2)."""

_SURE_DIGITS = 15  # any decimal number of so many digits survives binary64
_MAX_LENGTH = 400  # no longer text is a number that binary64 holds exactly


class ScalarError(ValueError):
    """A scalar is a number that documents may not have; carries the clause."""

    def __init__(self, message: str, clause: str) -> None:
        super().__init__(message)
        self.clause = clause


def resolve(text: str) -> str | int | float | bool | None:
    """Return what a plain scalar stands for.

    Raises:
        ScalarError: It is a number that another reader may read as another one.
    """
    if not text or text[0] not in _STARTS:
        return _CONSTANTS.get(text, text)
    if _INTEGER.fullmatch(text):
        return integer(text, 10)
    if _BASED.fullmatch(text):
        return integer(text[2:], 8 if text[1] == "o" else 16)
    if _FLOAT.fullmatch(text):
        return floating(text)
    if _SPECIAL.fullmatch(text):
        raise ScalarError(f"{text} is no number that can be compared", "finite-numbers")
    return text


def integer(text: str, base: int) -> int:
    """Read a whole number.

    Raises:
        ScalarError: It is beyond what every reader keeps.
    """
    shown = text if len(text) <= 40 else text[:39] + "…"
    significant = text.lstrip("+-").lstrip("0")
    if len(significant) <= 20:
        number = int(text, base)
        if -MAX_INTEGER <= number <= MAX_INTEGER:
            return number
    message = f"the whole number {shown} is beyond {MAX_INTEGER}, where readers lose digits"
    raise ScalarError(message, "integer-range")


def floating(text: str) -> float:
    """Read a decimal number as binary64.

    Raises:
        ScalarError: It is too large, or has more digits than binary64 keeps.
    """
    shown = text if len(text) <= 40 else text[:39] + "…"
    number = float(text)
    if number in {float("inf"), float("-inf")}:
        raise ScalarError(f"the number {shown} is beyond binary64", "finite-numbers")
    mantissa = re.split("[eE]", text.lstrip("+-"))[0]
    digits = mantissa.replace(".", "").strip("0")
    if digits and (len(digits) > _SURE_DIGITS or not 1e-290 < abs(number) < 1e290):
        exact = len(text) <= _MAX_LENGTH and Decimal(text) == Decimal(repr(number))
        if not exact:
            message = f"the number {shown} loses digits in binary64, which keeps {number!r}"
            raise ScalarError(message, "number-precision")
    return number
