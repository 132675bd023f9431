"""Values that follow from others by arithmetic (spec: outcome, derived)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from rra.errors import SelectError
from rra.model import Derived
from rra.values.aggregate import DIGITS, mean
from rra.values.units import convert

Operand = tuple[Decimal, str | None]
"""A value and its unit."""

_OWN_UNIT = ("difference", "mean")
_RESULT_UNITS = {"ratio": "fraction", "percent_change": "percent"}


def derive(derived: Derived, operands: Sequence[Operand], unit: str | None) -> Decimal:
    """Compute a value from those that it follows from, to 50 digits.

    Args:
        derived: The operation.
        operands: Values with their units, in the order of the operation.
        unit: Unit of the result; that of the first operand, fraction or percent when None.

    Raises:
        SelectError: A value is not finite, something is divided by zero, or units do not convert.
    """
    if not all(value.is_finite() for value, _ in operands):
        raise SelectError(
            "one of the values that it follows from is not finite",
            hint="look for a division by zero or a diverged training in the run's log",
        )
    common = unit if derived.op in _OWN_UNIT and unit is not None else operands[0][1]
    values = [convert(value, own, common) for value, own in operands]
    if derived.op == "mean":
        return mean(values)
    first, second = values
    if derived.op == "difference":
        return DIGITS.subtract(first, second)
    if second == 0:
        raise SelectError(
            f"a {derived.op.replace('_', ' ')} to zero has no value",
            hint="look at the outcome that it is taken to",
        )
    result = DIGITS.divide(first, second)
    if derived.op == "percent_change":
        change = DIGITS.divide(DIGITS.subtract(first, second), second)
        result = DIGITS.multiply(change, Decimal(100))
    return convert(result, _RESULT_UNITS[derived.op], unit)
