"""Decoys: numbers that stand in for a suspect number, so that a copy can be told by its value.

A decoy is written as the number it replaces (sign, decimals, exponent, leading point), and is
plausible where it can be: a share stays a share, a percentage a percentage. Three directions
tell a copy from a choice: what only follows upwards is a maximum or a lower clamp, what only
follows downwards a minimum or an upper clamp, what follows everywhere is copied.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Decimal

from rra.values.numbers import CONTEXT

ATTEMPTS = 48
"""How many decoys are tried for one place before two that are alike are accepted."""

_GOLDEN = Decimal("0.6180339887498949")
_BOUNDS = (Decimal(1), Decimal(100))
_WRITTEN = re.compile(
    r"(?P<sign>[+\-\u2212\u2013\uff0d]?)(?P<whole>[0-9_]*)(?P<point>[.,]?)(?P<part>[0-9]*)"
    r"(?P<exponent>(?:[eE][+-]?[0-9]+)?)"
)


class Direction(enum.Enum):
    """Where a decoy lies, seen from the number it replaces."""

    DOWN = "lower"
    UP = "higher"
    FAR = "far higher"
    EXTREME = "a thousand times higher"


def values(original: Decimal, direction: Direction, start: int = 0) -> Iterator[Decimal]:
    """Yield magnitudes that can replace a number, without end being reached in practice.

    Args:
        original: The number, its sign is kept.
        direction: Where the decoys lie, by magnitude.
        start: Decoys of different places start at different points of the same sequence.

    Yields:
        At most `ATTEMPTS` numbers at full precision; none when there is no room, such as
        above 100 %.
    """
    size = abs(original)
    bound = next((bound for bound in _BOUNDS if size <= bound), None)
    if direction is Direction.UP and bound == size:
        return
    for index in range(start, start + ATTEMPTS):
        fraction = (index * _GOLDEN) % 1
        yield CONTEXT.copy_sign(_place(size, direction, fraction, bound), original)


_FROM_ZERO = {
    Direction.DOWN: "0.2",
    Direction.UP: "0.6",
    Direction.FAR: "17",
    Direction.EXTREME: "4000",
}
"""Where decoys of a zero begin."""


def _place(
    size: Decimal, direction: Direction, fraction: Decimal, bound: Decimal | None
) -> Decimal:
    if size == 0:
        return Decimal(_FROM_ZERO[direction]) * (1 + fraction)
    if direction is Direction.DOWN:
        return size * (Decimal("0.23") + Decimal("0.37") * fraction)
    if direction is Direction.FAR:
        return size * (Decimal("1.7") + Decimal("1.8") * fraction)
    if direction is Direction.EXTREME:
        return size * (Decimal(700) + Decimal(600) * fraction)
    if bound is None:
        return size * (Decimal("1.2") + Decimal("0.4") * fraction)
    return size + (bound - size) * (Decimal("0.25") + Decimal("0.6") * fraction)


def written_like(text: str, value: Decimal, *, same_width: bool = False) -> str | None:
    """Write a number in the form of another one.

    Args:
        text: The number as it stands: ``-0.90``, ``.5``, ``1_000``, ``9.8e-3``, ``98,9``.
        value: The number to write; its sign is that of the text.
        same_width: Insist on as many characters, for places of fixed width.

    Returns:
        The text, or None when the form cannot hold the number.
    """
    form = _WRITTEN.fullmatch(text)
    if form is None:
        return None
    exponent = int(form["exponent"][1:] or 0) if form["exponent"] else 0
    decimals = len(form["part"])
    mantissa = CONTEXT.scaleb(abs(value), -exponent)
    rounded = mantissa.quantize(
        Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN, context=CONTEXT
    )
    whole, _, part = f"{rounded:f}".partition(".")
    if not form["whole"]:
        if whole != "0":
            return None
        whole = ""
    result = form["sign"] + whole + form["point"] + part + form["exponent"]
    if same_width and len(result) != len(text):
        return None
    return result


def read_back(text: str) -> Decimal:
    """Return the value of a text made by `written_like`."""
    plain = text.replace("_", "").replace(",", ".")
    for minus in "\u2212\u2013\uff0d":
        plain = plain.replace(minus, "-")
    return Decimal(plain)
