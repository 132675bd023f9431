"""The grammar of a reported number (spec: outcome): what a paper may print as one number.

It is narrower than what `rra.values.numbers` reads in the files of a run: a text that an author
writes down is held to one reading, in every language that implements the format.
"""

from __future__ import annotations

import re

from rra.errors import SelectError
from rra.values.numbers import ReportedNumber

_PLAIN = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?"
_MARKED = "[0-9]{1,3}(?:[\u00a0\u2007\u2009\u202f'\u2019][0-9]{3})+(?:\\.[0-9]+)?"
_COMMAS = r"[1-9][0-9]{0,2}(?:(?:,[0-9]{3}){2,}(?:\.[0-9]+)?|,[0-9]{3}\.[0-9]+)"
GRAMMAR = re.compile(f"[-+\u2212\u2013]?(?:{_PLAIN}|{_MARKED}|{_COMMAS})")
"""Sign, then plain digits, or groups of thousands where only one reading exists."""

_HINT = "write the number alone, such as 98.90 or 1.2e-3; its unit stands in `unit`"


def reported_number(text: str) -> ReportedNumber:
    """Read a reported number by the grammar of the format.

    Args:
        text: What the paper prints, without its unit and spread.

    Raises:
        SelectError: It is none; says why where it can.
    """
    if text != text.strip():
        raise SelectError(f"{text!r} has white space around the number", hint="take it away")
    number = ReportedNumber.parse(text)
    if GRAMMAR.fullmatch(text) is None:
        raise SelectError(f"{text!r} is not a number", hint=_HINT)
    return number
