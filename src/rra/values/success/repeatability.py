"""The second question: does a new run give what earlier runs gave?"""

from __future__ import annotations

from decimal import Decimal

from rra.model import ReportedValue
from rra.values.aggregate import DIGITS
from rra.values.numbers import parse_value
from rra.values.success.comparison import (
    Sample,
    detectable_shift,
    in_unit,
    runs_to_reach,
    shifts_in_unit,
    spread_width,
    z_score,
)
from rra.values.success.distributions import f_quantile, t_quantile
from rra.values.success.granularity import Scale
from rra.values.success.judgement import Answer, Assessment, Finding, shown

MINIMUM_REFERENCES = 3
"""Fewer reference values than this say nothing about spread."""

GRUBBS_MINIMUM = 5
"""Fewest values in which an outlier is looked for."""


def repeats(
    outcome: ReportedValue,
    references: Sample,
    fresh: Sample,
    scale: Scale,
    g: Decimal,
    alpha: float,
) -> Assessment:
    """Test whether fresh values come from where the references come from.

    Args:
        outcome: Gives bounds and the meaningful difference.
        references: At least three reference values, on the scale.
        fresh: Fresh values, on the scale.
        scale: Scale of the test.
        g: Granularity on the scale.
        alpha: Two-sided level of this test.
    """
    width, error, degrees = spread_width(references, fresh, alpha)
    half_width = max(width, g)
    difference = fresh.mean - references.mean
    h, interval = in_unit(scale, references.mean, half_width, outcome.bounds)
    needed = None
    answer: Answer = "fail" if abs(difference) > half_width else "pass"
    middle, value = scale.back(references.mean), scale.back(fresh.mean)
    reason = (
        f"{shown(value)} {'is outside' if answer == 'fail' else 'lies within'} "
        f"{shown(middle)} ± {shown(h)} from {references.count} reference values"
    )
    meaningful = _meaningful(outcome)
    if answer == "pass" and meaningful is not None and meaningful < h:
        answer = "inconclusive"
        wanted = scale.width(middle, meaningful) if scale.log else meaningful
        needed = runs_to_reach(references, fresh, alpha, wanted) if wanted > g else None
        reason += f", but a difference of {shown(meaningful)} would matter and could not be seen"
    return Assessment(
        answer,
        reason,
        "reference-runs",
        middle,
        h,
        interval,
        z_score(difference, error),
        shifts_in_unit(
            scale,
            references.mean,
            detectable_shift(error, degrees, alpha, g),
        ),
        needed,
    )


def _meaningful(outcome: ReportedValue) -> Decimal | None:
    if outcome.meaningful_difference is None:
        return None
    return parse_value(outcome.meaningful_difference)


def variance_finding(
    references: Sample, fresh: Sample, scale: Scale, g: Decimal, alpha: float
) -> Finding | None:
    """Report when fresh runs scatter clearly more or less than the references.

    The ratio of variances is compared with the two-sided limits of F. Spread below the
    granularity is no spread.
    """
    if fresh.count < 2:
        return None
    spreads = DIGITS.sqrt(references.variance), DIGITS.sqrt(fresh.variance)
    if max(spreads) <= g:
        return None
    unit = " (of logarithms)" if scale.log else ""
    shown_spreads = f"sd {shown(spreads[1])} fresh against {shown(spreads[0])} in the references"
    if references.variance == 0:
        message = f"the fresh runs scatter and the references do not: {shown_spreads}{unit}"
        return Finding("variance-ratio", message)
    ratio = DIGITS.divide(fresh.variance, references.variance)
    low, high = (
        f_quantile(p, fresh.count - 1, references.count - 1) for p in (alpha / 2, 1 - alpha / 2)
    )
    if low <= ratio <= high:
        return None
    message = (
        f"the variance ratio {shown(ratio, 3)} is outside {shown(low, 3)} … {shown(high, 3)}: "
        f"{shown_spreads}{unit}"
    )
    return Finding("variance-ratio", message)


def outlier_finding(
    values: list[Decimal], sample: Sample, scale: Scale, g: Decimal
) -> Finding | None:
    """Flag one reference value for re-verification; it is never dropped.

    Grubbs' two-sided test at 5 % (Grubbs, *Technometrics* 11, 1969), for five values or more, and
    only where the value is further than the granularity from its nearest neighbour.
    """
    count = sample.count
    if count < GRUBBS_MINIMUM or sample.variance == 0:
        return None
    far = max(values, key=lambda value: abs(value - sample.mean))
    gap = min(abs(far - other) for other in _others(values, far))
    statistic = DIGITS.divide(abs(far - sample.mean), DIGITS.sqrt(sample.variance))
    if gap <= g or statistic <= grubbs_critical(count):
        return None
    message = (
        f"the reference value {shown(scale.back(far))} stands apart from the other {count - 1} "
        f"(Grubbs G = {shown(statistic, 4)}); verify it again, it is not dropped"
    )
    return Finding("outlier", message)


def _others(values: list[Decimal], one: Decimal) -> list[Decimal]:
    rest = list(values)
    rest.remove(one)
    return rest


def grubbs_critical(count: int, alpha: float = 0.05) -> Decimal:
    """Return the critical value of Grubbs' two-sided test for one outlier among `count`."""
    t = t_quantile(1 - alpha / (2 * count), count - 2)
    square = DIGITS.multiply(t, t)
    ratio = DIGITS.sqrt(DIGITS.divide(square, square + count - 2))
    return DIGITS.divide(DIGITS.multiply(Decimal(count - 1), ratio), DIGITS.sqrt(Decimal(count)))
