"""Numbers of JSON and JSON Lines files, each with its pointer."""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Iterator
from json.decoder import JSONDecoder
from typing import Any

from rra.errors import SelectError
from rra.values.leaves.leaf import MAX_KEY, MAX_LEAVES, FileLeaves, Leaf, Locator, number_of

_STEPS = ("step", "global_step", "epoch", "iteration", "iter", "round", "fold", "seed", "run")
_MAX_SIBLINGS = 12


class _Literal(str):
    """A number as it stood in the file."""

    __slots__ = ()


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object without the keys that it has twice: no pointer can name those."""
    counts = collections.Counter(key for key, _ in pairs)
    return {key: value for key, value in pairs if counts[key] == 1}


_DECODER = JSONDecoder(
    object_pairs_hook=_members, parse_float=_Literal, parse_int=_Literal, parse_constant=_Literal
)


def json_leaves(text: str, file: str) -> FileLeaves:
    """Return the numbers of a JSON document; numbers between quotes count as well.

    Raises:
        SelectError: It is not JSON, or is nested too deeply.
    """
    leaves = _bounded(_walk(_decode(text), None, ()))
    return FileLeaves(file, "json", leaves[:MAX_LEAVES], len(leaves) <= MAX_LEAVES, _pointer)


def json_lines_leaves(text: str, file: str) -> FileLeaves:
    """Return the numbers of a file with one JSON document on each line.

    Raises:
        SelectError: A line is not JSON.
    """
    documents = [
        (number, _decode(row))
        for number, row in enumerate(text.split("\n"), start=1)
        if row.strip()
    ]
    found = (leaf for number, document in documents for leaf in _of_line(document, number))
    leaves = _bounded(found)
    lines = _Lines(documents)
    return FileLeaves(file, "json", leaves[:MAX_LEAVES], len(leaves) <= MAX_LEAVES, lines.locate)


def _bounded(found: Iterator[Leaf]) -> tuple[Leaf, ...]:
    return tuple(leaf for _, leaf in zip(range(MAX_LEAVES + 1), found, strict=False))


def _decode(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg}, line {error.lineno}"
        raise SelectError(message) from error
    except RecursionError as error:
        raise SelectError("nested too deeply to be a result file") from error


def _of_line(document: Any, number: int) -> Iterator[Leaf]:
    siblings = _siblings(document, integers=True) if isinstance(document, dict) else ()
    yield from _walk(document, number, siblings)


@dataclasses.dataclass(frozen=True, slots=True)
class _Node:
    """A value with the way to it: all steps, those that are keys, and texts beside it."""

    value: Any
    path: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


def _walk(document: Any, line: int | None, labels: tuple[str, ...]) -> Iterator[Leaf]:
    """Yield leaves in the order of the document, without recursion."""
    pending = [_Node(document, labels=labels)]
    while pending:
        node = pending.pop()
        if isinstance(node.value, dict):
            own = (*node.labels, *_siblings(node.value, integers=False))
            inner = [
                _Node(item, (*node.path, key), (*node.keys, key), own)
                for key, item in node.value.items()
            ]
            pending.extend(reversed(inner))
        elif isinstance(node.value, list):
            inner = [
                _Node(item, (*node.path, str(index)), node.keys, (*node.labels, *_record(item)))
                for index, item in enumerate(node.value)
            ]
            pending.extend(reversed(inner))
        elif isinstance(node.value, str):
            leaf = _leaf(node, line)
            if leaf is not None:
                yield leaf


def _record(item: Any) -> tuple[str, ...]:
    """Return the labels of one object in a list; whole numbers name it as well."""
    return _siblings(item, integers=True) if isinstance(item, dict) else ()


def _leaf(node: _Node, line: int | None) -> Leaf | None:
    number = number_of(node.value)
    if number is None:
        return None
    text, exact, unit = number
    keys = tuple(key[:MAX_KEY] for key in node.keys)
    own = tuple(label for label in dict.fromkeys(node.labels) if label != node.value)
    group = f"{line or ''}{_written(node.path[:-1])}"
    field = node.path[-1] if node.path else ""
    at: tuple[int | str, ...] = (line or 0, *node.path)
    return Leaf(exact, text, unit, line, (*keys, *own), group, field, at)


def _siblings(members: dict[str, Any], *, integers: bool) -> tuple[str, ...]:
    """Return short texts of an object, which say what its numbers are about."""
    found = []
    for value in members.values():
        if not isinstance(value, str) or len(value) > MAX_KEY:
            continue
        whole = isinstance(value, _Literal) and value.isdigit()
        if (not isinstance(value, _Literal) and number_of(value) is None) or (integers and whole):
            found.append(str(value))
    return tuple(found[:_MAX_SIBLINGS])


def _written(path: tuple[int | str, ...]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _pointer(leaf: Leaf) -> Locator:
    return Locator("json", _written(leaf.at[1:]))


class _Lines:
    """Locators of a file of lines: a pointer that other lines have too needs a `pick`."""

    def __init__(self, documents: list[tuple[int, Any]]) -> None:
        self._documents = documents

    def locate(self, leaf: Leaf) -> Locator | None:
        """Return the pointer with a step, or with first or last, where several lines have it."""
        line, path = leaf.at[0], tuple(str(part) for part in leaf.at[1:])
        having = [(number, one) for number, one in self._documents if _has(one, path)]
        pointer = _written(path)
        if len(having) == 1:
            return Locator("json", pointer)
        step = self._step(having, line)
        if step is not None:
            return Locator("json", pointer, {"at": step})
        if having[-1][0] == line:
            return Locator("json", pointer, "last")
        return Locator("json", pointer, "first") if having[0][0] == line else None

    def _step(self, having: list[tuple[int, Any]], line: int | str) -> dict[str, object] | None:
        """Return a key whose value only this line has: a step first, then any text."""
        mine = next(one for number, one in having if number == line)
        if not isinstance(mine, dict):
            return None
        texts = [key for key, item in mine.items() if type(item) is str and len(item) <= MAX_KEY]
        for key in (*(name for name in _STEPS if name in mine), *texts):
            value = mine[key]
            if not isinstance(value, str) or (isinstance(value, _Literal) and not value.isdigit()):
                continue
            same = [1 for _, one in having if isinstance(one, dict) and one.get(key) == value]
            if len(same) == 1:
                return {key: str(value)}
        return None


def _has(document: Any, path: tuple[str, ...]) -> bool:
    here = document
    for part in path:
        if isinstance(here, dict) and part in here:
            here = here[part]
        elif isinstance(here, list) and part.isdigit() and int(part) < len(here):
            here = here[int(part)]
        else:
            return False
    return True
