"""In which units a number of a file can be read when a reported one is looked for.

Scales are never tried blindly: a factor of 100 needs a proportion, one of 1000 a unit that the
keys name. So ``0.989`` is 98.9 %, and 1234 ms is 1.234 s, but 98.9 is not 9890.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from decimal import Decimal

from rra.values.leaves import Leaf
from rra.values.units import convert, known_unit, same_unit, unit_kind

_WORDS = re.compile(r"[^\W\d_]+")
_WHOLE = Decimal(1)


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """A number of a file, read in a unit.

    Attributes:
        value: The number in the unit of the reported one.
        unit: Unit of the file; None where nothing says it.
        reported_unit: Unit that the reported number must have for this reading.
    """

    value: Decimal
    unit: str | None
    reported_unit: str | None


def readings(leaf: Leaf, unit: str | None) -> list[Reading]:
    """Return the ways to read a number beside a reported one, the plainest first.

    Args:
        leaf: The number.
        unit: Unit of the reported number, where one is known.
    """
    return list(_readings(leaf, unit))


def _readings(leaf: Leaf, unit: str | None) -> Iterator[Reading]:
    if unit is None:
        yield Reading(leaf.value, None, None)
        if same_unit(leaf.unit, "percent"):
            yield Reading(convert(leaf.value, "percent", "fraction"), "percent", "fraction")
        return
    kind = unit_kind(unit)
    if kind == "proportion":
        yield from _proportions(leaf, unit)
        return
    if leaf.unit is not None and kind is not None and unit_kind(leaf.unit) != kind:
        return
    named = (leaf.unit or _named_unit(leaf, kind)) if kind is not None else None
    yield Reading(convert(leaf.value, named, unit), named, unit)


def _proportions(leaf: Leaf, unit: str) -> Iterator[Reading]:
    if leaf.unit is not None:
        if unit_kind(leaf.unit) == "proportion":
            yield Reading(convert(leaf.value, leaf.unit, unit), leaf.unit, unit)
        return
    yield Reading(leaf.value, unit, unit)
    for other in ("fraction", "percent"):
        possible = abs(leaf.value) <= _WHOLE or other != "fraction"
        if possible and not same_unit(other, unit):
            yield Reading(convert(leaf.value, other, unit), other, unit)


def _named_unit(leaf: Leaf, kind: str) -> str | None:
    """Return the unit that the name of a number ends with: ``time_ms``, ``size (MB)``."""
    found: list[str] = _WORDS.findall(leaf.field)
    for position, word in enumerate(reversed(found)):
        short = len(word) <= 2 and position > 0
        if known_unit(word) and unit_kind(word) == kind and not short:
            return word
    return None
