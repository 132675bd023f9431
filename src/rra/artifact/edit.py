"""Editing a YAML document as text: bytes outside the edited span stay as they are.

The text is never written again as a whole. A value is put in, replaced or taken away at the
places that the parser notes, in the style of its neighbours (indentation, quotes, flow or block,
line ends); comments and the order of keys stay. The result is parsed again and compared with what
it should be before anybody sees it, so an edit is right or is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from rra._base.yaml import Key, Node, compose_yaml, json_pointer
from rra.artifact import edit_places as places
from rra.artifact.edit_places import Change, applied, refusal
from rra.artifact.edit_text import (
    entry_lines,
    item_lines,
    literal_lines,
    quote_beside,
    written,
)
from rra.errors import FormatError, UsageError

_TEXTS = frozenset({"|", ">"})
_HEADER = re.compile(r"([|>][-+1-9]*)[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r|\Z)")
_STEP = 2
Path = Sequence[Key]


def set_value(text: str, path: Path, value: Any) -> str:
    """Return the text with the value at a path replaced, or added to the map that lacks it.

    Of a map or list that stays one, only the entries that differ are touched.

    Args:
        text: The document.
        path: Keys and indexes that lead to the value.
        value: Plain data, as JSON has it.

    Raises:
        FormatError: The text is no document.
        UsageError: The path leads nowhere, or the edit would change other bytes.
    """
    value = _copy(value)
    root = _root(text)
    if path and _lacks(root, path):
        return insert(text, path, value)
    node = _find(root, path)
    if _same(node.value, value):
        return text
    if node.kind == "map" and isinstance(value, Mapping) and node.value and value:
        return _set_map(text, path, node.value, value)
    if node.kind == "list" and isinstance(value, list) and node.value and value:
        return _set_list(text, path, node.value, value)
    changes = _replacement(text, root, path, node, value)
    return _checked(text, changes, _with(root.value, path, value))


def insert(text: str, path: Path, value: Any) -> str:
    """Return the text with a new entry at the end of a map, or an item in a list.

    Args:
        text: The document.
        path: Where it will be: a new key of a map, or the index of a list that it takes.
        value: Plain data, as JSON has it.

    Raises:
        FormatError: The text is no document.
        UsageError: The key is there, or the edit would change other bytes.
    """
    if not path:
        raise UsageError("nothing can be added beside the document", hint="give a key")
    root = _root(text)
    parent = _find(root, path[:-1])
    key = path[-1]
    wanted = _copy(root.value)
    inside = _at(wanted, path[:-1])
    if parent.kind == "map" and isinstance(key, str):
        if key in parent.value:
            raise UsageError(f"{json_pointer(path)} is there already", hint="set its value")
        inside[key] = _copy(value)
        changes = [map_addition(text, parent, {key: value}, step=_step(root, path[:-1]))]
    elif parent.kind == "list" and isinstance(key, int) and 0 <= key <= len(parent.values):
        inside.insert(key, _copy(value))
        changes = [_list_addition(text, parent, key, value, _step(root, path[:-1]))]
    else:
        message = f"{json_pointer(path)} cannot be added: {_kind(parent)} stands above it"
        raise UsageError(message, hint="give a key of a map, or an index of a list")
    return _checked(text, changes, wanted)


def append(text: str, path: Path, value: Any) -> str:
    """Return the text with an item at the end of the list at a path.

    Raises:
        FormatError: The text is no document.
        UsageError: There is no list, or the edit would change other bytes.
    """
    node = _find(_root(text), path)
    if node.kind != "list":
        message = f"{json_pointer(path) or 'the document'} is {_kind(node)}, not a list"
        raise UsageError(message, hint="give the path of a list")
    return insert(text, [*path, len(node.values)], value)


def set_comment(text: str, path: Path, comment: str, *, begins: str) -> str:
    """Return the text with a comment in a line of its own above an entry of a map.

    A comment above the entry that begins in the same way is replaced: it was about the value
    that stood there before. A map in flow style has no such lines, and stays as it is.

    Args:
        text: The document.
        path: Keys that lead to the entry.
        comment: The comment without its mark; it becomes one line.
        begins: How the comment begins that this one replaces.

    Raises:
        FormatError: The text is no document.
        UsageError: The path leads to no entry of a map.
    """
    root = _root(text)
    _find(root, path)
    parent = _find(root, path[:-1])
    if parent.kind != "map" or parent.flow:
        return text
    key = places.entry_start(text, parent.keys[_index(parent, path[-1])])
    start = places.line_start(text, key)
    pad = text[start:key]
    if pad.strip(" "):
        return text
    line = f"{pad}# {' '.join(comment.split())}{places.line_end(text, start)}"
    for begin, end in places.comments_above(text, start):
        if text[begin:end].lstrip(" #").startswith(begins):
            return _checked(text, [(begin, end, line)], root.value)
    return _checked(text, [(start, start, line)], root.value)


def remove(text: str, path: Path) -> str:
    """Return the text without an entry or item, and without the comment behind it in its line.

    A collection that loses its last entry becomes ``{}`` or ``[]``.

    Raises:
        FormatError: The text is no document.
        UsageError: The path leads nowhere, or the edit would change other bytes.
    """
    if not path:
        raise UsageError("the document cannot be removed from itself", hint="give a key")
    root = _root(text)
    _find(root, path)
    parent = _find(root, path[:-1])
    wanted = _copy(root.value)
    del _at(wanted, path[:-1])[path[-1]]
    if len(parent.values) == 1 and not parent.flow:
        empty: Any = {} if parent.kind == "map" else []
        changes = _replacement(text, root, path[:-1], parent, empty)
    else:
        changes = _removal(text, parent, _index(parent, path[-1]))
    return _checked(text, changes, wanted)


def rename_key(text: str, path: Path, name: str) -> str:
    """Return the text with the key at a path renamed; its value and place stay.

    Raises:
        FormatError: The text is no document.
        UsageError: The path leads to no key, the name is taken, or other bytes would change.
    """
    root = _root(text)
    _find(root, path)
    parent = _find(root, path[:-1])
    if not path or parent.kind != "map":
        raise UsageError(f"{json_pointer(path)} is no key of a map", hint="give a key")
    if name in parent.value:
        raise UsageError(f"the key {name!r} is there already", hint="give another name")
    key = parent.keys[_index(parent, path[-1])]
    if key.kind == "alias" or key.style in _TEXTS:
        raise refusal("the key is an alias or a text over several lines")
    style = key.style
    new = written(name, style)
    start = places.content_start(text, key)
    wanted = _copy(root.value)
    inside = _at(wanted, path[:-1])
    renamed = {name if one == path[-1] else one: value for one, value in inside.items()}
    inside.clear()
    inside.update(renamed)
    return _checked(text, [(start, key.end, new)], wanted)


def map_addition(
    text: str,
    node: Node,
    entries: Mapping[str, Any],
    *,
    step: int = _STEP,
    lines: Mapping[str, Sequence[str]] | None = None,
) -> Change:
    """Return the change that adds entries at the end of a map.

    Args:
        text: The document.
        node: The map; in flow style the entries are written in flow style.
        entries: Key → plain data.
        step: How far inner maps are indented in block style.
        lines: Lines of an entry in block style, where the caller writes them; without the
            indentation of the map.
    """
    if node.style == "pair":
        raise refusal("a pair in a list takes no second key")
    if node.flow:
        json_like = bool(node.keys) and all(key.style == '"' for key in node.keys)
        style = '"' if json_like else quote_beside(node.values)
        added = [
            f"{written(key, '', json_like=json_like)}: {written(value, style, json_like=json_like)}"
            for key, value in entries.items()
        ]
        return _flow_addition(text, node, node.keys, added, len(node.values))
    column = _column(text, node)
    offset, prefix = places.behind(text, node, column)
    style = quote_beside(node.values)
    key_style = quote_beside(node.keys)
    pad = " " * column
    rows: list[str] = []
    for key, value in entries.items():
        given = lines.get(key) if lines is not None else None
        fresh = entry_lines(written(key, key_style), value, step, style)
        rows += given if given is not None else fresh
    end = places.line_end(text)
    return offset, offset, prefix + "".join(pad + row + end for row in rows)


# ------------------------------------------------------------------------------------ finding


def _root(text: str) -> Node:
    root = compose_yaml(text, source="the document")
    if root is None or root.value is None:
        raise UsageError("the document is empty", hint="write its first key by hand")
    return root


def _find(root: Node, path: Path) -> Node:
    node = root
    for depth, key in enumerate(path):
        if node.kind == "alias":
            here = json_pointer(path[:depth])
            raise refusal(f"{here} is an alias; what it stands for is written elsewhere")
        found = _index_or_none(node, key)
        if found is None:
            message = f"nothing is at {json_pointer(path[: depth + 1])}"
            raise UsageError(message, hint="give the path of a value that is there")
        node = node.values[found]
    return node


def _index_or_none(node: Node, key: Key) -> int | None:
    if node.kind == "map":
        names = [one.value for one in node.keys]
        return names.index(key) if key in names else None
    if node.kind == "list" and isinstance(key, int) and 0 <= key < len(node.values):
        return key
    return None


def _index(node: Node, key: Key) -> int:
    found = _index_or_none(node, key)
    assert found is not None  # noqa: S101 - looked up before
    return found


def _lacks(root: Node, path: Path) -> bool:
    parent = _find(root, path[:-1])
    return parent.kind == "map" and path[-1] not in parent.value


def _kind(node: Node) -> str:
    return {"map": "a map", "list": "a list", "alias": "an alias"}.get(node.kind, "a plain value")


def _column(text: str, node: Node) -> int:
    """Return the column, 0-based, of the keys or dashes of a collection in block style."""
    if node.kind == "map":
        offset = places.entry_start(text, node.keys[0])
    else:
        offset = places.content_start(text, node)
    start = places.line_start(text, offset)
    return len(text[start:offset].lstrip("\ufeff"))


def _step(root: Node, path: Path) -> int:
    """Return how far maps in block style are indented above a place; two when none is."""
    node, column, step = root, root.column, _STEP
    for key in path:
        node = node.values[_index(node, key)].resolved()
        if node.kind == "map" and not node.flow and node.keys and node.style != "pair":
            inner = node.keys[0].column
            step = inner - column if 0 < inner - column <= 8 else step
            column = inner
    return step


# ------------------------------------------------------------------------------------ writing


def _set_map(text: str, path: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    for key, value in new.items():
        if key not in old or not _same(old[key], value):
            text = set_value(text, [*path, key], value)
    for key in old:
        if key not in new:
            text = remove(text, [*path, key])
    return text


def _set_list(text: str, path: Path, old: Sequence[Any], new: Sequence[Any]) -> str:
    for index, value in enumerate(new):
        if index >= len(old):
            text = append(text, path, value)
        elif not _same(old[index], value):
            text = set_value(text, [*path, index], value)
    for index in range(len(old) - 1, len(new) - 1, -1):
        text = remove(text, [*path, index])
    return text


def _flow_addition(
    text: str, node: Node, firsts: Sequence[Node], added: Sequence[str], index: int
) -> Change:
    """Put entries into a collection in flow style, in front of the entry with an index."""
    if not node.values:
        offset = places.content_start(text, node) + 1
        return offset, offset, ", ".join(added)
    first = firsts[0]
    begin = places.content_start(text, node)
    broken = any(end in text[begin : first.start] for end in "\r\n")
    start = places.line_start(text, first.start)
    gap = places.line_end(text, begin) + " " * (first.start - start) if broken else " "
    if index == len(node.values):
        offset = max(node.values[-1].end, firsts[-1].end)
        if node.values[-1].empty:
            offset += len(text[offset:]) - len(text[offset:].lstrip(" \t"))
        return offset, offset, "".join(f",{gap}{entry}" for entry in added)
    offset = firsts[index].start
    return offset, offset, "".join(f"{entry},{gap}" for entry in added)


def _list_addition(text: str, node: Node, index: int, value: Any, step: int) -> Change:
    style = quote_beside(node.values)
    if node.flow:
        json_like = bool(node.values) and all(
            one.style == '"' for one in node.values if isinstance(one.value, str)
        )
        entry = written(value, style, json_like=json_like and style == '"')
        return _flow_addition(text, node, node.values, [entry], index)
    column = _column(text, node)
    end = places.line_end(text)
    pad = " " * column
    rows = item_lines(value, step, style)
    if index == 0:
        offset = places.content_start(text, node)
        return offset, offset, (end + pad).join(rows) + end + pad
    offset, prefix = places.behind(text, node.values[index - 1], column)
    return offset, offset, prefix + "".join(pad + row + end for row in rows)


def _replacement(text: str, root: Node, path: Path, node: Node, value: Any) -> list[Change]:
    """Return the changes that put another value where a node stands."""
    if node.style in _TEXTS:
        return _text_replacement(text, node, value)
    parent = _find(root, path[:-1]) if path else None
    is_text = node.kind == "scalar" and isinstance(node.value, str)
    style = node.style if is_text else quote_beside(parent.values if parent is not None else ())
    new = written(value, style, json_like=parent is not None and _is_json(parent))
    if node.kind in {"map", "list"} and not node.flow:
        return _block_replacement(text, parent, path, node, new)
    # A tag goes with its value, an anchor stays.
    start = places.content_start(text, node) if node.anchor else node.start
    if start < node.end:
        return [(start, node.end, new)]
    return [_into_nothing(text, parent, path, node, new)]


def _is_json(node: Node) -> bool:
    """Tell whether a map is written as JSON has it."""
    return node.flow and bool(node.keys) and all(key.style == '"' for key in node.keys)


def _into_nothing(text: str, parent: Node | None, path: Path, node: Node, new: str) -> Change:
    """Put a value where none is written."""
    offset = node.end
    if text[offset - 1 : offset] in {":", "-"} or node.start < node.end:
        return offset, offset, f" {new}"
    if parent is None or parent.kind != "map":
        raise refusal("nothing is written there")
    key = parent.keys[_index(parent, path[-1])]
    if parent.flow:
        return key.end, key.end, f": {new}"
    offset = places.colon_after(text, key)
    return offset, offset, f" {new}"


def _block_replacement(
    text: str, parent: Node | None, path: Path, node: Node, new: str
) -> list[Change]:
    """Put a value of one line in the place of a collection in block style."""
    start = places.content_start(text, node)
    begin = places.line_start(text, start)
    end = places.past_line(text, node)
    if parent is None or text[begin:start].strip() or not node.bare:
        ending = places.ends_with_line_end(text, end)
        return [(start, end, new + ending)]
    index = _index(parent, path[-1])
    if parent.kind == "map":
        offset = places.colon_after(text, parent.keys[index])
    else:
        offset = places.dash_before(text, parent, index) + 1
    return [(offset, offset, f" {new}"), (begin, end, "")]


def _text_replacement(text: str, node: Node, value: Any) -> list[Change]:
    """Put a value in the place of a literal or folded text; the comment of its first line stays."""
    found = _HEADER.match(text, places.content_start(text, node))
    if found is None:
        raise refusal("the text over several lines is not understood")
    body = min(found.end(), node.end)
    kept = text[body : node.end].rstrip(" \t\r\n")
    first = next((row for row in kept.splitlines() if row.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" "))]
    literal = None
    if isinstance(value, str) and "\n" in value and indent:
        literal = literal_lines(value, indent)
    header, rows = literal or (written(value, ""), [])
    keeps = "+" in found[1] or header == "|+"
    end = node.end if keeps else places.past_blank(text, body + len(kept), node.end)
    newline = places.line_end(text, found.end(1))
    content = newline.join(rows)
    if rows and (places.ends_with_line_end(text, end) or str(value).endswith("\n")):
        content += newline
    return [(*found.span(1), header), (body, end, content)]


def _removal(text: str, parent: Node, index: int) -> list[Change]:
    if parent.style == "pair":
        raise refusal("a pair in a list keeps its key")
    if parent.flow:
        firsts = parent.keys or parent.values
        starts = [places.entry_start(text, key) for key in parent.keys]
        starts = starts or [value.start for value in parent.values]
        spans = [
            (start, max(first.end, value.end))
            for start, first, value in zip(starts, firsts, parent.values, strict=True)
        ]
        return places.flow_removal(text, spans, index, parent.end - 1)
    if parent.kind == "map":
        start = places.entry_start(text, parent.keys[index])
        more = index + 1 < len(parent.keys)
        following = places.entry_start(text, parent.keys[index + 1]) if more else None
        node = parent.values[index]
        if node.empty and node.end < parent.keys[index].end:
            node = parent.keys[index]
    else:
        start = places.dash_before(text, parent, index)
        more = index + 1 < len(parent.values)
        following = places.dash_before(text, parent, index + 1) if more else None
        node = parent.values[index]
    return places.block_removal(text, start, node, following)


# ----------------------------------------------------------------------------------- checking


def _copy(data: Any) -> Any:
    """Return plain data that shares nothing."""
    try:
        return json.loads(json.dumps(data, allow_nan=False))
    except (TypeError, ValueError) as error:
        message = f"a document cannot hold this value: {error}"
        raise UsageError(message, hint="give plain data") from error


def _at(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


def _with(data: Any, path: Path, value: Any) -> Any:
    if not path:
        return _copy(value)
    wanted = _copy(data)
    _at(wanted, path[:-1])[path[-1]] = _copy(value)
    return wanted


def _same(first: Any, second: Any) -> bool:
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def _checked(text: str, changes: Sequence[Change], wanted: Any) -> str:
    """Make the changes, and insist that the result says what was wanted and nothing else."""
    result = applied(text, changes)
    try:
        root = compose_yaml(result, source="the document")
    except FormatError as error:
        raise refusal("the result would not be a document") from error
    if root is None or not _same(root.value, wanted):
        raise refusal("the value is shared with another place, or its style cannot be kept")
    return result
