"""One value from the values of several runs, as a selector's ``aggregate`` says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal

from rra.errors import SelectError

DIGITS = Context(prec=50)
"""Arithmetic for means and roots: far beyond what doubles hold, so nothing visible is rounded."""


def mean(values: Sequence[Decimal]) -> Decimal:
    """Return the arithmetic mean, to 50 digits."""
    total = Decimal(0)
    for value in values:
        total = DIGITS.add(total, value)
    return DIGITS.divide(total, Decimal(len(values)))


def median(values: Sequence[Decimal]) -> Decimal:
    """Return the middle value, or the mean of the two middle ones."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return mean(ordered[middle - 1 : middle + 1])


def variance(values: Sequence[Decimal]) -> Decimal:
    """Return the sample variance (divisor n - 1), to 50 digits; 0 for a single value."""
    if len(values) < 2:
        return Decimal(0)
    centre = mean(values)
    total = Decimal(0)
    for value in values:
        distance = DIGITS.subtract(value, centre)
        total = DIGITS.add(total, DIGITS.multiply(distance, distance))
    return DIGITS.divide(total, Decimal(len(values) - 1))


def standard_deviation(values: Sequence[Decimal]) -> Decimal:
    """Return the sample standard deviation (divisor n - 1), to 50 digits."""
    return DIGITS.sqrt(variance(values))


def _standard_error(values: Sequence[Decimal]) -> Decimal:
    return DIGITS.divide(standard_deviation(values), DIGITS.sqrt(Decimal(len(values))))


_RULES: dict[str, Callable[[Sequence[Decimal]], Decimal]] = {
    "mean": mean,
    "median": median,
    "min": min,
    "max": max,
    "sd": standard_deviation,
    "se": _standard_error,
}


def aggregate(values: Sequence[Decimal], how: str) -> Decimal:
    """Make one number of several.

    Args:
        values: At least one number, one per run.
        how: ``single`` (exactly one value), ``mean``, ``median``, ``min``, ``max``, ``sd`` (sample
            standard deviation, divisor n - 1) or ``se`` (sd / √n).

    Returns:
        The aggregate; NaN when any value is not finite, whatever the rule.

    Raises:
        SelectError: No value, several under ``single``, one under ``sd`` or ``se``, or a rule
            that does not exist.
    """
    if not values:
        raise SelectError("no run gave a value", hint="look in the logs of the runs")
    if how == "single":
        if len(values) > 1:
            raise SelectError(
                f"{len(values)} runs gave a value, and the selector says `aggregate: single`",
                hint="name one run in `runs`, or say `aggregate: mean` (median, min, max, sd, se)",
            )
        return values[0]
    if how not in _RULES:
        raise SelectError(f"no aggregate {how!r}", hint=f"choose from: single, {', '.join(_RULES)}")
    if how in {"sd", "se"} and len(values) < 2:
        raise SelectError(f"`aggregate: {how}` needs two runs or more, there is one")
    if not all(value.is_finite() for value in values):
        return Decimal("NaN")
    return _RULES[how](values)
