"""Patches as HTML: escaped, each line marked by what it does."""

from __future__ import annotations

from rra.report.markup import Markup, join, tag

MAX_LINES = 400
"""Lines of one patch that are shown; the rest is in the file that the report names."""

_KINDS = (
    ("diff ", "meta"),
    ("index ", "meta"),
    ("--- ", "meta"),
    ("+++ ", "meta"),
    ("new file", "meta"),
    ("deleted file", "meta"),
    ("old mode", "meta"),
    ("new mode", "meta"),
    ("rename ", "meta"),
    ("similarity ", "meta"),
    ("GIT binary", "meta"),
    ("@@", "hunk"),
    ("+", "added"),
    ("-", "removed"),
)


def render_diff(patch: str, source: str) -> Markup:
    """Return a patch as a preformatted block with one element per line.

    Args:
        patch: Text in unified form.
        source: File that holds the whole patch.
    """
    shown = patch.rstrip("\n").split("\n")
    rest = len(shown) - MAX_LINES
    body = [_line(text) for text in shown[:MAX_LINES]]
    note = tag("p", f"{rest} more lines in {source}", class_="quiet") if rest > 0 else None
    block = tag("pre", tag("code", *body), class_="diff", tabindex="0", aria_label=source)
    return join([block, note])


def count_changes(patch: str) -> tuple[int, int]:
    """Return how many lines a patch adds and removes."""
    kinds = [_kind(line) for line in patch.split("\n")]
    return kinds.count("added"), kinds.count("removed")


def _kind(text: str) -> str:
    return next((kind for start, kind in _KINDS if text.startswith(start)), "same")


def _line(text: str) -> Markup:
    return tag("span", text.rstrip("\r") + "\n", class_=_kind(text))
