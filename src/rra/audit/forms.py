"""How a number stands in bytes: as text in some encoding, or as a machine number."""

from __future__ import annotations

import dataclasses
import math
import struct
from decimal import Decimal

from rra.audit.decoys import read_back, written_like

TEXT_ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "latin-1")
FIXED_TEXT = "ascii"
"""Form of a text inside a binary file, where the number of characters must stay."""

_PRECISION = {"f2": Decimal("1e-3"), "f4": Decimal("1e-6")}


@dataclasses.dataclass(frozen=True, slots=True)
class Spot:
    """A number in a piece of data.

    Attributes:
        start: Offset of the first byte.
        end: Offset behind the last byte.
        form: An encoding for text, `FIXED_TEXT`, or a machine type such as ``<f8`` or ``>i4``.
        text: The number as text.
        value: Its value.
        line: 1-based line, where there are lines.
        divisor: Number beside it that it is divided by, for a share written as two counts.
    """

    start: int
    end: int
    form: str
    text: str
    value: Decimal
    line: int | None = None
    divisor: Decimal = Decimal(1)

    @property
    def precision(self) -> Decimal:
        """Relative precision of the form."""
        return _PRECISION.get(self.form[1:], Decimal("1e-9"))

    def encode(self, value: Decimal) -> tuple[bytes, Decimal] | None:
        """Write another number in the form of this one.

        Returns:
            The bytes and the value that they stand for, or None when the form cannot hold it.
        """
        if self.form in TEXT_ENCODINGS or self.form == FIXED_TEXT:
            text = written_like(self.text, value, same_width=self.form == FIXED_TEXT)
            return (text.encode(self.form), read_back(text)) if text is not None else None
        return pack(self.form, value)


def pack(form: str, value: Decimal) -> tuple[bytes, Decimal] | None:
    """Write a number as a machine number; None when it does not fit."""
    layout = form[0] + _LETTERS[form[1:]]
    try:
        content = struct.pack(layout, float(value) if form[1] == "f" else round(value))
    except (struct.error, OverflowError):
        return None
    return content, unpack(form, content)


def unpack(form: str, content: bytes) -> Decimal:
    """Read a machine number; NaN and infinities come back as such."""
    number = struct.unpack(form[0] + _LETTERS[form[1:]], content)[0]
    if isinstance(number, float):
        return Decimal(repr(number)) if math.isfinite(number) else Decimal("NaN")
    return Decimal(number)


_LETTERS = {
    "f2": "e",
    "f4": "f",
    "f8": "d",
    "i1": "b",
    "i2": "h",
    "i4": "i",
    "i8": "q",
    "u1": "B",
    "u2": "H",
    "u4": "I",
    "u8": "Q",
}

MACHINE_FORMS = frozenset(end + name for end in "<>" for name in _LETTERS)
"""Machine types that can be read and written."""
