"""A parsed document: its data, its text, and where each value stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from rra._base.yaml.characters import MAX_BYTES, decode
from rra._base.yaml.compose import compose_yaml
from rra._base.yaml.faults import refusal
from rra._base.yaml.nodes import Node
from rra.errors import Problem

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
    positions: Mapping[tuple[Key, ...], Position]

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
        text: The document; its data is None when it holds no value at all.
        source: Name of the file for messages.

    Raises:
        FormatError: The text breaks a rule of the page *documents*.
    """
    root = compose_yaml(text, source=source)
    if root is None:
        return YamlDocument(None, text, source, {})
    positions: dict[tuple[Key, ...], Position] = {(): (root.line, root.column)}
    _collect(root, (), positions)
    return YamlDocument(root.value, text, source, positions)


def parse_bytes(data: bytes, *, source: str) -> YamlDocument:
    """Parse a YAML document of the format from the bytes of its file.

    Args:
        data: The file, or more than the first `MAX_BYTES` of it.
        source: Name of the file for messages.

    Raises:
        FormatError: The bytes break a rule of the page *documents*.
    """
    if len(data) > MAX_BYTES:
        message = f"document is larger than {MAX_BYTES} bytes"
        raise refusal(source, message, 1, 1, clause="size")
    document = parse_yaml(decode(data, source=source), source=source)
    if document.data is None:
        message = "the document is null"
        if not document.positions:
            has_text = bool(document.text.strip("\ufeff \t\r\n"))
            message = "the file has only comments" if has_text else "the file is empty"
        hint = "write {} when there is nothing to say, or remove the file"
        raise refusal(source, message, 1, 1, clause="not-empty", hint=hint)
    return document


def _collect(node: Node, path: tuple[Key, ...], positions: dict[tuple[Key, ...], Position]) -> None:
    """Note where each key and item stands; behind an alias, where its target says it."""
    node = node.resolved()
    if node.kind == "map":
        for key, value in zip(node.keys, node.values, strict=True):
            inner = (*path, key.value)
            positions[inner] = (key.line, key.column)
            if value.kind != "scalar":
                _collect(value, inner, positions)
    elif node.kind == "list":
        for index, item in enumerate(node.values):
            positions[(*path, index)] = (item.line, item.column)
            if item.kind != "scalar":
                _collect(item, (*path, index), positions)
