"""Axes: a range with room at its ends, and tick labels that are short, exact and apart."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from decimal import Decimal

STEPS = (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5), Decimal(10))
_MOST_TICKS = 6
_ROOM = 0.06


@dataclasses.dataclass(frozen=True, slots=True)
class Axis:
    """A stretch of the number line and its ticks.

    Attributes:
        low: Left end.
        high: Right end.
        ticks: Values with their labels, from left to right.
        log: Whether equal distances are equal ratios.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    log: bool = False

    def place(self, value: float) -> float:
        """Return where a value stands: 0 at the left end, 1 at the right, never outside."""
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log10(low), math.log10(high), math.log10(max(value, self.low))
        return min(max((at - low) / (high - low), 0.0), 1.0)


def make_axis(values: Iterable[Decimal], width: float, character: float, *, log: bool) -> Axis:
    """Return an axis that holds all values.

    Args:
        values: At least one finite value; for a logarithmic axis all above zero.
        width: Length of the axis in pixels.
        character: Width of a digit in pixels.
        log: Whether equal ratios are to be equal distances.
    """
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    if log and low > 0 and high / low >= 10:
        return _log_axis(low, high)
    pad = abs(low) / 100 or Decimal(1) if low == high else (high - low) * Decimal(str(_ROOM))
    low, high = low - pad, high + pad
    return Axis(float(low), float(high), _ticks(low, high, width, character))


def _ticks(
    low: Decimal, high: Decimal, width: float, character: float
) -> tuple[tuple[float, str], ...]:
    """Return the finest ticks whose labels do not touch."""
    for count in range(_MOST_TICKS, 0, -1):
        step = nice_step((high - low) / count)
        first = (low / step).to_integral_value(rounding="ROUND_CEILING") * step
        marks = []
        while first <= high:
            marks.append((float(first), label(first, step)))
            first += step
        longest = max((len(text) for _, text in marks), default=0)
        distance = float(step / (high - low)) * width
        if marks and (longest + 2) * character <= distance:
            return tuple(marks)
    middle = (low + high) / 2
    step = nice_step(high - low) / 10
    middle = (middle / step).to_integral_value() * step
    return ((float(middle), label(middle, step)),)


def nice_step(least: Decimal) -> Decimal:
    """Return the smallest of 1, 2, 2.5, 5 times a power of ten that is not below `least`."""
    power = Decimal(1).scaleb(least.adjusted())
    return next(step * power for step in STEPS if step * power >= least)


def label(value: Decimal, step: Decimal) -> str:
    """Write a tick with the decimals of its step."""
    exponent = step.normalize().as_tuple().exponent
    last = exponent if isinstance(exponent, int) else 0
    if value and (abs(value) >= Decimal("1e6") or abs(value) < Decimal("1e-4")):
        return f"{value:.{max(0, value.adjusted() - last)}e}"
    text = f"{value:.{max(0, -last)}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def _log_axis(low: Decimal, high: Decimal) -> Axis:
    first, last = low.adjusted(), high.adjusted() + 1
    every = max(1, math.ceil((last - first) / _MOST_TICKS))
    marks = tuple(
        (10.0**power, f"1e{power}" if abs(power) > 4 else f"{Decimal(10) ** power:f}")
        for power in range(first, last + 1, every)
    )
    return Axis(10.0**first, 10.0**last, marks, log=True)
