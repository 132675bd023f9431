"""JSON as the format reads it: no key twice, only numbers that every reader keeps, bounded.

Texts are read by the standard library. Only when that finds a fault, or when somebody asks where
a value stands, the text is read again by a reader that keeps the places.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from rra._base.yaml import Key, Position, YamlDocument, decode
from rra._base.yaml.characters import BOM, joined_surrogates
from rra._base.yaml.compose import MAX_DEPTH
from rra._base.yaml.faults import place_of, refusal
from rra._base.yaml.scalars import ScalarError, floating, integer

MAX_BYTES = 64 * 1024 * 1024
"""Size up to which a JSON document is read."""

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_WORDS = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"[-+]?[A-Za-z]+")
_SUSPECT = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")


def parse_json(data: bytes, *, source: str) -> YamlDocument:
    """Parse a JSON document of the format from the bytes of its file.

    Args:
        data: The file, or more than the first `MAX_BYTES` of it.
        source: Name of the file for messages.

    Raises:
        FormatError: The bytes break a rule of the page *documents*.
    """
    if len(data) > MAX_BYTES:
        raise refusal(source, f"document is larger than {MAX_BYTES} bytes", 1, 1, clause="size")
    text = decode(data, source=source)
    if text.startswith(BOM):
        message = "JSON does not begin with a byte order mark"
        raise refusal(source, message, 1, 1, clause="json-byte-order-mark")
    try:
        value = _quickly(text)
    except (_FoundFaultError, ValueError, RecursionError):
        value = _Places(text, source).value
    return YamlDocument(value, text, source, _LazyPositions(text, source))


class _FoundFaultError(Exception):
    """Something that the exact reader has to look at."""


def _quickly(text: str) -> Any:
    if _SUSPECT.search(text):
        raise _FoundFaultError
    value = json.loads(
        text,
        object_pairs_hook=_object,
        parse_int=lambda number: integer(number, 10),
        parse_float=floating,
        parse_constant=_constant,
    )
    if _is_too_deep(value):
        raise _FoundFaultError
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _FoundFaultError
    return found


def _constant(name: str) -> NoReturn:
    raise _FoundFaultError(name)


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


class _LazyPositions(Mapping[tuple[Key, ...], Position]):
    """The places of a document's values, found when the first is asked for."""

    def __init__(self, text: str, source: str) -> None:
        self._text, self._source = text, source

    @functools.cached_property
    def _found(self) -> dict[tuple[Key, ...], Position]:
        starts = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", self._text))]
        found: dict[tuple[Key, ...], Position] = {}
        line = 0
        for path, offset in sorted(
            _Places(self._text, self._source).offsets.items(), key=lambda item: item[1]
        ):
            while line + 1 < len(starts) and starts[line + 1] <= offset:
                line += 1
            found[path] = (line + 1, offset - starts[line] + 1)
        return found

    def __getitem__(self, path: tuple[Key, ...]) -> Position:
        return self._found[path]

    def __iter__(self) -> Iterator[tuple[Key, ...]]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


class _Places:
    """Reads a text exactly, and notes where each key and item begins."""

    def __init__(self, text: str, source: str) -> None:
        self._text, self._source = text, source
        self._offset = 0
        self.offsets: dict[tuple[Key, ...], int] = {}
        self._space()
        self.offsets[()] = self._offset
        self.value = self._value((), 0)
        self._space()
        if self._offset < len(text):
            self._fail("something stands behind the value")

    def _fail(
        self, message: str, clause: str = "json", offset: int | None = None, hint: str = ""
    ) -> NoReturn:
        line, column = place_of(self._text, self._offset if offset is None else offset)
        shown = f"not valid JSON: {message}" if clause == "json" else message
        raise refusal(self._source, shown, line, column, clause=clause, hint=hint)

    def _space(self) -> None:
        found = _SPACE.match(self._text, self._offset)
        self._offset = found.end() if found is not None else self._offset

    def _next(self) -> str:
        return self._text[self._offset : self._offset + 1]

    def _value(self, path: tuple[Key, ...], depth: int) -> Any:
        character = self._next()
        if character == '"':
            return self._string()
        if character and character in "{[":
            if depth >= MAX_DEPTH:
                self._fail(f"nested deeper than {MAX_DEPTH} levels", "depth")
            self._offset += 1
            inside = self._members if character == "{" else self._items
            return inside(path, depth + 1)
        number = _NUMBER.match(self._text, self._offset)
        if number is not None:
            return self._number(number)
        word = _WORD.match(self._text, self._offset)
        if word is not None and word[0] in _WORDS:
            self._offset = word.end()
            return _WORDS[word[0]]
        if word is not None and word[0].lstrip("+-") in {"NaN", "Infinity"}:
            self._fail(f"{word[0]} is no number that can be compared", "finite-numbers")
        what = f"a value is expected, not {character!r}" if character else "the text ends early"
        return self._fail(what)

    def _number(self, found: re.Match[str]) -> int | float:
        start = self._offset
        try:
            whole = found[1] is None and found[2] is None
            value = integer(found[0], 10) if whole else floating(found[0])
        except ScalarError as error:
            self._fail(str(error), error.clause, start)
        self._offset = found.end()
        if re.match(r"[0-9.]", self._next()):
            self._fail(f"no number begins like {self._text[start : start + 20]!r}", offset=start)
        return value

    def _string(self) -> str:
        start = self._offset
        found = _STRING.match(self._text, start)
        if found is None:
            self._fail("a text between quotes does not end, or holds what must be escaped")
        self._offset = found.end()
        value = joined_surrogates(json.loads(found[0]))
        if value is None:
            self._fail("a surrogate stands alone, which is no character", "surrogates", start)
        if "\0" in value:
            self._fail("the character U+0000 in a text", "no-null-character", start)
        return value

    def _members(self, path: tuple[Key, ...], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._space()
        while self._next() != "}" or found:
            start = self._offset
            if self._next() != '"':
                self._fail("a key between double quotes is expected")
            key = self._string()
            if key in found:
                self._fail(f"key {key!r} is given twice", "duplicate-key", start)
            self.offsets[(*path, key)] = start
            self._space()
            if self._next() != ":":
                self._fail("a colon is expected")
            self._offset += 1
            self._space()
            found[key] = self._value((*path, key), depth)
            if not self._goes_on("}"):
                return found
        self._offset += 1
        return found

    def _items(self, path: tuple[Key, ...], depth: int) -> list[Any]:
        found: list[Any] = []
        self._space()
        while self._next() != "]" or found:
            here = (*path, len(found))
            self.offsets[here] = self._offset
            found.append(self._value(here, depth))
            if not self._goes_on("]"):
                return found
        self._offset += 1
        return found

    def _goes_on(self, closing: str) -> bool:
        """Read the comma behind a member, or the end; return whether another one follows."""
        self._space()
        character = self._next()
        if character == closing:
            self._offset += 1
            return False
        if character != ",":
            self._fail(f"a comma or {closing} is expected")
        comma = self._offset
        self._offset += 1
        self._space()
        if self._next() == closing:
            self._fail("a comma stands in front of nothing", offset=comma)
        return True
