"""Shares that are written as two counts: ``print(176 / 178)`` holds 98.9 % as 0.989 does."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from rra.audit.wanted import Wanted, intervals
from rra.values.tokens import NumberToken

MAX_TEXT = 1 << 18
"""Largest text, in characters, in which counts are looked for."""

MAX_LOOSE = 8
"""Most pairs of a text that count although other numbers stand between them."""

_TIGHT = 12
_LONGEST_LINE = 1000
_COUNT = re.compile(r"(?<![\w.])[1-9][0-9]{1,5}(?!\w|\.[0-9])")


def count_tokens(text: str, wanted: Sequence[Wanted]) -> Iterator[tuple[NumberToken, int, Decimal]]:
    """Yield counts that give a number of interest when divided by one nearby.

    Nearby is the same line, the one before or the one after: ``{"right": 176,`` and
    ``"all": 178}``. A text with more than `MAX_LOOSE` such pairs is a table of numbers, in
    which they are chance (the indexes of a sparse matrix); there only pairs with nothing but
    a few other characters between them count: ``176/178``, ``176 of 178``.

    Yields:
        The numerator, its 1-based line, and the denominator.
    """
    if len(text) > MAX_TEXT:
        return
    found = list(_pairs(text, wanted))
    if len(found) > MAX_LOOSE:
        found = [pair for pair in found if _is_tight(text, pair[0], pair[2])]
    yield from found


def _is_tight(text: str, token: NumberToken, divisor: Decimal) -> bool:
    """Tell whether the divisor stands beside a count, without another number between."""
    behind = re.compile(rf"[^0-9\n]{{1,{_TIGHT}}}{divisor}(?!\w|\.[0-9])")
    before = re.compile(rf"(?<![\w.]){divisor}[^0-9\n]{{1,{_TIGHT}}}$")
    start = max(0, token.start - _TIGHT - len(str(divisor)) - 1)
    return bool(behind.match(text, token.end) or before.search(text[start : token.start]))


def _pairs(text: str, wanted: Sequence[Wanted]) -> Iterator[tuple[NumberToken, int, Decimal]]:
    bounds = [end for span in intervals(wanted) for end in span]
    lines = text.split("\n")
    counts = [
        [(found.start(), found[0]) for found in _COUNT.finditer(line)]
        if len(line) <= _LONGEST_LINE
        else []
        for line in lines
    ]
    start = 0
    for number, line in enumerate(lines):
        if counts[number]:
            near = [int(t) for row in counts[max(0, number - 1) : number + 2] for _, t in row]
            for offset, digits in counts[number]:
                divisor = _divisor(int(digits), near, bounds, wanted)
                if divisor is not None:
                    place = start + offset
                    token = NumberToken(digits, Decimal(digits), 0, place, place + len(digits))
                    yield token, number + 1, divisor
        start += len(line) + 1


def _divisor(
    count: int, near: Sequence[int], bounds: Sequence[float], wanted: Sequence[Wanted]
) -> Decimal | None:
    for other in near:
        if count < other and bisect.bisect_left(bounds, count / other) % 2:
            divisor = Decimal(other)
            if any(item.scale_of(Decimal(count), divisor) is not None for item in wanted):
                return divisor
    return None
