"""The arithmetic that every branch shares: a half-width around a sample, z, power, more runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from decimal import Decimal

from rra.values.aggregate import DIGITS, mean, variance
from rra.values.success.distributions import chi2_quantile, noncentrality, t_quantile
from rra.values.success.granularity import Scale
from rra.values.success.judgement import Interval

MOST_RUNS = 1000
"""More runs than this are not proposed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Sample:
    """Mean, variance and number of values, on the scale of the test."""

    mean: Decimal
    variance: Decimal
    count: int

    @classmethod
    def of(cls, values: Sequence[Decimal]) -> Sample:
        """Summarise values that are already on the scale."""
        return cls(mean(values), variance(values), len(values))


def spread_width(base: Sample, new: Sample, alpha: float) -> tuple[Decimal, Decimal, int]:
    """Return (t times the standard error, standard error, degrees of freedom).

    With two or more new values both samples are pooled; a single new value has no variance of
    its own and the base sample gives it.
    """
    if new.count >= 2:
        degrees = base.count + new.count - 2
        pooled = DIGITS.divide(
            base.variance * (base.count - 1) + new.variance * (new.count - 1), Decimal(degrees)
        )
    else:
        degrees, pooled = base.count - 1, base.variance
    size = DIGITS.divide(Decimal(1), Decimal(base.count)) + DIGITS.divide(
        Decimal(1), Decimal(new.count)
    )
    error = DIGITS.sqrt(DIGITS.multiply(pooled, size))
    return DIGITS.multiply(t_quantile(1 - alpha / 2, degrees), error), error, degrees


def detectable_shift(error: Decimal, degrees: int, alpha: float, floor: Decimal) -> Interval:
    """Return the shift caught four times in five, for the smallest and largest likely spread.

    The spread is only estimated: its 95 % limits are s·√(ν/χ²), so the shift is a range.

    Args:
        error: Standard error of the difference, as estimated.
        degrees: Its degrees of freedom.
        alpha: Level of the test.
        floor: Half-width that applies in any case; a smaller shift is never seen.
    """
    if error == 0:
        return floor, floor
    critical = float(t_quantile(1 - alpha / 2, degrees))
    shift = DIGITS.multiply(error, Decimal(repr(noncentrality(critical, degrees))))
    low, high = (
        DIGITS.multiply(
            shift, DIGITS.sqrt(DIGITS.divide(Decimal(degrees), chi2_quantile(p, degrees)))
        )
        for p in (0.975, 0.025)
    )
    return max(low, floor), max(high, floor)


def runs_to_reach(base: Sample, new: Sample, alpha: float, wanted: Decimal) -> int | None:
    """Return how many more new values make the half-width smaller than wanted; None if none do."""

    def narrow(count: int) -> bool:
        planned = Sample(new.mean, new.variance if new.count >= 2 else base.variance, count)
        return spread_width(base, planned, alpha)[0] <= wanted

    if not narrow(MOST_RUNS):
        return None
    low, high = new.count, MOST_RUNS
    while high - low > 1:
        middle = (low + high) // 2
        if narrow(middle):
            high = middle
        else:
            low = middle
    return high - new.count


def in_unit(
    scale: Scale, centre: Decimal, half_width: Decimal, bounds: Sequence[float] | None
) -> tuple[Decimal, Interval]:
    """Return the half-width and the interval in the unit of the outcome, clipped to its bounds."""
    low, high = scale.back(centre - half_width), scale.back(centre + half_width)
    width = (high - low) / 2 if scale.log else half_width
    if bounds is not None and len(bounds) == 2:
        least, most = (Decimal(repr(bound)) for bound in bounds)
        low, high = min(max(low, least), most), max(min(high, most), least)
    return width, (low, high)


def shifts_in_unit(scale: Scale, centre: Decimal, shifts: Interval) -> Interval:
    """Take a range of shifts from the scale into the unit of the outcome."""
    if not scale.log:
        return shifts
    middle = scale.back(centre)
    return scale.back(centre + shifts[0]) - middle, scale.back(centre + shifts[1]) - middle


def z_score(difference: Decimal, error: Decimal) -> Decimal | None:
    """Return a difference in standard errors; None when there is no spread to measure it with."""
    return DIGITS.divide(difference, error) if error else None
