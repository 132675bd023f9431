"""From events to values with places, in one pass and within limits.

An alias shares the value of its target; its cost is counted as if it were written out, so that
what a document stands for stays in proportion to its text.
"""

from __future__ import annotations

import re
from typing import Any

from ruamel.yaml import events
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from rra._base.yaml.characters import (
    MAX_BYTES,
    check_characters,
    joined_surrogates,
)
from rra._base.yaml.faults import refusal
from rra._base.yaml.nodes import Node
from rra._base.yaml.scalars import ScalarError, resolve
from rra._base.yaml.scanner import parse_events
from rra.errors import FormatError

MAX_ALIASES = 100
"""Aliases in a document."""

MAX_DEPTH = 64
"""Collections inside each other."""

MAX_COPIED = 10_000
"""Keys and values that the aliases of a document stand for, all together."""

MAX_VALUES = 500_000
"""Keys and values in a document."""

_COLON = re.compile(r"(?:[ \t\r\n]|(?<=[ \t\r\n])#[^\r\n]*)*:")
_CORE = "tag:yaml.org,2002:"
_TAGS = {"map": "map", "list": "seq"}
_QUOTE_IT = "put it between quotes"
_KEEP_ONE = "keep one of the two, or give one of them another name"
_COLON_HINT = (
    "put the value between quotes if it holds a colon and a space, else mend the indentation"
)


def compose_yaml(text: str, *, source: str) -> Node | None:
    """Read one document; None when it holds no value at all.

    Args:
        text: The document; a byte order mark in front is passed over.
        source: Name of the file for messages.

    Raises:
        FormatError: The text breaks a rule of the page *documents*.
    """
    if len(text) > MAX_BYTES or len(text.encode(errors="replace")) > MAX_BYTES:
        message = f"document is larger than {MAX_BYTES} bytes"
        raise refusal(source, message, 1, 1, clause="size")
    check_characters(text, source=source)
    composer = _Composer(text, source)
    try:
        for event in parse_events(text):
            composer.take(event)
    except FormatError:
        raise
    except MarkedYAMLError as error:
        raise _unreadable(error, source) from error
    except (YAMLError, ValueError, LookupError, AttributeError, TypeError, AssertionError) as error:
        # Upstream answers some malformed texts with faults of Python.
        message = f"not valid YAML: {type(error).__name__} in the text"
        line, column = composer.reached
        raise refusal(source, message, line, column, clause="yaml") from error
    return composer.root


def _unreadable(error: MarkedYAMLError, source: str) -> FormatError:
    mark = error.problem_mark or error.context_mark
    what = error.problem or error.context or "not readable as YAML"
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    if "'\\t'" in what:
        hint = "indent with spaces"
        return refusal(source, f"not valid YAML: {what}", line, column, clause="tabs", hint=hint)
    hint = _COLON_HINT if "mapping values are not allowed" in what else ""
    return refusal(source, f"not valid YAML: {what}", line, column, clause="yaml", hint=hint)


