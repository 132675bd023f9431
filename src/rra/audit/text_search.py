"""Finding numbers of interest in text of any encoding, with byte offsets and lines."""

from __future__ import annotations

import bisect
import dataclasses
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from rra.audit.count_search import count_tokens
from rra.audit.forms import FIXED_TEXT, Spot
from rra.audit.wanted import Wanted, digit_filter, intervals
from rra.values.tokens import NumberToken, number_tokens

_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xef\xbb\xbf", "utf-8"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_LINE = re.compile(r"[^\n]*\n?")
MIN_DIGITS = 3
"""Significant digits that a text inside a binary file must have to be taken for a number."""


def decode(data: bytes) -> tuple[str, str, int] | None:
    """Read bytes as text.

    Returns:
        Text, encoding and number of bytes before the text; None for binary data.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _try(data[len(mark) :], encoding)
            return (text, encoding, len(mark)) if text is not None else None
    encodings = ("utf-8", "latin-1")
    if b"\x00" in data:
        encodings = ("utf-16-le", "utf-16-be")
        nulls = data.count(b"\x00")
        if len(data) % 2 or nulls * 3 < len(data) or nulls * 2 > len(data):
            return None
    for encoding in encodings:
        text = _try(data, encoding)
        if text is not None and (encoding != "latin-1" or _mostly_ascii(data)):
            return text, encoding, 0
    return None


def _mostly_ascii(data: bytes) -> bool:
    """Tell Western text from coded data, in which high bytes are as common as low ones."""
    return sum(byte < 0x80 for byte in data) * 4 >= len(data) * 3


def _try(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if _CONTROL.search(text) else text


def text_spots(data: bytes, wanted: Sequence[Wanted]) -> list[Spot] | None:
    """Find the numbers of interest in a text file; None when the data is not text."""
    decoded = decode(data)
    if decoded is None:
        return None
    text, encoding, before = decoded
    offset, last = before, 0
    spots = []
    for token, line, divisor in _found(text, wanted):
        offset += len(text[last : token.start].encode(encoding))
        size = len(token.text.encode(encoding))
        spots.append(Spot(offset, offset + size, encoding, token.text, token.value, line, divisor))
        offset, last = offset + size, token.end
    return spots


def _found(text: str, wanted: Sequence[Wanted]) -> list[tuple[NumberToken, int, Decimal]]:
    """Return tokens in their order, each with its line and what it is divided by."""
    found = [(token, line, Decimal(1)) for line, token in _tokens(text, wanted)]
    spans = [(token.start, token.end) for token, _, _ in found]
    found += [
        (token, line, divisor)
        for token, line, divisor in count_tokens(text, wanted)
        if all(token.end <= start or token.start >= end for start, end in spans)
    ]
    return sorted(found, key=lambda one: one[0].start)


def embedded_spots(data: bytes, wanted: Sequence[Wanted]) -> list[Spot]:
    """Find numbers of interest that stand as text inside binary data."""
    return [
        Spot(token.start, token.end, FIXED_TEXT, token.text, token.value)
        for _, token in _tokens(data.decode("latin-1"), wanted)
        if len(re.sub(r"^[^1-9]*|[eE].*$|[^0-9]", "", token.text)) >= MIN_DIGITS
    ]


def _tokens(text: str, wanted: Sequence[Wanted]) -> Iterator[tuple[int, NumberToken]]:
    """Yield line number and token, offsets in the whole text; overlapping readings once."""
    digits = digit_filter(wanted)
    bounds = [end for span in intervals(wanted) for end in span]
    start = 0
    for number, found in enumerate(_LINE.finditer(text), 1):
        line = found[0]
        if digits is None or digits.search(line):
            end = -1
            tokens = number_tokens(line, decimal_comma=True)
            for token in sorted(tokens, key=lambda token: (token.start, -token.end)):
                if token.start >= end and _matches(token.value, bounds, wanted):
                    end = token.end
                    yield number, _moved(token, start)
        start += len(line)


def _matches(value: Decimal, bounds: Sequence[float], wanted: Sequence[Wanted]) -> bool:
    """Compare as floats first; most numbers of a large file end there."""
    if not bisect.bisect_left(bounds, float(value)) % 2:
        return False
    return any(item.scale_of(value) is not None for item in wanted)


def _moved(token: NumberToken, by: int) -> NumberToken:
    return dataclasses.replace(token, start=token.start + by, end=token.end + by)
