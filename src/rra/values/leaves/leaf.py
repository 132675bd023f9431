"""What every kind of file gives: its numbers, and a locator for each of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from decimal import Decimal
from typing import Literal

from rra.errors import SelectError
from rra.values.numbers import parse_value

MAX_LEAVES = 100_000
"""Most numbers of one file that are indexed."""

MAX_BYTES = 32 * 1024 * 1024
"""Largest file that is indexed."""

MAX_KEY = 120
"""Longest text that is taken as a label."""

LocatorKind = Literal["json", "csv", "regex", "npz"]


@dataclasses.dataclass(frozen=True, slots=True)
class Locator:
    """The part of a selector that names a place in a file.

    Attributes:
        kind: Key of the selector.
        content: Its value: a JSON pointer, a pattern, or a mapping.
        pick: Which of several matches, where there are several.
    """

    kind: LocatorKind
    content: str | dict[str, object]
    pick: str | dict[str, object] | None = None

    def to_json(self) -> dict[str, object]:
        """Return the keys that it adds to a selector."""
        picked = {"pick": self.pick} if self.pick is not None else {}
        return {self.kind: self.content, **picked}


@dataclasses.dataclass(frozen=True, slots=True)
class Leaf:
    """One number of one file.

    Attributes:
        value: Its exact value.
        text: The number as it stands in the file, without its unit.
        unit: Unit that is written behind it, ``percent`` for a sign of percent.
        line: 1-based line, for files that have lines.
        keys: Texts that name it: keys on the way to it, cells of its row, words of its line.
        group: What it shares with the other numbers of its row or object.
        field: What it shares with the same quantity of other rows or objects.
        at: Its position in the file's own terms; only `FileLeaves.locate` reads it.
    """

    value: Decimal
    text: str
    unit: str | None
    line: int | None
    keys: tuple[str, ...]
    group: str
    field: str
    at: tuple[int | str, ...]


@dataclasses.dataclass(frozen=True)
class FileLeaves:
    """The numbers of one file.

    Attributes:
        file: Path inside the output directory.
        kind: Kind of the locators that it gives.
        leaves: The numbers in the order of the file.
        complete: Whether these are all, or `MAX_LEAVES` was reached.
        locate: Makes the locator that selects one of the leaves and nothing else; None when no
            locator can.
    """

    file: str
    kind: LocatorKind
    leaves: tuple[Leaf, ...]
    complete: bool
    locate: Callable[[Leaf], Locator | None]


def number_of(text: str) -> tuple[str, Decimal, str | None] | None:
    """Read a text that is a finite number, with or without a sign of percent, as selectors do.

    Returns:
        The number's text, its value, and ``percent`` if that sign followed; None for any other
        text.
    """
    stripped = text.strip()
    digits = stripped.removesuffix("%").rstrip()
    if not digits or not any(character in "0123456789" for character in digits):
        return None
    try:
        value = parse_value(digits)
    except SelectError:
        return None
    unit = "percent" if digits != stripped else None
    return (digits, value, unit) if value.is_finite() else None
