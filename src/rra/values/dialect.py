r"""The dialect of regular expressions that selectors use (spec: selector).

It is what Python, PCRE2 and ECMAScript understand alike, so that a pattern means the same to every
reader of an artifact. Left out are back-references, possessive and atomic groups, conditions,
comments, Unicode properties, flags anywhere but at the start, and everything whose meaning hangs
on the engine, such as an unescaped ``{`` that starts no quantifier.
"""

from __future__ import annotations

import re
import string

from rra.errors import SelectError

MAX_PATTERN = 4096
"""Longest pattern in characters."""

MAX_GROUPS = 64
"""How deep groups may be nested."""

MAX_REPEAT = 1000
"""Largest number in a quantifier."""

GROUP = "value"
"""Name of the group that holds the value."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FLAGS = re.compile(r"\(\?[ims]+\)")
_COUNTS = re.compile(r"\{(?P<least>[0-9]{1,4})(?P<open>,(?P<most>[0-9]{1,4})?)?\}")
_HEX = re.compile(r"[0-9A-Fa-f]{2}")
_SETS = frozenset("dDwWsS")
_CONTROLS = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11}
_ESCAPABLE = frozenset(string.punctuation) | {" "}
_DOUBLED = ("--", "&&", "~~", "||")
_HINT = "the specification lists what a pattern may be made of (page selector)"


class _NotPortableError(Exception):
    """Something that the dialect does not have."""


def pattern_groups(pattern: str) -> tuple[str, ...]:
    """Return the names of a pattern's groups, in order.

    Args:
        pattern: A regular expression.

    Raises:
        SelectError: It is not one of the dialect; says where.
    """
    if len(pattern) > MAX_PATTERN:
        raise SelectError(f"the pattern is longer than {MAX_PATTERN} characters", hint=_HINT)
    parser = _Parser(pattern)
    try:
        parser.whole()
    except _NotPortableError as refused:
        message = f"{pattern!r} is not a portable regular expression: {refused}"
        raise SelectError(f"{message}, at position {parser.at + 1}", hint=_HINT) from refused
    return tuple(parser.names)


def value_groups(pattern: str) -> int:
    """Return how many groups of a pattern are named ``value``; it has to be one.

    Raises:
        SelectError: As `pattern_groups`.
    """
    return pattern_groups(pattern).count(GROUP)


class _Parser:
    """Reads a pattern from left to right; widths are None where they are not fixed."""

    def __init__(self, pattern: str) -> None:
        self.at = 0
        self.names: list[str] = []
        self._pattern = pattern
        self._depth = 0

    def whole(self) -> None:
        flags = _FLAGS.match(self._pattern)
        self.at = flags.end() if flags is not None else 0
        self._alternatives()
        if self.at < len(self._pattern):
            raise _NotPortableError("a closing bracket without an opening one")

    def _next(self) -> str:
        return self._pattern[self.at : self.at + 1]

    def _take(self, text: str) -> bool:
        if self._pattern.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def _alternatives(self) -> int | None:
        """Read branches up to a closing bracket or the end; return their common width."""
        widths = {self._branch()}
        while self._take("|"):
            widths.add(self._branch())
        return widths.pop() if len(widths) == 1 else None

    def _branch(self) -> int | None:
        total: int | None = 0
        while self._next() not in {"", "|", ")"}:
            width, repeats = self._atom()
            if repeats:
                width = self._quantified(width)
            total = None if total is None or width is None else total + width
        return total

    def _atom(self) -> tuple[int | None, bool]:
        """Read one atom; return its width, and whether it may be repeated."""
        character = self._next()
        if character == "(":
            return self._group()
        if character == "[":
            self._class()
            return 1, True
        if character == "\\":
            return self._escape()
        if character in "*+?":
            raise _NotPortableError(f"{character} has nothing to repeat")
        if character in "{}]":
            raise _NotPortableError(f"write \\{character} for the character {character}")
        self.at += 1
        return (0, False) if character in "^$" else (1, True)

    def _quantified(self, width: int | None) -> int | None:
        counts = _COUNTS.match(self._pattern, self.at)
        if counts is not None:
            least = int(counts["least"])
            most = int(counts["most"]) if counts["most"] else least
            if least > most or most > MAX_REPEAT:
                raise _NotPortableError(
                    f"{counts[0]} counts from a larger to a smaller number, or beyond {MAX_REPEAT}"
                )
            self.at = counts.end()
            fixed = least == most and counts["open"] is None
            width = width * least if fixed and width is not None else None
        elif self._next() in {"*", "+", "?"}:
            self.at += 1
            width = None
        else:
            return width
        self._take("?")
        if self._next() and self._next() in "*+?":
            raise _NotPortableError("a quantifier cannot be repeated")
        return width

    # --------------------------------------------------------------------------- groups

    def _group(self) -> tuple[int | None, bool]:
        self._depth += 1
        if self._depth > MAX_GROUPS:
            raise _NotPortableError(f"groups are nested deeper than {MAX_GROUPS}")
        kind = next((k for k in ("(?:", "(?=", "(?!", "(?<=", "(?<!") if self._take(k)), "")
        if not kind and self._take("(?P<"):
            self._name()
        elif not kind:
            self._take("(")
            if self._next() == "?":
                raise _NotPortableError("a kind of group that engines do not have in common")
        width = self._alternatives()
        if not self._take(")"):
            raise _NotPortableError("a group is not closed")
        self._depth -= 1
        if kind.startswith("(?<") and width is None:
            self.at -= 1
            raise _NotPortableError("what is looked for behind has no fixed length")
        return (0, False) if kind not in {"", "(?:"} else (width, True)

    def _name(self) -> None:
        name = _NAME.match(self._pattern, self.at)
        if name is None:
            raise _NotPortableError("a group name is made of letters, digits and _")
        if name[0] in self.names:
            raise _NotPortableError(f"two groups are named {name[0]}")
        self.names.append(name[0])
        self.at = name.end()
        if not self._take(">"):
            raise _NotPortableError("a group name ends with >")

    # -------------------------------------------------------------- classes and escapes

    def _class(self) -> None:
        start = self.at
        self.at += 1
        self._take("^")
        empty = True
        while not self._take("]"):
            if self.at >= len(self._pattern):
                self.at = start
                raise _NotPortableError("a class is not closed")
            low = self._member()
            empty = False
            if self._next() == "-" and self._pattern[self.at + 1 : self.at + 2] not in {"]", ""}:
                self.at += 1
                high = self._member()
                if low is None or high is None or low > high:
                    raise _NotPortableError("a range runs from a character to a later one")
        if empty:
            self.at = start
            raise _NotPortableError("a class has no character")

    def _member(self) -> int | None:
        r"""Read a character of a class; None for a set such as ``\d``."""
        if any(self._pattern.startswith(pair, self.at) for pair in _DOUBLED):
            raise _NotPortableError("a class has one of -- && ~~ ||")
        character = self._next()
        if character == "[":
            raise _NotPortableError("write \\[ for the character [ in a class")
        if character != "\\":
            self.at += 1
            return ord(character)
        return self._escaped()

    def _escape(self) -> tuple[int | None, bool]:
        if self._pattern[self.at + 1 : self.at + 2] in {"b", "B"}:
            self.at += 2
            return 0, False
        self._escaped()
        return 1, True

    def _escaped(self) -> int | None:
        """Read an escape that stands for a character, or for a set of them (None)."""
        character = self._pattern[self.at + 1 : self.at + 2]
        code = _CONTROLS.get(character, ord(character) if character in _ESCAPABLE else None)
        if character == "x":
            digits = _HEX.match(self._pattern, self.at + 2)
            if digits is None:
                raise _NotPortableError("\\x needs two hexadecimal digits")
            self.at += 4
            return int(digits[0], 16)
        if code is None and character not in _SETS:
            raise _NotPortableError(f"\\{character} is not the same in all engines")
        self.at += 2
        return code
