"""How fine a reported value is: the difference that rounding and counting alone explain."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

from rra.errors import SelectError
from rra.model import ReportedValue
from rra.values.aggregate import DIGITS
from rra.values.numbers import ReportedNumber, parse_value
from rra.values.units import whole_of

EPSILON = Decimal(2) ** -52
"""Spacing of IEEE doubles at 1."""

_HALF = Decimal("0.5")


@dataclasses.dataclass(frozen=True, slots=True)
class Scale:
    """The scale that a test is made on: as reported, or logarithms."""

    log: bool

    def to(self, value: Decimal) -> Decimal:
        """Take a value onto the scale."""
        return DIGITS.ln(value) if self.log else value

    def back(self, value: Decimal) -> Decimal:
        """Take a value from the scale into the unit of the outcome."""
        return DIGITS.exp(value) if self.log else value

    def width(self, value: Decimal, distance: Decimal) -> Decimal:
        """Take a distance around a value onto the scale; the larger side counts."""
        if not self.log:
            return distance
        upper = DIGITS.ln(DIGITS.divide(value + distance, value))
        if distance >= value:
            return upper
        return max(upper, DIGITS.ln(DIGITS.divide(value, value - distance)))


def reported_number(outcome: ReportedValue) -> ReportedNumber:
    """Return the reported value of an outcome of type number.

    Raises:
        SelectError: It is not one number.
    """
    if not isinstance(outcome.reported, str):
        raise SelectError(
            f"reported is a list of {len(outcome.reported)}, and the outcome is a number",
            hint="declare one outcome for each number, or type: list",
        )
    return ReportedNumber.parse(outcome.reported)


def half_ulp(outcome: ReportedValue) -> Decimal:
    """Return half a unit in the last reported place, or the declared tolerance."""
    declared = _tolerance(outcome)
    return declared if declared is not None else reported_number(outcome).quantum * _HALF


def granularity(outcome: ReportedValue) -> Decimal:
    """Return g of `rra-success/v1`, in the unit of the outcome.

    Half a unit in the last reported place, plus half an item for a proportion of `n_items`, plus
    eight times the spacing of doubles at the reported value. A declared `tolerance` replaces it.

    Raises:
        SelectError: The reported value or the tolerance is not a number.
    """
    declared = _tolerance(outcome)
    if declared is not None:
        return declared
    reported = reported_number(outcome)
    rounding = 8 * EPSILON * abs(reported.value)
    item = item_size(outcome)
    half_item = item * _HALF if item is not None else Decimal(0)
    return reported.quantum * _HALF + half_item + rounding


def item_size(outcome: ReportedValue) -> Decimal | None:
    """Return what one item of `n_items` is worth; None when the outcome is no proportion."""
    whole = whole_of(outcome.unit)
    if outcome.n_items is None or outcome.n_items < 1 or whole is None:
        return None
    return DIGITS.divide(whole, Decimal(outcome.n_items))


def _tolerance(outcome: ReportedValue) -> Decimal | None:
    return None if outcome.tolerance is None else parse_value(outcome.tolerance)


def items_apart(outcome: ReportedValue, value: Decimal) -> str:
    """Say both values as counts of items (``170 of 178 against 171``); empty when they are none."""
    item = item_size(outcome)
    if item is None:
        return ""
    ours, theirs = (
        int(DIGITS.divide(number, item).to_integral_value())
        for number in (value, reported_number(outcome).value)
    )
    apart = abs(ours - theirs)
    words = {0: "the same count", 1: "within one item"}.get(apart, f"{apart} items apart")
    return f"{ours} of {outcome.n_items} against {theirs} of {outcome.n_items}, {words}"
