r"""Numbers of logs and other text, each with a pattern that finds it again.

A pattern is as short as it can be and still match nowhere else: the words right in front of the
number first, then the whole line up to it with other numbers left open, then the same with whole
numbers kept (``epoch 10``). Digits that a new run may change, times above all, are never part of
a pattern unless nothing else tells the lines apart.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

from rra.values.leaves.leaf import MAX_KEY, MAX_LEAVES, FileLeaves, Leaf, Locator
from rra.values.readers.regex_worker import stretches
from rra.values.tokens import NumberToken, number_tokens
from rra.values.units import known_unit

MAX_LINE = 4000
"""Longest line that is looked at; longer ones are data, not reports."""

_NUMBER = r"\d+(?:\.\d+)?"
_EXPONENT = r"(?:[eE][-+]?\d+)?"
_OPEN = r"[-+\d.eE]+"
_OPEN_TIME = r"[-+\d.:/_eE]+"
_READABLE = re.compile(rf"[-+]?(?:{_NUMBER}|\.\d+){_EXPONENT}")
_TIME = re.compile(r"(?<![\d:.])\d{1,3}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?![\d:])")
_PIECES = re.compile(
    r"(?P<space>\s+)|(?P<digits>(?<![^\W_])[-+]?(?:\d[\d.:/_-]*|\.\d+)(?:[eE][-+]?\d+)?(?![^\W_]))"
)
_SPECIAL = re.compile(r"[.^$*+?{}\[\]\\|()]")
_LETTERS = re.compile(r"[^\W\d_]+")
_UNIT = re.compile(r"\s?(%|‰|[A-Za-zµμ]{1,12})(?!\w)")
_GAP = re.compile(r"\s{2,}|\t|\s*\|\s*")
_LOOK_BACK = 60


@dataclasses.dataclass(frozen=True, slots=True)
class _Line:
    """One piece of text that a pattern is matched against, with its numbers."""

    number: int
    text: str
    tokens: tuple[NumberToken, ...]


def text_leaves(path: Path, file: str) -> FileLeaves:
    """Return the numbers of a text file.

    Args:
        path: The file; bytes that are not UTF-8 are replaced.
        file: Its name in the output directory.
    """
    lines: list[_Line] = []
    leaves: list[Leaf] = []
    complete = True
    for number, text in stretches(path, whole=False):
        short = len(text) <= MAX_LINE
        tokens = _tokens(text) if short else ()
        lines.append(_Line(number, text, tokens))
        header = _header_above(lines) if len(tokens) > 1 else ()
        here = len(lines) - 1
        leaves.extend(_leaf(lines[here], here, index, header) for index in range(len(tokens)))
        complete = complete and short
        if len(leaves) > MAX_LEAVES:
            break
    complete = complete and len(leaves) <= MAX_LEAVES
    text_file = _TextFile(path, lines)
    return FileLeaves(file, "regex", tuple(leaves[:MAX_LEAVES]), complete, text_file.locate)


def _tokens(text: str) -> tuple[NumberToken, ...]:
    """Return the numbers of a line; times (``12:00:01``) and names (``1nn``) are none."""
    times = [found.span() for found in _TIME.finditer(text)]
    return tuple(
        token
        for token in number_tokens(text)
        if not any(start <= token.start < end for start, end in times)
        and not _is_name(text, token.end)
    )


def _is_name(text: str, end: int) -> bool:
    """Tell whether letters that are no unit follow a number at once."""
    found = _LETTERS.match(text, end)
    return found is not None and len(found[0]) > 1 and not known_unit(found[0])


def _leaf(line: _Line, position: int, index: int, header: tuple[str, ...]) -> Leaf:
    token = line.tokens[index]
    own = line.text[line.tokens[index - 1].end if index else 0 : token.start]
    behind = line.text[token.end :]
    unit = _unit(behind)
    column = header[index - len(line.tokens)] if header else ""
    name = " ".join(own.split()) or column
    keys = tuple(key for key in dict.fromkeys(_keys(line, index, own, behind, column)) if key)
    at = (position, index)
    field = f"{index} {name}"
    return Leaf(token.value, token.text, unit, line.number, keys, f"line {position}", field, at)


def _keys(line: _Line, index: int, own: str, behind: str, column: str) -> Iterator[str]:
    """Yield what names a number: the start of its line, whole numbers with names, its own words."""
    if index:
        head = line.text[: line.tokens[0].start].split()
        if head and _has_letter(own) and head[-1].endswith((":", "=")):
            head = head[:-1]  # the last word names the first number, not the row
        yield " ".join(head)[:MAX_KEY]
        before = 0
        for other in line.tokens[:index]:
            if other.decimals == 0:
                yield line.text[before : other.end].strip()[-MAX_KEY:]
            before = other.end
    yield own.strip()[-MAX_KEY:]
    if column:
        yield column[:MAX_KEY]
    elif not _has_letter(own):
        following = line.tokens[index + 1].start if index + 1 < len(line.tokens) else None
        after = behind if following is None else line.text[line.tokens[index].end : following]
        yield after.strip()[:MAX_KEY]


def _unit(behind: str) -> str | None:
    """Return the unit right behind a number."""
    found = _UNIT.match(behind)
    if found is None or not known_unit(found[1]):
        return None
    return "percent" if found[1] == "%" else found[1]


def _has_letter(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _header_above(lines: list[_Line]) -> tuple[str, ...]:
    """Return the names of columns above a printed table, as many as the line has numbers."""
    count = len(lines[-1].tokens)
    for line in reversed(lines[-_LOOK_BACK:-1]):
        if not line.text.strip():
            continue
        if line.tokens or not _has_letter(line.text):
            if not line.tokens or len(line.tokens) == count:
                continue
            return ()
        for names in (_GAP.split(line.text.strip(" |\t")), line.text.split()):
            if len(names) in {count, count + 1}:
                return tuple(names[-count:])
        return ()
    return ()


class _TextFile:
    """Patterns for the numbers of one file."""

    def __init__(self, path: Path, lines: list[_Line]) -> None:
        self._path = path
        self._lines = lines
        self._found: dict[str, list[tuple[int, int]]] = {}

    def locate(self, leaf: Leaf) -> Locator | None:
        """Return the shortest pattern that matches this number alone, else one with a `pick`."""
        position, index = (int(part) for part in leaf.at)
        line = self._lines[position]
        if _READABLE.fullmatch(leaf.text) is None:
            return None
        here = (position, line.tokens[index].start)
        patterns = list(dict.fromkeys(_patterns(line, index)))
        for pattern in patterns:
            if self._matches(pattern) == [here]:
                return Locator("regex", pattern)
        for pattern in patterns:
            found = self._matches(pattern)
            if found and here in {found[0], found[-1]}:
                return Locator("regex", pattern, "last" if found[-1] == here else "first")
        return None

    def _matches(self, pattern: str) -> list[tuple[int, int]]:
        """Return where a pattern matches in the whole file, as the reader of selectors does."""
        if pattern not in self._found:
            compiled = re.compile(pattern, re.MULTILINE)
            pieces = (text for _, text in stretches(self._path, whole=False))
            self._found[pattern] = [
                (position, match.start("value"))
                for position, text in enumerate(pieces)
                for match in compiled.finditer(text)
            ]
        return self._found[pattern]


def _patterns(line: _Line, index: int) -> Iterator[str]:
    token = line.tokens[index]
    form = rf"(?:{_NUMBER}|\.\d+)" if "." in token.text.lstrip("+-")[:1] else _NUMBER
    value = rf"(?P<value>[-+]?{form}{_EXPONENT}|nan|inf)"
    before = line.text[: token.start]
    own = _own_words(before)
    if _has_letter(own):
        boundary = r"(?<![^\W_])" if own[0].isalnum() else ""
        yield boundary + _pattern(own, keep=False) + value
    behind = line.text[token.end :]
    after = re.match(r"\s*%?[^\S\n]*[^\W\d]*", behind)
    tail = _pattern(after[0], keep=False) if after and _has_letter(after[0]) else ""
    if before.strip():
        yield "^" + _pattern(before, keep=False) + value
        yield "^" + _pattern(before, keep=True) + value
    elif tail:
        yield r"^\s*" + value + tail
    else:
        end = r"\s*%?\s*$" if re.fullmatch(r"\s*%?\s*", behind) else ""
        yield r"^\s*" + value + end


def _own_words(before: str) -> str:
    """Return what stands between the last digits and the number, from its first word on."""
    last = 0
    for found in _PIECES.finditer(before):
        if found["digits"] is not None:
            last = found.end()
    return re.sub(r"^[\W_]+", "", before[last:]) if last else before.lstrip()


def _pattern(text: str, *, keep: bool) -> str:
    """Write a text as a pattern: any white space, other digits open unless whole and kept."""
    parts = []
    end = 0
    for found in _PIECES.finditer(text):
        parts.append(_SPECIAL.sub(r"\\\g<0>", text[end : found.start()]))
        digits = found["digits"]
        if digits is None:
            optional = found.end() == len(text) and not text[: found.start()][-1:].isalnum()
            parts.append(r"\s*" if optional or found.start() == 0 else r"\s+")
        elif keep and digits.isdigit():
            parts.append(digits)
        else:
            plain = _READABLE.fullmatch(digits) is not None
            parts.append(_OPEN if plain else _OPEN_TIME)
        end = found.end()
    parts.append(_SPECIAL.sub(r"\\\g<0>", text[end:]))
    return "".join(parts)
