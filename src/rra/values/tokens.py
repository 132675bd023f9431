r"""Finding numbers in arbitrary text: source code, logs, tables, notebooks, prose.

What counts as a number token, and what does not:

* Digits inside a word are not numbers: ``x2``, ``utf8``, ``conv3d``, ``_5``, hexadecimal
  literals and digests.
* Chains with two or more dots are versions or addresses, not numbers: ``1.2.3``, ``10.0.0.1``.
* ISO dates are not numbers: ``2024-01-31``; nor are printf and format specifications
  (``%.2f``, ``:.3f``).
* A sign belongs to the number unless it follows a word, a digit or a closing bracket, where it
  is a subtraction, a range or a hyphen (``5-3``, ``0.5–0.9``, ``lda-98.9``).
* A comma separates (``f(1,234)``, CSV rows), so ``1,234`` is two tokens. With
  ``decimal_comma=True`` readings such as ``98,9`` are returned as well.
* Up to three letters after the digits are a unit or a type suffix (``12ms``, ``1.5f``, ``95%``)
  and stay outside the token; ordinals (``2nd``) are no numbers.
* An escape sequence of a string literal ends a word: in ``"acc\t98.9"`` 98.9 is a token.

The rules lean towards finding one token too many: who looks for suspect numbers must not miss.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from decimal import Decimal

from rra.values.numbers import MAX_DIGITS, MAX_EXPONENT, decimals_of

_ESCAPES = r"(?<=\\[abfnrtv0])|(?<=\\x[0-9a-fA-F]{2})|(?<=\\u[0-9a-fA-F]{4})"
_NUMBER = re.compile(
    rf"""
    (?: (?<![A-Za-z0-9_.]) | (?<=\.\.) | {_ESCAPES} )
    (?P<number>
        (?: [0-9]+ (?:_[0-9]+)* (?:\.[0-9]+)? | \.[0-9]+ )
        (?: [eE] [+-]? [0-9]{{1,4}} (?![0-9]) )?
    )
    (?P<suffix> [A-Za-z\u00b5\u03bc]{{0,3}} ) (?![A-Za-z0-9_])
    """,
    re.VERBOSE,
)
_COMMA_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.,])(?P<number>[0-9]+,[0-9]+)(?P<suffix>)(?![A-Za-z0-9_,]|\.[0-9])"
)
_NO_NUMBERS = tuple(
    re.compile(pattern)
    for pattern in (
        # an ISO date, and a date with a time
        r"(?<![\w.-])[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])(?![\w-]|\.[0-9])",
        r"(?<![\w.-])[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-9:.]+(?:Z|[+-][0-9]{2}:?[0-9]{2})?",
        # a version or an address
        r"(?<![\w.])[0-9]+(?:\.[0-9]+){2,}",
        # printf and format specifications
        r"%(?:\([^()\n]{1,80}\))?[-+0#]*[0-9]*(?:\.[0-9]+)?[diouxXeEfFgGs](?!\w)",
        r":[^{}\s:]?[<>^=]?[-+ ]?[#0]?[0-9]*[,_]?\.[0-9]+[eEfFgGn%](?=\})",
    )
)
_ORDINALS = {"st", "nd", "rd", "th"}
_RADIX = {"x", "X", "b", "B", "o", "O"}
_MINUS = "-\u2212\u2013\uff0d"
_NO_SIGN_AFTER = ")]}%._" + _MINUS


@dataclasses.dataclass(frozen=True, slots=True)
class NumberToken:
    """A number found in a text.

    Attributes:
        text: The characters, sign included, unit excluded; equal to ``source[start:end]``.
        value: Exact value.
        decimals: Digits after the point that the text states (see `ReportedNumber`).
        start: Offset of the first character.
        end: Offset behind the last character.
    """

    text: str
    value: Decimal
    decimals: int
    start: int
    end: int


def number_tokens(text: str, *, decimal_comma: bool = False) -> list[NumberToken]:
    """Find every number in a text of any kind, in order, with exact offsets.

    Args:
        text: Source code, a log, a table, prose.
        decimal_comma: Also return numbers such as ``98,9`` as a whole; they overlap their parts.

    Returns:
        Tokens ordered by offset. Numbers beyond the limits of `rra.values.numbers` are left out.
    """
    tokens = list(_tokens(text, _NUMBER))
    if decimal_comma:
        tokens.extend(_tokens(text, _COMMA_NUMBER))
        tokens.sort(key=lambda token: (token.start, token.end))
    return tokens


def _tokens(text: str, pattern: re.Pattern[str]) -> Iterator[NumberToken]:
    skipped = _Spans(text)
    for found in pattern.finditer(text):
        start, end = found.span("number")
        suffix = found["suffix"]
        other_radix = found["number"] == "0" and suffix[:1] in _RADIX
        if suffix in _ORDINALS or other_radix or skipped.covers(start):
            continue
        start -= _sign_length(text, start)
        token = _token(text[start:end], start)
        if token is not None:
            yield token


def _sign_length(text: str, start: int) -> int:
    """Return 1 when the character before is a sign of the number, else 0."""
    if start == 0 or text[start - 1] not in _MINUS + "+":
        return 0
    before = text[start - 2] if start > 1 else " "
    if not before.isalnum():
        return int(before not in _NO_SIGN_AFTER)
    return int(re.fullmatch(r"\\[abfnrtv0]", text[max(0, start - 3) : start - 1]) is not None)


def _token(text: str, start: int) -> NumberToken | None:
    digits = text.replace("_", "").replace(",", ".")
    if digits[0] in _MINUS:
        digits = "-" + digits[1:]
    mantissa, _, exponent = digits.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or abs(int(exponent or 0)) > MAX_EXPONENT:
        return None
    value = Decimal(digits)
    return NumberToken(text, value, decimals_of(value), start, start + len(text))


class _Spans:
    """Stretches of a text that hold digits but no numbers, asked from left to right."""

    def __init__(self, text: str) -> None:
        spans = [found.span() for pattern in _NO_NUMBERS for found in pattern.finditer(text)]
        self._spans = sorted(spans, reverse=True)

    def covers(self, offset: int) -> bool:
        """Tell whether an offset lies in a stretch; offsets must not decrease."""
        while self._spans and self._spans[-1][1] <= offset:
            self._spans.pop()
        return bool(self._spans) and self._spans[-1][0] <= offset
