"""Ids from titles, labels and file names."""

from __future__ import annotations

from collections.abc import Collection

from rra._base.slugs import slug_of
from rra.artifact.layout import BLANK_MARK

MAX_ID = 48
"""Longest id that a draft gives; the format allows 63 characters."""


def slug(text: str, *, otherwise: str = "item") -> str:
    """Return an id made of a text: lower-case letters, digits and single hyphens.

    Args:
        text: Any text.
        otherwise: Id of a text that holds no letter or digit.
    """
    return slug_of(text)[:MAX_ID].strip("-") or otherwise


def unique(wanted: str, taken: Collection[str]) -> str:
    """Return an id, numbered when it is taken (``lda``, ``lda-2``)."""
    if wanted not in taken:
        return wanted
    number = 2
    while f"{wanted}-{number}" in taken:
        number += 1
    return f"{wanted}-{number}"


def blank(what: str) -> str:
    """Return a marked blank that says what is needed."""
    return f"{BLANK_MARK}: {' '.join(what.split()).replace('⟧', ')')}⟧"
