"""The ``format`` words of the schemas, enforced.

Only words whose meaning is settled by a standard are known here; a word that is not is a fault
of the schema, which the tests find.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from typing import Any

FORMATS = ("date", "date-time", "email", "regex", "uri", "uri-reference")
"""The words that the schemas may use."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_TIME = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})[Tt]"
    r"(?P<time>[0-2]\d:[0-5]\d:(?P<second>[0-6]\d))(?:\.\d+)?"
    r"(?P<zone>[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
)
_URI_CHARACTERS = r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*"
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:" + _URI_CHARACTERS)
_URI_REFERENCE = re.compile(_URI_CHARACTERS)
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+")


@functools.cache
def format_checker() -> Any:
    """Return the checker that the validators use."""
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name in FORMATS:
        test = _TESTS[name]
        checker.checks(name)(lambda value, test=test: not isinstance(value, str) or test(value))
    return checker


def _is_date(text: str) -> bool:
    """RFC 3339 ``full-date``: a day of the calendar."""
    if not _DATE.fullmatch(text):
        return False
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_date_time(text: str) -> bool:
    """RFC 3339 ``date-time``: with seconds and zone; 60 is a leap second."""
    found = _DATE_TIME.fullmatch(text)
    if found is None or not _is_date(found["date"]):
        return False
    return int(found["time"][:2]) <= 23 and int(found["second"]) <= 60


def _is_regex(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


_TESTS = {
    "date": _is_date,
    "date-time": _is_date_time,
    "email": lambda text: _EMAIL.fullmatch(text) is not None,
    "regex": _is_regex,
    "uri": lambda text: _URI.fullmatch(text) is not None,
    "uri-reference": lambda text: _URI_REFERENCE.fullmatch(text) is not None,
}
