"""Refusing a document at one place, with the clause that it breaks."""

from __future__ import annotations

from rra.errors import FormatError, Problem

_HINT = "correct the file there and run again"


def refusal(
    source: str, message: str, line: int, column: int, *, clause: str, hint: str = ""
) -> FormatError:
    """Return the error for one fault of the text.

    Args:
        source: Name of the file for messages.
        message: What is wrong, with the value.
        line: 1-based.
        column: 1-based.
        clause: Slug of the clause on the page *documents*.
        hint: What to do.
    """
    problem = Problem(message, source, line, column, clause=f"documents/{clause}", hint=hint)
    return FormatError(str(problem), problems=(problem,), hint=hint or _HINT)


def place_of(text: str, offset: int) -> tuple[int, int]:
    """Return line and column, both 1-based, of a character.

    Lines end at a line feed, a carriage return, or both; a byte order mark has no column.
    """
    before = text[:offset]
    line = before.count("\n") + before.count("\r") - before.count("\r\n")
    if before.endswith("\r") and text[offset : offset + 1] == "\n":
        line -= 1
    start = max(before.rfind("\n"), before.rfind("\r")) + 1
    return line + 1, len(before[start:].replace("\ufeff", "")) + 1
