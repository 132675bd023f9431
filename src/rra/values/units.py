"""Units that results are reported in, and exact conversion between them.

A unit that is not in the table is a name and converts only to itself. A value whose unit nobody
declared (None) is taken to be in the unit it is compared in. Factors are exact rationals, so a
conversion is exact whenever its result can be written in decimals; a result that cannot (one
second in minutes) has 50 significant digits.
"""

from __future__ import annotations

import dataclasses
import difflib
import unicodedata
from decimal import Context, Decimal
from fractions import Fraction

from rra.errors import SelectError
from rra.values.numbers import CONTEXT

WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""The characters that Unicode gives the property White_Space; `str.strip` takes four others."""

_DIGITS = Context(prec=50)


@dataclasses.dataclass(frozen=True, slots=True)
class _Unit:
    kind: str
    factor: Fraction


_KIB = 1024
_TABLE: dict[str, dict[str, Fraction]] = {
    "proportion": {
        "fraction proportion ratio 1": Fraction(1),
        "percent % pct percentage percentage-points pp": Fraction(1, 100),
        "permille ‰ per-mille": Fraction(1, 1000),
        "basis-points bp bps": Fraction(1, 10_000),
        "ppm": Fraction(1, 1_000_000),
    },
    "time": {
        "ns nanosecond nanoseconds": Fraction(1, 10**9),
        "us µs μs microsecond microseconds": Fraction(1, 10**6),
        "ms msec millisecond milliseconds": Fraction(1, 1000),
        "s sec second seconds": Fraction(1),
        "min minute minutes": Fraction(60),
        "h hr hour hours": Fraction(3600),
        "d day days": Fraction(86_400),
    },
    "information": {
        "bit bits": Fraction(1, 8),
        "B byte bytes": Fraction(1),
        "kB KB kilobyte kilobytes": Fraction(10**3),
        "MB megabyte megabytes": Fraction(10**6),
        "GB gigabyte gigabytes": Fraction(10**9),
        "TB terabyte terabytes": Fraction(10**12),
        "KiB": Fraction(_KIB),
        "MiB": Fraction(_KIB**2),
        "GiB": Fraction(_KIB**3),
        "TiB": Fraction(_KIB**4),
    },
    "length": {
        "nm": Fraction(1, 10**9),
        "um µm μm": Fraction(1, 10**6),
        "mm": Fraction(1, 1000),
        "cm": Fraction(1, 100),
        "m metre metres meter meters": Fraction(1),
        "km": Fraction(1000),
    },
    "mass": {
        "ug µg μg": Fraction(1, 10**6),
        "mg": Fraction(1, 1000),
        "g gram grams": Fraction(1),
        "kg": Fraction(1000),
    },
    "energy": {
        "J joule joules": Fraction(1),
        "kJ": Fraction(1000),
        "MJ": Fraction(10**6),
        "Wh": Fraction(3600),
        "kWh": Fraction(3_600_000),
    },
}
_UNITS = {
    name: _Unit(kind, factor)
    for kind, units in _TABLE.items()
    for names, factor in units.items()
    for name in names.split()
}


def normalized(text: str) -> str:
    """Return a category, or an item of a list, as it is compared with others."""
    return unicodedata.normalize("NFC", text).strip(WHITE_SPACE).casefold()


def _find(unit: str) -> _Unit | None:
    """Look a unit up as written, then without regard to case where that stays unambiguous."""
    name = unit.strip(WHITE_SPACE)
    if name in _UNITS:
        return _UNITS[name]
    lowered = name.lower().replace(" ", "-")
    return _UNITS.get(lowered) if len(lowered) > 2 else None


def known_unit(unit: str) -> bool:
    """Tell whether a unit is in the table and so can be converted."""
    return _find(unit) is not None


def unit_kind(unit: str | None) -> str | None:
    """Return what a unit measures (``proportion``, ``time``, …); None when it is not known."""
    found = _find(unit) if unit is not None else None
    return found.kind if found is not None else None


def same_unit(first: str | None, second: str | None) -> bool:
    """Tell whether two names stand for one unit (``%`` and ``percent``)."""
    if first is None or second is None:
        return first is second
    one, other = _find(first), _find(second)
    if one is None or other is None:
        return first.strip(WHITE_SPACE) == second.strip(WHITE_SPACE)
    return one == other


def convert(value: Decimal, from_unit: str | None, to_unit: str | None) -> Decimal:
    """Convert a value exactly.

    Args:
        value: A number; NaN and infinities stay what they are.
        from_unit: Unit of the value; None means that of the target.
        to_unit: Unit wanted; None means that of the value.

    Raises:
        SelectError: The units measure different things, or one of them is not known.
    """
    if from_unit is None or to_unit is None or same_unit(from_unit, to_unit):
        return value
    source, target = _find(from_unit), _find(to_unit)
    if source is None or target is None:
        unknown = from_unit if source is None else to_unit
        close = difflib.get_close_matches(unknown.lower(), _UNITS, n=1)
        suggestion = f"did you mean {close[0]!r}? Otherwise " if close else ""
        raise SelectError(
            f"cannot convert {from_unit!r} to {to_unit!r}: the unit {unknown!r} is not known",
            hint=f"{suggestion}write the same unit for the file and for the reported value",
        )
    if source.kind != target.kind:
        raise SelectError(
            f"cannot convert {from_unit!r} ({source.kind}) to {to_unit!r} ({target.kind})",
            hint="correct the unit of the selector or of the outcome in rra.yaml",
        )
    if not value.is_finite():
        return value
    return _scaled(value, source.factor / target.factor)


def _scaled(value: Decimal, ratio: Fraction) -> Decimal:
    product = CONTEXT.multiply(value, Decimal(ratio.numerator))
    rest = ratio.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1:
        inverse = CONTEXT.divide(Decimal(1), Decimal(ratio.denominator))
        return CONTEXT.multiply(product, inverse)
    return _DIGITS.divide(product, Decimal(ratio.denominator))


def whole_of(unit: str | None) -> Decimal | None:
    """Return what a proportion of everything is in a unit: 100 for percent, 1 for a fraction.

    A unit that was not declared is taken as a fraction. None for units of other kinds.
    """
    if unit is None:
        return Decimal(1)
    found = _find(unit)
    if found is None or found.kind != "proportion":
        return None
    return Decimal(int(1 / found.factor))
