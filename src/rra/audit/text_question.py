"""Outcomes that are lists or categories, as the probe for copies sees them."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Sequence

Items = tuple[str, ...]
"""The items of a list; a category is one item."""

SURE = 4
"""Items of an ordered list from which on an order does not come out by chance."""


@dataclasses.dataclass(frozen=True)
class TextQuestion:
    """A list or category that is asked whether it is copied.

    Attributes:
        outcome: Id of the outcome.
        reported: What the paper has.
        obtained: What equal runs gave.
        unordered: The order of the items does not count.
        excluded: Paths (files or folders) that legitimately hold it.
        others: Other categories that this artifact reports.
    """

    outcome: str
    reported: Items
    obtained: tuple[Items, ...]
    unordered: bool = False
    excluded: Items = ()
    others: Items = ()

    def key(self, items: Sequence[str]) -> Items:
        """Return what two equal values have in common (as the success rule compares them)."""
        folded = [fold(item) for item in items]
        return tuple(sorted(set(folded))) if self.unordered else tuple(folded)

    @property
    def wanted(self) -> list[Items]:
        """The values that are looked for, each once."""
        found = {self.key(items): items for items in (self.reported, self.obtained[0])}
        return [items for items in found.values() if items and all(fold(i) for i in items)]

    @property
    def keys(self) -> frozenset[Items]:
        """What counts as unchanged."""
        return frozenset(map(self.key, self.obtained))

    @property
    def is_telling(self) -> bool:
        """Whether no honest program has these items in this order without computing it.

        A category, a set or a short list can be the very names that a program chooses from.
        """
        return not self.unordered and len(set(map(fold, self.obtained[0]))) >= SURE


def fold(text: str) -> str:
    """Return a text as comparisons see it."""
    return unicodedata.normalize("NFC", text).strip().casefold()
