"""Numbers as they are written: text, value and decimals kept together, whatever the locale.

A paper reports ``98.90`` and means something else than ``98.9``. Everything here is `Decimal`,
so that nothing is lost between the file, the paper and the comparison. What can be read in two
ways (``1,5``, ``1,234``) is refused with both readings named.

Sizes are bounded (`MAX_DIGITS`, `MAX_EXPONENT`), so that arithmetic in `CONTEXT` is exact for
sums and products and no text can ask for a number of a billion digits.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from decimal import (
    ROUND_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)

from rra.errors import SelectError

MAX_DIGITS = 400
"""Longest digit string that is read as one number."""

MAX_EXPONENT = 400
"""Largest absolute exponent; IEEE doubles end at 308."""

CONTEXT = Context(prec=3000, traps=[InvalidOperation, DivisionByZero, Overflow])
"""Arithmetic wide enough that products of two numbers of allowed size are exact."""

SCALES: tuple[Decimal, ...] = tuple(Decimal(s) for s in ("1", "100", "0.01", "1000", "0.001"))
"""Factors under which a value is looked for: as written, percent, per mille and their inverses."""

_SIGNS = str.maketrans({"\u2212": "-", "\u2013": "-", "\ufe63": "-", "\uff0d": "-", "\ufe62": "+"})
_GROUP_SPACES = "\u00a0\u2007\u2009\u202f"  # no-break, figure, thin and narrow no-break space
_PLAIN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_UNDERSCORED = re.compile(r"[+-]?[0-9]+(?:_[0-9]+)+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")
_SPACED = re.compile(rf"[+-]?[0-9]{{1,3}}(?:[{_GROUP_SPACES}'\u2019][0-9]{{3}})+(?:\.[0-9]+)?")
_COMMA_GROUPS = re.compile(
    r"[+-]?[1-9][0-9]{0,2}(?:(?:,[0-9]{3}){2,}(?:\.[0-9]+)?|,[0-9]{3}\.[0-9]+)"
)
_COMMA = re.compile(r"(?P<head>[+-]?[0-9]*),(?P<tail>[0-9]+)")
_DOT_GROUPS = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+")
_NONFINITE = re.compile(r"(?P<sign>[+-]?)(?:(?P<nan>nan)|inf(?:inity)?)", re.IGNORECASE)
_HINT = "write it with a point for decimals and nothing between thousands, for example 1234.5"


@dataclasses.dataclass(frozen=True, slots=True)
class ReportedNumber:
    """A number with the precision that its text claims.

    Attributes:
        text: The number as it stood, without surrounding space.
        value: Its exact value.
        decimals: Digits after the decimal point that the text states; negative when an exponent
            leaves even units open (``1.2e3`` states hundreds, so -2).
    """

    text: str
    value: Decimal
    decimals: int

    @classmethod
    def parse(cls, text: str) -> ReportedNumber:
        """Read one finite number that fills the whole text.

        Accepts a Unicode minus, a leading ``+``, ``.5``, an exponent, ``1_000``, and thousands
        groups where only one reading exists (``1,234,567``, ``1,234.5``, ``1'234``, thin spaces).

        Args:
            text: The number, surrounding white space allowed.

        Raises:
            SelectError: It is no number, is NaN or infinite, or can be read in two ways.
        """
        value = parse_value(text)
        if not value.is_finite():
            raise SelectError(
                f"{text.strip()!r} is {describe_nonfinite(value)}, not a finite number",
                hint="look in the run's log for a division by zero or a diverged training",
            )
        return cls(text.strip(), value, decimals_of(value))

    @classmethod
    def of(cls, number: str | ReportedNumber) -> ReportedNumber:
        """Return the number itself, or read it from text.

        Raises:
            SelectError: As `parse`.
        """
        return number if isinstance(number, ReportedNumber) else cls.parse(number)

    @property
    def quantum(self) -> Decimal:
        """One unit in the last place that is stated: 0.1 for ``98.9``."""
        return Decimal(1).scaleb(-self.decimals, CONTEXT)

    def __str__(self) -> str:
        """The text as it stood."""
        return self.text


def decimals_of(value: Decimal) -> int:
    """Return how many decimals a finite number states: 2 for ``98.90``, -2 for ``1.2e3``."""
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def describe_nonfinite(value: Decimal) -> str:
    """Say in words what a number is that is not finite."""
    if value.is_nan():
        return "NaN"
    return "minus infinity" if value.is_signed() else "infinity"


def parse_value(text: str) -> Decimal:
    """Read a number that fills the whole text; NaN and infinities come back as such.

    Raises:
        SelectError: It is no number, is too long, or can be read in two ways.
    """
    stripped = text.strip()
    plain = stripped.translate(_SIGNS)
    special = _NONFINITE.fullmatch(plain)
    if special is not None:
        name = "NaN" if special["nan"] else special["sign"] + "Infinity"
        return Decimal(name)
    digits = _ungrouped(plain)
    if digits is None:
        message, hint = _refusal(stripped, plain)
        raise SelectError(message, hint=hint)
    return _decimal(digits, stripped)


def _ungrouped(plain: str) -> str | None:
    """Remove separators that allow one reading only; None when the text is no number."""
    if _PLAIN.fullmatch(plain):
        return plain
    if _UNDERSCORED.fullmatch(plain):
        return plain.replace("_", "")
    if _COMMA_GROUPS.fullmatch(plain):
        return plain.replace(",", "")
    if _SPACED.fullmatch(plain):
        return re.sub(rf"[{_GROUP_SPACES}'\u2019]", "", plain)
    return None


def _refusal(stripped: str, plain: str) -> tuple[str, str]:
    """Say why a text is not taken as a number, and what to write instead."""
    shown = repr(stripped if len(stripped) <= 60 else stripped[:57] + "...")
    comma = _COMMA.fullmatch(plain)
    if comma is not None:
        head, tail = comma["head"], comma["tail"]
        readings = f"{head or '0'}.{tail}"
        if len(tail) == 3 and head.lstrip("+-0"):
            readings = f"{readings} (decimal comma) or {head}{tail} (thousands)"
        else:
            readings = f"{readings} (decimal comma) or two numbers"
        return f"{shown} is ambiguous: it can mean {readings}", _HINT
    if _DOT_GROUPS.fullmatch(plain):
        return f"{shown} is written with a decimal comma", _HINT
    if not stripped:
        return "an empty text is not a number", "check that the run writes the value"
    return f"{shown} is not a number", _HINT


def _decimal(digits: str, shown: str) -> Decimal:
    mantissa, _, exponent = digits.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or abs(int(exponent or 0)) > MAX_EXPONENT:
        raise SelectError(
            f"{shown[:40]!r}… has more than {MAX_DIGITS} digits or an exponent beyond "
            f"{MAX_EXPONENT}",
            hint="no measurement has such a number; check what the run wrote there",
        )
    return Decimal(digits)


def rounds_to(value: Decimal, reported: ReportedNumber) -> bool:
    """Tell whether a value, rounded as papers round, gives the reported digits.

    Half-up (away from zero) and half-to-even both count, because papers use either.

    Args:
        value: Candidate at full precision.
        reported: What was reported; its decimals decide where to round.
    """
    return value.is_finite() and any(
        _quantize(value, reported.quantum, rounding) == reported.value
        for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN)
    )


def truncates_to(value: Decimal, reported: ReportedNumber) -> bool:
    """Tell whether only cutting digits off, not rounding, gives the reported value.

    A match of this kind is told apart because it is a habit of formatting code at best, and at
    worst a different number.
    """
    if not value.is_finite() or rounds_to(value, reported):
        return False
    return _quantize(value, reported.quantum, ROUND_DOWN) == reported.value


def _quantize(value: Decimal, quantum: Decimal, rounding: str) -> Decimal:
    return value.quantize(quantum, rounding=rounding, context=CONTEXT)


def matches(
    candidate: Decimal, reported: ReportedNumber, scales: Sequence[Decimal] = SCALES
) -> Decimal | None:
    """Find the scale under which a candidate rounds to the reported number.

    Args:
        candidate: A number found somewhere.
        reported: The number looked for.
        scales: Factors applied to the candidate, tried in order.

    Returns:
        The first factor that fits, or None.
    """
    if not candidate.is_finite():
        return None
    for scale in scales:
        if rounds_to(CONTEXT.multiply(candidate, scale), reported):
            return scale
    return None
