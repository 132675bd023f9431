"""Taking values out of parsed JSON that somebody else wrote, and base64 with one reading."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from rra.errors import FormatError

_STANDARD = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_URL_SAFE = re.compile(r"[A-Za-z0-9_-]*={0,2}")
_SHOWN = 80


def fault(message: str) -> FormatError:
    """Return the error for a signature, envelope or statement that cannot be read."""
    return FormatError(message, hint="ask whoever signed it for a whole copy")


def shown(value: object) -> str:
    """Return a value for a message, not longer than a line."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def plain(said: str) -> str:
    """Return words that somebody else chose, with what would steer a terminal spelled out."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in said)


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """Return a JSON object.

    Raises:
        FormatError: It is something else.
    """
    if not isinstance(value, dict):
        raise fault(f"{what} is not an object")
    return value


def text(value: Any, what: str) -> str:
    """Return a JSON string.

    Raises:
        FormatError: It is something else, or empty.
    """
    if not isinstance(value, str) or not value:
        raise fault(f"{what} is not a text, or an empty one")
    return value


def base64_bytes(value: Any, what: str) -> bytes:
    """Return what base64 text stands for; one value has one text in each of the two alphabets.

    Both alphabets of RFC 4648 are read, as DSSE asks for. White space, missing padding, mixed
    alphabets and bits behind the last byte are refused, so that the same signature cannot be
    handed round in several spellings.

    Raises:
        FormatError: It is not such a text, or stands for nothing.
    """
    given = text(value, what)
    if _STANDARD.fullmatch(given):
        alphabet = None
    elif _URL_SAFE.fullmatch(given):
        alphabet = b"-_"
    else:
        raise fault(f"{what} is not base64 as RFC 4648 has it: {shown(given)}")
    try:
        found = base64.b64decode(given, altchars=alphabet, validate=True)
    except binascii.Error as error:
        raise fault(f"{what} is not base64 as RFC 4648 has it: {error}") from error
    again = base64.b64encode(found, altchars=alphabet)
    if again.decode("ascii") != given:
        raise fault(f"{what} is base64 with bits that stand for nothing: {shown(given)}")
    return found
