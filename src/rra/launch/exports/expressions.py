"""Patterns of outputs as regular expressions of bash (POSIX extended).

Format: launcher, section "Patterns".
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_NEVER = "($^)"
_SPECIAL = re.compile(r"([.^$*+?()\[\]{}|\\])")


def expression(pattern: str) -> str:
    """Return an expression that matches the files a pattern stands for, and no others.

    Args:
        pattern: Pattern over paths inside the output directory.
    """
    parts = list(PurePosixPath(pattern).parts)
    while parts[1:] and parts[-1] == "**":
        parts.pop()
    last = len(parts) - 1
    pieces = []
    for index, part in enumerate(parts):
        if part == "**":
            pieces.append(".+" if index == last else "([^/]+/)*")
        else:
            pieces.append(_part(part) + ("" if index == last else "/"))
    return f"^{''.join(pieces)}(/.*)?$"


def _part(part: str) -> str:
    wild = {"*": "[^/]*", "?": "[^/]"}
    pieces = re.split(r"(\*|\?|\[!?[^\]]+\])", part)
    return "".join(
        (wild.get(piece) or _set(piece)) if index % 2 else _SPECIAL.sub(r"\\\1", piece)
        for index, piece in enumerate(pieces)
    )


def _set(piece: str) -> str:
    """Return a set of characters as a bracket expression, whose only escape is the order in it."""
    negated = piece.startswith("[!") and len(piece) > len("[!]")
    rest = piece[2:-1] if negated else piece[1:-1]
    singles: set[str] = set()
    ranges = ""
    while rest:
        first, last = rest[0], rest[2:3]
        if rest[1:2] == "-" and last:
            # The end goes first once more: a range that begins with ^ would turn the set round.
            ranges += f"{last}{first}-{last}" if first <= last else ""
            rest = rest[3:]
        else:
            singles.add(first)
            rest = rest[1:]
    if negated:
        return f"[^/{_ordered(singles, ranges)}]"
    if singles == {"^"} and not ranges:
        return r"\^"
    inner = _ordered(singles - {"/"}, ranges)
    return f"[{inner}]" if inner else _NEVER


def _ordered(singles: set[str], ranges: str) -> str:
    """Put what has a meaning in a bracket expression where it has none."""
    plain = "".join(sorted(singles - set("^[-")))
    tail = "".join(one for one in "^[-" if one in singles)
    return plain + ranges + tail
