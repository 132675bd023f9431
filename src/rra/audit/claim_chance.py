"""The chance that a number is found although it has nothing to do with what was run.

A match proves little by itself: with hundreds of numbers in the outputs, a wrong value of two
digits is found somewhere about every second time. So numbers of the same form are looked for in
the same places in the same way, and p is the share of them, the reported one counted in, that
are found (the estimate that is never 0: Phipson & Smyth 2010, "Permutation P-values should never
be zero").
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Iterable, Sequence
from decimal import Decimal

from rra.values.numbers import CONTEXT, ReportedNumber, rounds_to
from rra.values.units import whole_of

DECOYS = 200
"""Numbers that are looked for beside the reported one; fewer where the form has fewer."""

_BOUNDS = (Decimal(1), Decimal(100))
_NEAR = 10
_TWO = Decimal(2)


class ValueIndex:
    """Numbers in order, asked whether one of them rounds to a reported number."""

    def __init__(self, values: Iterable[Decimal]) -> None:
        """Take the numbers in the unit in which they are reported."""
        self._values = sorted(values)

    def __len__(self) -> int:
        """Return how many numbers there are."""
        return len(self._values)

    def has(self, reported: ReportedNumber, *, truncated: bool = False) -> bool:
        """Tell whether a number rounds to the reported one, or is cut to it if that counts."""
        half = CONTEXT.divide(reported.quantum, _TWO)
        low = CONTEXT.subtract(reported.value, half)
        high = CONTEXT.add(reported.value, half)
        if self._any(low, high) or any(
            rounds_to(end, reported) and self._holds(end) for end in (low, high)
        ):
            return True
        return truncated and self._is_cut(reported)

    def _is_cut(self, reported: ReportedNumber) -> bool:
        value, (low, high) = reported.value, interval(reported)
        if value > 0:
            return self._holds(value) or self._any(value, high)
        if value < 0:
            return self._holds(value) or self._any(low, value)
        return self._any(low, high)

    def _any(self, low: Decimal, high: Decimal) -> bool:
        """Tell whether a number lies between two bounds, none of them included."""
        start = bisect.bisect_right(self._values, low)
        return start < len(self._values) and self._values[start] < high

    def _holds(self, value: Decimal) -> bool:
        at = bisect.bisect_left(self._values, value)
        return at < len(self._values) and self._values[at] == value


def interval(reported: ReportedNumber) -> tuple[Decimal, Decimal]:
    """Return bounds that hold every number which rounds or is cut to the reported one."""
    step = reported.quantum
    return (
        CONTEXT.subtract(reported.value, step),
        CONTEXT.add(reported.value, step),
    )


def decoys(reported: ReportedNumber, unit: str | None = None) -> list[ReportedNumber]:
    """Return up to `DECOYS` other numbers of the form of a reported one, always the same.

    They have its sign, its decimals and its zeros at the end (``50.0`` says less than ``98.9``)
    and lie between half and twice its value; a share stays a share, a percentage a percentage.

    Args:
        reported: The number.
        unit: Its unit, where one is known.
    """
    quantum = reported.quantum
    count = int(CONTEXT.divide(abs(reported.value), quantum))
    step = _round_step(count)
    units = count // step
    low = max(0, min(units // 2, units - _NEAR))
    high = max(2 * units, units + _NEAR)
    bound = _bound(reported, unit)
    if bound is not None:
        high = min(high, max(int(CONTEXT.divide(bound, quantum)) // step, units))
    return [_like(reported, one * step) for one in _chosen(reported.text, low, high, units)]


def _bound(reported: ReportedNumber, unit: str | None) -> Decimal | None:
    """Return what a number of that kind cannot exceed, as far as its looks tell."""
    size = abs(reported.value)
    if unit is not None:
        whole = whole_of(unit)
        return whole if whole is not None and size <= whole else None
    if reported.decimals <= 0:
        return None
    return next((bound for bound in _BOUNDS if size <= bound), None)


def _round_step(count: int) -> int:
    """Return 100 for 5000 and 1 for 989: how coarse a number is that ends in zeros."""
    step = 1
    while count and count % (step * 100) == 0:
        step *= 10
    return step


def _chosen(seed: str, low: int, high: int, own: int) -> list[int]:
    """Return numbers between two bounds without the number itself: all, or a fixed sample."""
    if high - low <= DECOYS:
        return [unit for unit in range(low, high + 1) if unit != own]
    found: dict[int, None] = {}
    index = 0
    while len(found) < DECOYS:
        digest = hashlib.sha256(f"{seed}/{index}".encode()).digest()
        unit = low + int.from_bytes(digest[:16], "big") % (high - low + 1)
        index += 1
        if unit != own:
            found[unit] = None
    return list(found)


def _like(reported: ReportedNumber, count: int) -> ReportedNumber:
    value = CONTEXT.multiply(Decimal(count), reported.quantum)
    signed = CONTEXT.copy_sign(value, reported.value)
    return ReportedNumber(str(signed), signed, reported.decimals)


def chance(
    others: Sequence[ReportedNumber], values: ValueIndex, *, truncated: bool = False
) -> tuple[int, int]:
    """Return how many decoys are found among numbers, and of how many.

    Args:
        others: The decoys of a reported number.
        values: The numbers in whose number the reported one was found.
        truncated: Whether numbers that are only cut to a decoy count as well.
    """
    found = sum(values.has(other, truncated=truncated) for other in others)
    return found, len(others)


def p_value(found: int, of: int) -> float:
    """Return the share of numbers of a form that are found, the reported one counted in."""
    return (found + 1) / (of + 1)