class _Composer:
    """Builds nodes from events."""

    def __init__(self, text: str, source: str) -> None:
        self.root: Node | None = None
        self.reached = (1, 1)
        self._text = text
        self._source = source
        self._open: list[Node] = []
        self._names: list[dict[str, int]] = []
        self._anchors: dict[str, Node] = {}
        self._documents = self._aliases = self._copied = self._values = 0

    def take(self, event: Any) -> None:
        """Take the next event."""
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, event)

    # ---------------------------------------------------------------------------- events

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise self._fault("more than one document in the file", event, "one-document")
        version = event.version
        if version is not None and tuple(version) != (1, 2):
            message = f"%YAML {version[0]}.{version[1]}: documents are YAML 1.2"
            raise self._fault(message, event, "yaml-version")
        if event.tags:
            raise self._fault("%TAG gives tags another meaning", event, "tags")

    def _scalar(self, event: Any) -> None:
        start, end = event.start_mark, event.end_mark
        text = str(event.value)
        style = event.style or ""
        node = Node("scalar", start.index, end.index, start.line + 1, start.column + 1, text)
        node.style = style if style in {"'", '"', "|", ">"} else ""
        if event.ctag is not None or event.anchor is not None:
            node.bare = False
        if event.ctag is not None:
            node.value = self._tagged(text, str(event.ctag), event)
        elif not node.style:
            node.value = self._resolve(text, event)
        elif node.style == '"':
            node.value = self._unescaped(text, event)
        self._register(node, event)
        self._add(node, event)

    def _alias(self, event: Any) -> None:
        self._aliases += 1
        start = event.start_mark
        if self._aliases > MAX_ALIASES:
            raise self._fault(f"more than {MAX_ALIASES} aliases", event, "alias-limit")
        target = self._anchors.get(event.anchor)
        if target is None:
            message = f"not valid YAML: found undefined alias '{event.anchor}'"
            raise self._fault(message, event, "alias-is-defined")
        if any(target is one for one in self._open):
            message = f"alias *{event.anchor} stands inside its own anchor"
            raise self._fault(message, event, "alias-cycle")
        self._copied += target.size
        if self._copied > MAX_COPIED:
            message = f"aliases stand for more than {MAX_COPIED} keys and values"
            raise self._fault(message, event, "alias-expansion")
        if len(self._open) + target.height > MAX_DEPTH:
            raise self._fault(f"nested deeper than {MAX_DEPTH} levels", event, "depth")
        node = Node("alias", start.index, event.end_mark.index, start.line + 1, start.column + 1)
        node.value, node.target = target.value, target
        node.size, node.height = target.size, target.height
        self._add(node, event)

    def _start(self, event: Any) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise self._fault(f"nested deeper than {MAX_DEPTH} levels", event, "depth")
        is_map = isinstance(event, events.MappingStartEvent)
        start = event.start_mark
        node = Node(
            "map" if is_map else "list",
            start.index,
            event.end_mark.index,
            start.line + 1,
            start.column + 1,
            {} if is_map else [],
        )
        if event.ctag is not None or event.anchor is not None:
            node.bare = False
        if event.flow_style:
            opener = self._text[event.end_mark.index - 1]
            node.style = opener if opener == ("{" if is_map else "[") else "pair"
        if event.ctag is not None:
            tag = str(event.ctag)
            if tag not in {"!", _CORE + _TAGS[node.kind]}:
                raise self._fault(f"the tag {_shown(tag)} is not known", event, "tags")
        self._register(node, event)
        self._add(node, event)
        self._open.append(node)
        self._names.append({})

    def _end(self, event: Any) -> None:
        node = self._open.pop()
        self._names.pop()
        if node.flow:
            node.end = event.end_mark.index
        elif node.values:
            last = node.values[-1]
            node.end = max(node.keys[-1].end, last.end) if node.keys else last.end
        if self._open:
            self._measure(self._open[-1], node)

    # ---------------------------------------------------------------------------- adding

    def _register(self, node: Node, event: Any) -> None:
        if event.anchor is not None:
            node.anchor = str(event.anchor)
            self._anchors[node.anchor] = node

    def _add(self, node: Node, event: Any) -> None:
        self._values += 1
        self.reached = (node.line, node.column)
        if self._values > MAX_VALUES:
            raise self._fault(f"more than {MAX_VALUES} keys and values", event, "value-limit")
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if node.kind in {"scalar", "alias"}:
            self._measure(parent, node)
        if parent.kind == "list":
            parent.values.append(node)
            parent.value.append(node.value)
        elif len(parent.keys) == len(parent.values):
            self._check_key(node, event)
            parent.keys.append(node)
        else:
            key = parent.keys[-1]
            if node.empty:  # upstream may put it where the next thing begins
                node.start = node.end = self._behind_colon(key.end)
            parent.values.append(node)
            parent.value[key.value] = node.value

    def _behind_colon(self, offset: int) -> int:
        """Return the offset behind the colon of a key; that of its end when it has none."""
        found = _COLON.match(self._text, offset)
        return found.end() if found is not None else offset

    def _check_key(self, node: Node, event: Any) -> None:
        key = node.value
        if not isinstance(key, str):
            what = "a map or list" if isinstance(key, dict | list) else repr(_json_word(key))
            message = f"a key must be text, not {what}"
            raise self._fault(message, event, "keys-are-text", _QUOTE_IT)
        if key == "<<":
            message = "the key << merges maps for some readers only"
            raise self._fault(message, event, "merge-key", "write out the keys that it stands for")
        names = self._names[-1]
        if key in names:
            message = f"key {key!r} is given twice, first on line {names[key]}"
            raise self._fault(message, event, "duplicate-key", _KEEP_ONE)
        names[key] = node.line

    @staticmethod
    def _measure(parent: Node, node: Node) -> None:
        parent.size += node.size
        parent.height = max(parent.height, node.height + 1)

    # --------------------------------------------------------------------------- scalars

    def _resolve(self, text: str, event: Any) -> Any:
        try:
            return resolve(text)
        except ScalarError as error:
            raise self._fault(str(error), event, error.clause, _QUOTE_IT) from error

    def _unescaped(self, text: str, event: Any) -> str:
        joined = joined_surrogates(text)
        if joined is None:
            message = "a surrogate stands alone, which is no character"
            raise self._fault(message, event, "surrogates")
        if "\0" in joined:
            raise self._fault("the character U+0000 in a text", event, "no-null-character")
        return joined

    def _tagged(self, text: str, tag: str, event: Any) -> Any:
        kind = tag.removeprefix(_CORE) if tag.startswith(_CORE) else tag
        if kind in {"!", "str"}:
            return self._unescaped(text, event)
        types = _TAG_TYPES.get(kind)
        if types is None:
            raise self._fault(f"the tag {_shown(tag)} is not known", event, "tags")
        value = self._resolve(text, event)
        if kind == "float" and type(value) is int:
            return float(value)
        if type(value) not in types:
            raise self._fault(f"{text!r} does not fit its tag {_shown(tag)}", event, "tags")
        return value

    def _fault(self, message: str, event: Any, clause: str, hint: str = "") -> FormatError:
        mark = event.start_mark
        line, column = mark.line + 1, mark.column + 1
        return refusal(self._source, message, line, column, clause=clause, hint=hint)


_TAG_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float,),
    "bool": (bool,),
    "null": (type(None),),
}
_HANDLERS: dict[type, Any] = {
    events.DocumentStartEvent: _Composer._document,  # noqa: SLF001 - its own table
    events.ScalarEvent: _Composer._scalar,  # noqa: SLF001
    events.AliasEvent: _Composer._alias,  # noqa: SLF001
    events.MappingStartEvent: _Composer._start,  # noqa: SLF001
    events.SequenceStartEvent: _Composer._start,  # noqa: SLF001
    events.MappingEndEvent: _Composer._end,  # noqa: SLF001
    events.SequenceEndEvent: _Composer._end,  # noqa: SLF001
}


def _shown(tag: str) -> str:
    return "!!" + tag.removeprefix(_CORE) if tag.startswith(_CORE) else tag


def _json_word(value: Any) -> Any:
    """Return a key as it is written, not as Python writes it."""
    words = {None: "null", True: "true", False: "false"}
    return words[value] if value is None or isinstance(value, bool) else value
