"""Quality checks around the two questions: usable values, references, spread, direction."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from rra.errors import SelectError
from rra.model import Reference, ReportedValue
from rra.values.numbers import describe_nonfinite, parse_value
from rra.values.success.agreement import paper_sample
from rra.values.success.granularity import Scale, items_apart, reported_number
from rra.values.success.judgement import Finding, shown
from rra.values.success.repeatability import MINIMUM_REFERENCES


def barrier(outcome: ReportedValue, *, same_hardware: bool) -> str:
    """Say why the values of an outcome cannot be compared here; empty when they can."""
    if outcome.comparable == "never":
        return "declared as not comparable between machines"
    if outcome.comparable == "same-hardware" and not same_hardware:
        return "comparable on the same hardware only, and this is other hardware"
    return ""


def invalid_value(numbers: Sequence[Decimal], scale: Scale, whose: str) -> str:
    """Say which number cannot be used: not finite, or without a logarithm; empty when all can."""
    for number in numbers:
        if not number.is_finite():
            return f"a {whose} value is {describe_nonfinite(number)}"
        if scale.log and number <= 0:
            return f"a {whose} value is {shown(number)} and has no logarithm"
    return ""


def reference_numbers(
    references: Reference | None, scale: Scale
) -> tuple[list[Decimal] | None, Finding | None]:
    """Return the reference values on the scale, or what keeps them from being used.

    Raises:
        SelectError: A reference value is a list or not a number.
    """
    if references is None:
        return None, None
    values: list[Decimal] = []
    for score in references.scores:
        if not isinstance(score.value, str):
            raise SelectError("a reference value of a number is a list")
        values.append(parse_value(score.value))
    if len(values) < MINIMUM_REFERENCES:
        message = f"{len(values)} reference values are too few; {MINIMUM_REFERENCES} are needed"
        return None, Finding("too-few-references", message)
    problem = invalid_value(values, scale, "reference")
    if problem:
        return None, Finding("non-finite", problem)
    return [scale.to(value) for value in values], None


def better(outcome: ReportedValue, value: Decimal, other: Decimal) -> bool:
    """Tell whether a value is better than another, by the declared direction."""
    if outcome.direction is None:
        return False
    return value > other if outcome.direction == "higher" else value < other


def bounds_finding(outcome: ReportedValue, numbers: Sequence[Decimal]) -> Finding | None:
    """Report a value that the declared bounds make impossible."""
    if outcome.bounds is None or len(outcome.bounds) != 2:
        return None
    low, high = (Decimal(repr(bound)) for bound in outcome.bounds)
    for number in numbers:
        if not low <= number <= high:
            message = f"{shown(number)} is outside the possible {shown(low)} … {shown(high)}"
            return Finding("out-of-bounds", message)
    return None


def spread_finding(outcome: ReportedValue, scale: Scale) -> Finding | None:
    """Report a spread beside the paper's value that cannot be used."""
    given = outcome.reported_uncertainty
    if given is None or paper_sample(outcome, scale) is not None:
        return None
    message = (
        f"the reported spread {given.value} over {given.runs} runs cannot be used: "
        f"{MINIMUM_REFERENCES} runs and a finite size are needed"
    )
    return Finding("unusable-spread", message)


def disagreement_findings(outcome: ReportedValue, value: Decimal) -> list[Finding]:
    """Say what is worth knowing about a value that does not agree: one item off, or better."""
    findings = []
    counts = items_apart(outcome, value)
    if "within one item" in counts:
        findings.append(Finding("within-one-item", f"the fresh value is {counts}"))
    if better(outcome, value, reported_number(outcome).value):
        message = "the fresh value is better than the reported one; look for a leak"
        findings.append(Finding("better", message))
    return findings
