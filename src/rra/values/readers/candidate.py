"""What every reader returns, and how every reader opens text and fails."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path

from rra.errors import SelectError

MAX_TEXT_BYTES = 256 * 1024 * 1024
"""Largest file that is read whole; regular expressions read line by line and have no limit."""

MAX_CANDIDATES = 100_000
"""Most matches of one selector; beyond it the selector is not one."""


@dataclasses.dataclass(frozen=True, slots=True)
class Candidate:
    """A value that a locator points at, still as text.

    Attributes:
        content: The literal as it stands in the file, or several for a list.
        place: Where it stands, in the file's own terms: a JSON pointer, row and column.
        line: 1-based line in the file, when the file has lines.
        labels: What identifies the match among others, for ``pick: {at: …}``.
        kind: ``number``, ``text`` or ``list``, as the file says.
        inside: The file below the folder that was read; None when a file was.
    """

    content: str | tuple[str, ...]
    place: str
    line: int | None
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    kind: str = "text"
    inside: str | None = None


def read_text(path: Path) -> str:
    """Read a whole UTF-8 file, with or without a byte order mark.

    Raises:
        SelectError: It is too large or is not UTF-8.
    """
    size = path.stat().st_size
    if size > MAX_TEXT_BYTES:
        raise SelectError(
            f"{path.name} has {size} bytes; at most {MAX_TEXT_BYTES} are read as a whole",
            hint="write the result into a small file of its own",
        )
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SelectError(
            f"{path.name} is not UTF-8 text (byte {error.start})",
            hint="write the result as UTF-8, or select from another file",
        ) from error


def nearest(wanted: str, known: Iterable[str], *, limit: int = 8) -> str:
    """Return a sentence naming the known names, nearest first; empty when there are none."""
    names = list(dict.fromkeys(known))
    if not names:
        return ""
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    shown = names if len(names) <= limit else list(dict.fromkeys([*close, *names]))
    more = f" and {len(shown) - limit} more" if len(shown) > limit else ""
    listing = f"it has: {', '.join(shown[:limit])}{more}"
    return f"did you mean {close[0]}? {listing}" if close else listing


def too_many(name: str) -> SelectError:
    """Return the error for a locator that matches without end."""
    return SelectError(
        f"more than {MAX_CANDIDATES} places in {name} match", hint="make the selector narrower"
    )
