"""The first question: is the paper's value what this artifact gives? Four ways to answer it."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

from rra.model import ReportedUncertainty, ReportedValue
from rra.values.aggregate import DIGITS
from rra.values.numbers import parse_value
from rra.values.success.comparison import (
    Sample,
    detectable_shift,
    in_unit,
    shifts_in_unit,
    spread_width,
    z_score,
)
from rra.values.success.distributions import mean_range, t_quantile
from rra.values.success.granularity import (
    Scale,
    granularity,
    half_ulp,
    items_apart,
    reported_number,
)
from rra.values.success.judgement import Assessment, Rule, shown

MINIMUM_RUNS = 3
"""Fewest fresh runs that say anything about the spread of a stochastic outcome."""


@dataclasses.dataclass(frozen=True, slots=True)
class Evidence:
    """What the first question can be answered with.

    Attributes:
        fresh: Fresh values, on the scale.
        references: Reference values by others than the author, on the scale, or None.
        deterministic: Whether the fresh values are one value, by declaration or observation.
        scale: Scale of the test.
        alpha: Two-sided level of this test.
    """

    fresh: Sample
    references: Sample | None
    deterministic: bool
    scale: Scale
    alpha: float


def paper_sample(outcome: ReportedValue, scale: Scale) -> Sample | None:
    """Return the paper's value as a sample of its own runs, from its reported spread.

    A standard error times √n, a 95 % interval's half-width divided by t/√n, and a range's
    half-width times 2/d₂ are turned into the standard deviation. None when the paper gives no
    spread, or one over fewer than three runs.

    Raises:
        SelectError: The spread is not a number.
    """
    given = outcome.reported_uncertainty
    if given is None or given.runs < MINIMUM_RUNS:
        return None
    value = reported_number(outcome).value
    deviation = _deviation(given)
    if not deviation.is_finite() or deviation < 0:
        return None
    if scale.log:
        deviation = DIGITS.divide(deviation, value)
    return Sample(scale.to(value), DIGITS.multiply(deviation, deviation), given.runs)


def _deviation(given: ReportedUncertainty) -> Decimal:
    size = parse_value(given.value)
    root = DIGITS.sqrt(Decimal(given.runs))
    if given.kind == "se":
        return DIGITS.multiply(size, root)
    if given.kind == "ci95":
        return DIGITS.divide(DIGITS.multiply(size, root), t_quantile(0.975, given.runs - 1))
    if given.kind == "range":
        return DIGITS.divide(2 * size, mean_range(given.runs))
    return size


def agrees_with_paper(outcome: ReportedValue, evidence: Evidence) -> Assessment:
    """Compare the reported value with what the artifact gives, by the best evidence there is.

    In this order: the paper's own spread; references made by others; three or more fresh runs;
    a deterministic value. One run of something that is not known to be deterministic decides
    nothing.

    Raises:
        SelectError: The reported value, its spread or the tolerance is not a number.
    """
    paper = paper_sample(outcome, evidence.scale)
    if paper is not None:
        return _by_spread(outcome, evidence, paper, evidence.fresh, "paper-spread")
    reported = reported_number(outcome)
    if evidence.references is not None:
        point = Sample(evidence.scale.to(reported.value), Decimal(0), 1)
        return _by_spread(outcome, evidence, evidence.references, point, "references")
    if evidence.deterministic:
        return _deterministic(outcome, evidence)
    if evidence.fresh.count < MINIMUM_RUNS:
        count = evidence.fresh.count
        runs = "one run says" if count == 1 else f"{count} runs say"
        return Assessment(
            "inconclusive",
            f"{runs} nothing about the spread of {shown(evidence.scale.back(evidence.fresh.mean))}",
            "own-runs",
            more_runs=MINIMUM_RUNS - count,
        )
    point = Sample(evidence.scale.to(reported.value), Decimal(0), 1)
    return _by_spread(outcome, evidence, evidence.fresh, point, "own-runs")


def _by_spread(
    outcome: ReportedValue, evidence: Evidence, base: Sample, other: Sample, rule: Rule
) -> Assessment:
    """Test whether `other` lies inside base ± max(t·s·√(1/k + 1/n), floor)."""
    reported = reported_number(outcome)
    scale = evidence.scale
    least = half_ulp(outcome) if rule == "own-runs" else granularity(outcome)
    floor = scale.width(reported.value, least)
    width, error, degrees = spread_width(base, other, evidence.alpha)
    half_width = max(width, floor)
    difference = other.mean - base.mean
    passes = abs(difference) <= half_width
    h, interval = in_unit(scale, base.mean, half_width, outcome.bounds)
    middle, value = scale.back(base.mean), scale.back(other.mean)
    source = {
        "paper-spread": f"the paper's {base.count} runs",
        "references": f"{base.count} reference values",
        "own-runs": f"{base.count} own runs",
    }[rule]
    subject = "the mean" if rule == "paper-spread" else "the reported"
    reason = (
        f"{subject} {reported.text if rule != 'paper-spread' else shown(value)} "
        f"{'lies within' if passes else 'is outside'} {shown(middle)} ± {shown(h)} from {source}"
    )
    if passes and rule == "own-runs":
        reason = f"consistent (own runs): {reason}"
    return Assessment(
        "pass" if passes else "fail",
        reason,
        rule,
        middle,
        h,
        interval,
        z_score(difference, error),
        shifts_in_unit(scale, base.mean, detectable_shift(error, degrees, evidence.alpha, floor)),
    )


def _deterministic(outcome: ReportedValue, evidence: Evidence) -> Assessment:
    """Compare one value with the reported one within the granularity, exactly."""
    reported = reported_number(outcome)
    value = evidence.scale.back(evidence.fresh.mean) if evidence.scale.log else evidence.fresh.mean
    g = granularity(outcome)
    difference = abs(value - reported.value)
    passes = difference <= g
    relation = "agrees with" if passes else "does not agree with"
    reason = (
        f"{shown(value)} {relation} the reported {reported.text}: they differ by "
        f"{shown(difference, 3)}, {'within' if passes else 'more than'} {shown(g, 3)}"
    )
    counts = items_apart(outcome, value)
    interval = in_unit(Scale(log=False), reported.value, g, outcome.bounds)[1]
    return Assessment(
        "pass" if passes else "fail",
        f"{reason} ({counts})" if counts else reason,
        "deterministic",
        reported.value,
        g,
        interval,
        None,
        (g, g),
    )
