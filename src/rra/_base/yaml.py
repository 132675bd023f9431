"""YAML 1.2 with places: every value can be found again in the text.

Rules of the format (spec: manifest): core schema, timestamps stay strings, duplicate keys
are errors, at most 4 MiB and 100 aliases, checked before anything is built.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from ruamel.yaml import YAML, events, nodes
from ruamel.yaml.constructor import DuplicateKeyError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from rra.errors import FormatError, Problem

MAX_BYTES = 4 * 1024 * 1024
MAX_ALIASES = 100
MAX_DEPTH = 64
Key = str | int
Position = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class YamlDocument:
    """A parsed document: plain data, its text, and the place of each value.

    Attributes:
        data: Mappings, lists, strings, numbers, booleans and None.
        text: The source as read.
        source: Name used in messages.
        positions: Path of keys → (line, column) of the key or item, both 1-based.
    """

    data: Any
    text: str
    source: str
    positions: dict[tuple[Key, ...], Position]

    def position(self, path: Sequence[Key]) -> Position:
        """Return (line, column) of a value, or of its nearest parent that has one."""
        for length in range(len(path), -1, -1):
            found = self.positions.get(tuple(path[:length]))
            if found is not None:
                return found
        return (1, 1)

    def problem(self, path: Sequence[Key], message: str, **more: Any) -> Problem:
        """Return a `Problem` at a value of this document."""
        line, column = self.position(path)
        pointer = json_pointer(path)
        return Problem(message, self.source, line, column, pointer, **more)


def json_pointer(path: Sequence[Key]) -> str:
    """Write a path of keys as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)


def parse_yaml(text: str, *, source: str) -> YamlDocument:
    """Parse one YAML document into plain data with positions.

    Args:
        text: The document.
        source: Name of the file for messages.

    Raises:
        FormatError: Not YAML 1.2, too large, too deep, too many aliases, or a duplicate key.
    """
    if len(text) > MAX_BYTES or len(text.encode()) > MAX_BYTES:
        raise _refuse(source, f"document is larger than {MAX_BYTES} bytes", 1, 1)
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Constructor
    try:
        _check_events(yaml, text, source)
        node = yaml.compose(text)
        if node is None:
            return YamlDocument(None, text, source, {})
        positions: dict[tuple[Key, ...], Position] = {(): _mark(node.start_mark)}
        _collect(node, (), positions)
        data = yaml.load(text)
    except DuplicateKeyError as error:
        mark = error.problem_mark
        key = re.search(r'duplicate key "([^"]*)"', error.problem or "")
        name = key.group(1) if key else "?"
        raise _refuse(source, f"key {name!r} is given twice", *_mark(mark)) from error
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "not readable as YAML"
        raise _refuse(source, f"not valid YAML: {what}", *_mark(mark)) from error
    except (YAMLError, ValueError, RecursionError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise _refuse(source, f"not valid YAML: {first}", 1, 1) from error
    return YamlDocument(data, text, source, positions)


class _Constructor(SafeConstructor):
    """Builds plain data; timestamps stay the text that was written (spec: manifest)."""


def _construct_text(loader: SafeConstructor, node: nodes.ScalarNode) -> str:
    del loader
    return str(node.value)


def _construct_number(loader: SafeConstructor, node: nodes.ScalarNode) -> object:
    """Build a number; ``1_000`` is text in the core schema (YAML 1.2.2 §10.3.2)."""
    if "_" in node.value:
        return str(node.value)
    if str(node.tag).endswith(":int"):
        return loader.construct_yaml_int(node)
    return loader.construct_yaml_float(node)


_Constructor.add_constructor("tag:yaml.org,2002:timestamp", _construct_text)
_Constructor.add_constructor("tag:yaml.org,2002:int", _construct_number)
_Constructor.add_constructor("tag:yaml.org,2002:float", _construct_number)


def _refuse(source: str, message: str, line: int, column: int) -> FormatError:
    problem = Problem(message, source, line, column, clause="format/yaml")
    return FormatError(
        str(problem), problems=(problem,), hint="correct the file there and run again"
    )


def _mark(mark: Any) -> Position:
    return (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)


def _check_events(yaml: YAML, text: str, source: str) -> None:
    """Bound aliases, depth and documents on the event stream, before anything is built."""
    aliases = documents = 0
    open_anchors: list[str | None] = []
    for event in yaml.parse(text):
        if isinstance(event, events.MappingStartEvent | events.SequenceStartEvent):
            open_anchors.append(event.anchor)
        elif isinstance(event, events.MappingEndEvent | events.SequenceEndEvent):
            open_anchors.pop()
        is_alias = isinstance(event, events.AliasEvent)
        aliases += is_alias
        documents += isinstance(event, events.DocumentStartEvent)
        faults = {
            "more than one document in the file": documents > 1,
            f"more than {MAX_ALIASES} aliases": aliases > MAX_ALIASES,
            f"nested deeper than {MAX_DEPTH} levels": len(open_anchors) > MAX_DEPTH,
            f"alias *{event.anchor} stands inside its own anchor" if is_alias else "": is_alias
            and event.anchor in open_anchors,
        }
        for fault, found in faults.items():
            if found:
                raise _refuse(source, fault, *_mark(event.start_mark))


def _collect(
    node: nodes.Node, path: tuple[Key, ...], positions: dict[tuple[Key, ...], Position]
) -> None:
    """Note where each key and item stands."""
    if isinstance(node, nodes.MappingNode):
        for key_node, value_node in node.value:
            inner = (*path, str(key_node.value))
            if inner not in positions:
                positions[inner] = _mark(key_node.start_mark)
                _collect(value_node, inner, positions)
    elif isinstance(node, nodes.SequenceNode):
        for index, item in enumerate(node.value):
            positions[(*path, index)] = _mark(item.start_mark)
            _collect(item, (*path, index), positions)
