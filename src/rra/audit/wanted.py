"""What a search looks for: the numbers that stand for an outcome, at every scale."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal

from rra.values.numbers import CONTEXT, ReportedNumber, decimals_of, matches

SCALES = (Decimal(1), Decimal(100), Decimal("0.01"))
"""Factors between a number as it may stand in a file and the outcome: itself, per cent."""

NEAR = Decimal("0.05")
"""Largest relative distance at which a number can be the source of an obtained value."""

_DIGITS = Context(prec=12)
_MAX_PREFIXES = 60


@dataclasses.dataclass(frozen=True)
class Wanted:
    """An outcome as a search sees it.

    Attributes:
        outcome: Id of the outcome.
        reported: The paper's number.
        obtained: What a run gave, in the unit of the outcome.
        excluded: Paths (files or folders) that legitimately hold this number.
    """

    outcome: str
    reported: ReportedNumber
    obtained: Decimal
    excluded: tuple[str, ...] = ()

    @functools.cached_property
    def numbers(self) -> tuple[ReportedNumber, ...]:
        """The two numbers that are looked for: the reported and the obtained one."""
        value = _DIGITS.plus(self.obtained)
        return (self.reported, ReportedNumber(str(value), value, decimals_of(value)))

    def scale_of(self, value: Decimal, divisor: Decimal = Decimal(1)) -> Decimal | None:
        """Return the factor that takes a number to the outcome; None when it is another number.

        Args:
            value: A number.
            divisor: What it is divided by, for one of two counts.
        """
        if divisor != 1:
            share = self.scale_of(CONTEXT.divide(value, divisor))
            return CONTEXT.divide(share, divisor) if share is not None else None
        if not any(matches(value, number, SCALES) for number in self.numbers):
            return None
        best = min(SCALES, key=lambda scale: abs(CONTEXT.multiply(value, scale) - self.obtained))
        distance = abs(CONTEXT.multiply(value, best) - self.obtained)
        return best if distance <= NEAR * abs(self.obtained) else None


def intervals(wanted: Iterable[Wanted], *, zero: bool = True) -> list[tuple[float, float]]:
    """Return disjoint, sorted intervals that hold every number of interest.

    Args:
        wanted: The outcomes.
        zero: Whether intervals around 0 count; in machine numbers 0 is everywhere.
    """
    spans: list[tuple[float, float]] = []
    for number in (number for item in wanted for number in item.numbers):
        half = number.quantum / 2
        for scale in SCALES:
            low, high = (float((number.value + side) / scale) for side in (-half, half))
            slack = 1e-9 * max(abs(low), abs(high))
            if zero or not low <= 0 <= high:
                spans.append((low - slack, high + slack))
    merged: list[tuple[float, float]] = []
    for low, high in sorted(spans):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def digit_filter(wanted: Sequence[Wanted]) -> re.Pattern[str] | None:
    """Return a pattern that every line holding a number of interest matches.

    Numbers are recognised by their first three significant digits, wherever the point stands;
    zeros before them are passed over. None when the numbers have too few digits to filter by.
    """
    prefixes: set[str] = set()
    for number in (number for item in wanted for number in item.numbers):
        half = number.quantum / 2
        ends = sorted((abs(number.value - half), abs(number.value + half)))
        if number.value == 0 or abs(number.value) <= half:
            return None
        exponent = ends[1].adjusted()
        low, high = (int(end.scaleb(2 - exponent)) for end in ends)
        if high - low > _MAX_PREFIXES:
            return None
        for digits in range(low, high + 1):
            prefixes.add(f"{digits}".rstrip("0"))
    if not prefixes:
        return None
    alternatives = (r"[.,_]?".join(prefix) for prefix in sorted(prefixes))
    return re.compile(rf"(?<![0-9.])[0.,_]*(?:{'|'.join(alternatives)})")
