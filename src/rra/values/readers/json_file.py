"""JSON and JSON Lines: a pointer (RFC 6901) to one literal, kept as written.

In a ``.jsonl`` or ``.ndjson`` file the pointer is applied to each line; lines that do not have
it are passed over.
"""

from __future__ import annotations

import collections
import json
import re
from collections.abc import Iterator
from json.decoder import JSONDecoder
from pathlib import Path
from typing import Any

from rra.errors import SelectError
from rra.values.readers.candidate import (
    MAX_CANDIDATES,
    Candidate,
    nearest,
    read_text,
    too_many,
)

_LINES = {".jsonl", ".ndjson"}
_SPACE = re.compile(r"[ \t\r\n]*")
_INDEX = re.compile(r"0|[1-9][0-9]*")


class _Literal(str):
    """A JSON number or NaN as it stood in the file."""

    __slots__ = ()


class _Members(dict[str, Any]):
    """A JSON object that remembers which keys it was given twice."""

    repeated: frozenset[str] = frozenset()


def _members(pairs: list[tuple[str, Any]]) -> _Members:
    members = _Members(pairs)
    if len(members) < len(pairs):
        counts = collections.Counter(key for key, _ in pairs)
        members.repeated = frozenset(key for key, count in counts.items() if count > 1)
    return members


_DECODER = JSONDecoder(
    object_pairs_hook=_members, parse_float=_Literal, parse_int=_Literal, parse_constant=_Literal
)


def read_json(path: Path, pointer: str) -> list[Candidate]:
    """Return what a JSON pointer names: one candidate, or one for each line of a ``.jsonl`` file.

    Args:
        path: File to read.
        pointer: RFC 6901 pointer; ``""`` is the whole document.

    Raises:
        SelectError: The file is not JSON, or has nothing at the pointer; names what it has.
    """
    tokens = _tokens(pointer)
    text = read_text(path)
    if path.suffix.lower() in _LINES:
        found = list(_from_lines(path, text, pointer, tokens))
        if not found:
            raise SelectError(f"{path.name}: no line has {pointer!r}")
        return found
    document = _decode(path, text, line=None)
    value = _resolve(path, document, pointer, tokens)
    line = text.count("\n", 0, _offset(text, tokens)) + 1
    return [_candidate(value, pointer, line, {})]


def _from_lines(path: Path, text: str, pointer: str, tokens: list[str]) -> Iterator[Candidate]:
    count = 0
    for number, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        document = _decode(path, row, line=number)
        try:
            value = _resolve(path, document, pointer, tokens)
        except KeyMissingError:
            continue
        count += 1
        if count > MAX_CANDIDATES:
            raise too_many(path.name)
        labels = {}
        if isinstance(document, dict):
            labels = {key: str(item) for key, item in document.items() if isinstance(item, str)}
        yield _candidate(value, pointer, number, labels)


class KeyMissingError(SelectError):
    """A document has nothing at a pointer."""


def _tokens(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise SelectError(
            f"{pointer!r} is not a JSON pointer", hint=f"it starts with a slash: /{pointer}"
        )
    if re.search(r"~(?![01])", pointer):
        raise SelectError(f"{pointer!r} is not a JSON pointer", hint="write ~0 for ~ and ~1 for /")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _decode(path: Path, text: str, *, line: int | None) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        where = line if line is not None else error.lineno
        raise SelectError(
            f"{path.name}:{where}:{error.colno}: not valid JSON: {error.msg}",
            hint="check that the run wrote the whole file",
        ) from error
    except RecursionError as error:
        raise SelectError(f"{path.name} is nested too deeply to be a result file") from error


def _resolve(path: Path, document: Any, pointer: str, tokens: list[str]) -> Any:
    here = document
    for depth, token in enumerate(tokens):
        parent = "".join(f"/{part}" for part in pointer.split("/")[1 : depth + 1])
        shown = parent or "the document"
        if isinstance(here, _Members):
            if token in here.repeated:
                raise SelectError(f"{path.name}: the key {token!r} stands twice in {shown}")
            if token not in here:
                raise KeyMissingError(
                    f"{path.name} has no {pointer!r}: {shown} has no key {token!r}",
                    hint=_known(pointer, document, here, parent),
                )
            here = here[token]
        elif isinstance(here, list):
            if not _INDEX.fullmatch(token) or int(token[:9]) >= len(here):
                raise KeyMissingError(
                    f"{path.name} has no {pointer!r}: {shown} is a list of {len(here)}",
                    hint="list positions start at 0",
                )
            here = here[int(token)]
        else:
            raise KeyMissingError(
                f"{path.name} has no {pointer!r}: {shown} is {_describe(here)}",
                hint=_known(pointer, document, None, ""),
            )
    return here


def _known(pointer: str, document: Any, parent: _Members | None, prefix: str) -> str:
    """Name pointers that exist: the siblings, or else the leaves of the document."""
    if parent:
        return nearest(pointer, [f"{prefix}/{_escape(key)}" for key in parent])
    return nearest(pointer, _leaves(document))


def _leaves(document: Any, limit: int = 200) -> list[str]:
    leaves: list[str] = []
    queue: list[tuple[str, Any]] = [("", document)]
    while queue and len(leaves) < limit:
        prefix, value = queue.pop(0)
        if isinstance(value, _Members):
            queue.extend((f"{prefix}/{_escape(key)}", item) for key, item in value.items())
        elif isinstance(value, list):
            queue.extend((f"{prefix}/{index}", item) for index, item in enumerate(value[:20]))
        else:
            leaves.append(prefix)
    return leaves


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _describe(value: Any) -> str:
    if isinstance(value, _Literal):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else json.dumps(value)


def _candidate(value: Any, pointer: str, line: int, labels: dict[str, str]) -> Candidate:
    place = pointer or "(whole document)"
    if isinstance(value, list) and all(isinstance(item, (str, bool)) for item in value):
        return Candidate(tuple(_scalar(item) for item in value), place, line, labels, "list")
    if isinstance(value, (str, bool)):
        kind = "number" if isinstance(value, _Literal) else "text"
        return Candidate(_scalar(value), place, line, labels, kind)
    raise SelectError(
        f"{place} is {_describe(value)}, not a value",
        hint=nearest(pointer, [f"{pointer}{leaf}" for leaf in _leaves(value)]),
    )


def _scalar(value: Any) -> str:
    return str(value) if isinstance(value, str) else json.dumps(value)


def _offset(text: str, tokens: list[str]) -> int:
    """Return where the value of a pointer starts in a document known to be valid."""
    at = _skip(text, 0)
    for token in tokens:
        if text[at] == "{":
            at = _member(text, at, token)
        else:
            at = _skip(text, at + 1)
            for _ in range(int(token)):
                _, at = _DECODER.raw_decode(text, at)
                at = _skip(text, _skip(text, at) + 1)
    return at


def _member(text: str, at: int, token: str) -> int:
    at = _skip(text, at + 1)
    while True:
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if key == token:
            return at
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at
