"""Adding outcomes to an ``rra.yaml`` that somebody wrote: every byte that is there stays.

The text is not written again. New keys are put in at the places that the parser marks, in the
style of their neighbours (block or flow, quoted or plain, the file's line ends), and the result
is parsed again and compared before anybody sees it.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ruamel.yaml import YAML, events

from rra._base.yaml import parse_yaml
from rra.author.yamltext import comment, double_quoted, scalar
from rra.errors import FormatError, UsageError

_STEP = 2
_COMMENT_LINE = re.compile(r"(?P<indent>[ ]*)#[^\r\n]*(?:\r\n|\n|\r|\Z)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_TEXTS = frozenset({"|", ">"})


@dataclasses.dataclass(frozen=True, slots=True)
class NewOutcome:
    """An outcome to add.

    Attributes:
        experiment: Id of its experiment; one that is not there is added.
        title: Title of the experiment, for a new one.
        id: Id of the outcome.
        body: Its keys and values as plain data.
        notes: Lines of comment, written where the style allows comments.
    """

    experiment: str
    title: str
    id: str
    body: Mapping[str, Any]
    notes: tuple[str, ...] = ()


@dataclasses.dataclass(slots=True)
class _Node:
    """A value of the document with its place in the text.

    Attributes:
        start: Offset of its first character, marks of anchors included.
        end: Offset behind its last character.
        column: Column of its first key, for a mapping in block style.
        kind: ``map``, ``list``, ``text`` or ``alias``.
        flow: Whether it is written in flow style, with braces.
        shared: Whether it has an anchor.
        style: Style of a scalar: a quote, ``|``, ``>`` or nothing.
        keys: Keys of a mapping.
        values: Values of a mapping or list.
        text: Content of a scalar.
    """

    start: int
    end: int
    kind: str
    column: int = 0
    flow: bool = False
    shared: bool = False
    style: str | None = None
    keys: list[_Node] = dataclasses.field(default_factory=list)
    values: list[_Node] = dataclasses.field(default_factory=list)
    text: str = ""

    def get(self, name: str) -> _Node | None:
        """Return the value of a key of a mapping."""
        for key, value in zip(self.keys, self.values, strict=True):
            if key.text == name:
                return value
        return None

    @property
    def last(self) -> _Node:
        """The node that its text ends with."""
        node = self
        while not node.flow and node.values:
            inner = node.values[-1]
            if inner.kind == "text" and inner.start == inner.end and node.keys:
                return node.keys[-1]  # nothing stands behind that key
            node = inner
        return node


def open_experiments(text: str) -> set[str]:
    """Return the experiments that an outcome can be added to: none that is an alias or has one."""
    experiments = _experiments(text)
    return {
        key.text
        for key, value in zip(experiments.keys, experiments.values, strict=True)
        if _is_open(value)
        and (outcomes := value.get("outcomes")) is not None
        and _is_open(outcomes)
    }


def _is_open(node: _Node) -> bool:
    return node.kind == "map" and not node.shared


def splice_outcomes(text: str, outcomes: Sequence[NewOutcome]) -> str:
    """Return the text with outcomes added; everything else is as it was, byte for byte.

    Args:
        text: A manifest that is valid, with any line ends.
        outcomes: What to add; no id may be there already.

    Raises:
        UsageError: The document is written in a way that nothing can be added to safely.
    """
    edits = list(_edits(text, outcomes))
    parts: list[str] = []
    done = 0
    for offset, added in sorted(edits, key=lambda edit: edit[0]):  # stable: inner ones first
        parts += [text[done:offset], added]
        done = offset
    result = "".join([*parts, text[done:]])
    _check(text, result, outcomes)
    return result


def _check(text: str, result: str, outcomes: Sequence[NewOutcome]) -> None:
    """Insist that the result is the old data and the new outcomes, nothing else."""
    wanted = copy.deepcopy(parse_yaml(text, source="rra.yaml").data)
    for outcome in outcomes:
        fresh = {"title": outcome.title, "outcomes": {}}
        experiment = wanted["experiments"].setdefault(outcome.experiment, fresh)
        experiment["outcomes"][outcome.id] = copy.deepcopy(dict(outcome.body))
    try:
        found = parse_yaml(result, source="rra.yaml").data
    except FormatError as error:
        raise _refusal() from error
    if json.dumps(found) != json.dumps(wanted):
        raise _refusal()


def _refusal() -> UsageError:
    return UsageError(
        "rra.yaml is written in a way that nothing can be added to without changing the rest",
        hint="write `experiments` and `outcomes` as plain maps, or add the outcomes by hand",
    )


# ------------------------------------------------------------------------------------ reading


def _experiments(text: str) -> _Node:
    root = _Builder(YAML(typ="safe", pure=True).parse(text)).root
    experiments = root.get("experiments") if root is not None else None
    if experiments is None or not _is_open(experiments):
        raise _refusal()
    return experiments


class _Builder:
    """Builds the tree of nodes from events; an alias stays an alias."""

    def __init__(self, stream: Iterator[events.Event]) -> None:
        self.root: _Node | None = None
        self._open: list[_Node] = []
        for event in stream:
            self._take(event)

    def _take(self, event: Any) -> None:
        start, end = event.start_mark, event.end_mark
        if isinstance(event, events.ScalarEvent):
            node = _Node(start.index, end.index, "text", start.column)
            node.text, node.style = str(event.value), event.style
            self._add(node)
        elif isinstance(event, events.AliasEvent):
            self._add(_Node(start.index, end.index, "alias", start.column))
        elif isinstance(event, events.MappingStartEvent | events.SequenceStartEvent):
            kind = "map" if isinstance(event, events.MappingStartEvent) else "list"
            node = _Node(start.index, end.index, kind, start.column, flow=bool(event.flow_style))
            node.shared = event.anchor is not None
            self._add(node)
            self._open.append(node)
        elif isinstance(event, events.MappingEndEvent | events.SequenceEndEvent):
            self._open.pop().end = end.index

    def _add(self, node: _Node) -> None:
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if parent.kind == "map" and len(parent.keys) == len(parent.values):
            parent.keys.append(node)
        else:
            parent.values.append(node)


# ------------------------------------------------------------------------------------ writing


def _edits(text: str, outcomes: Sequence[NewOutcome]) -> Iterator[tuple[int, str]]:
    """Yield where to put what, inner places before outer ones."""
    experiments = _experiments(text)
    groups: dict[str, list[NewOutcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.experiment, []).append(outcome)
    fresh = {name: group for name, group in groups.items() if experiments.get(name) is None}
    for name, group in groups.items():
        if name in fresh:
            continue
        experiment = experiments.get(name)
        inside = experiment.get("outcomes") if experiment is not None else None
        if experiment is None or inside is None or not (_is_open(experiment) and _is_open(inside)):
            raise _refusal()
        yield _addition(text, inside, {one.id: one.body for one in group}, _notes(group))
    if fresh:
        whole = {
            name: {"title": group[0].title, "outcomes": {one.id: one.body for one in group}}
            for name, group in fresh.items()
        }
        notes = {key: value for group in fresh.values() for key, value in _notes(group).items()}
        yield _addition(text, experiments, whole, notes)


def _notes(group: Sequence[NewOutcome]) -> dict[int, tuple[str, ...]]:
    return {id(one.body): one.notes for one in group}


def _addition(
    text: str, node: _Node, entries: Mapping[str, Any], notes: Mapping[int, tuple[str, ...]]
) -> tuple[int, str]:
    if node.flow:
        return _flow_addition(text, node, entries)
    column = node.keys[0].column
    offset, prefix = _block_place(text, node, column)
    end = _line_end(text)
    lines = "".join(_block(key, value, column, notes) for key, value in entries.items())
    return offset, prefix + lines.replace("\n", end)


def _line_end(text: str) -> str:
    found = _LINE_END.search(text)
    return found[0] if found is not None else "\n"


def _block_place(text: str, node: _Node, column: int) -> tuple[int, str]:
    """Return where a mapping in block style goes on, and what has to stand in front.

    That is below its last line and below the comments that belong to its last entry: those
    directly under it that are indented deeper than its key.
    """
    last = node.last
    offset = last.end
    # Of a key without a value the colon is still to come; its line ends behind it either way.
    if last.style not in _TEXTS:
        found = _LINE_END.search(text, offset)
        if found is None:
            return len(text), _line_end(text)
        offset = found.end()
    elif text[:offset] and text[offset - 1] not in "\r\n":
        return offset, _line_end(text)
    while (line := _COMMENT_LINE.match(text, offset)) and len(line["indent"]) > column:
        offset = line.end()
    if offset == len(text) and text[-1] not in "\r\n":
        return offset, _line_end(text)
    return offset, ""


def _block(key: str, value: Any, column: int, notes: Mapping[int, tuple[str, ...]]) -> str:
    """Write an entry in block style; short maps inside selectors in flow style."""
    indent = " " * column
    if not isinstance(value, Mapping):
        return f"{indent}{key}: {_scalar(key, value)}\n"
    if key in {"csv", "npz", "pick"}:
        return f"{indent}{key}: {_flow(value, quoted=False)}\n"
    lines = [f"{indent}{scalar(key)}:\n"]
    lines += [comment(note, column + _STEP) for note in notes.get(id(value), ())]
    lines += [_block(name, item, column + _STEP, notes) for name, item in value.items()]
    return "".join(lines)


def _scalar(key: str, value: Any) -> str:
    written = scalar(value)
    return double_quoted(value) if key == "reported" and written == value else written


def _flow_addition(text: str, node: _Node, entries: Mapping[str, Any]) -> tuple[int, str]:
    """Return the place behind the last entry of a mapping in flow style, and what to add there."""
    quoted = bool(node.keys) and node.keys[0].style == '"'
    written = [
        f"{_key(key, quoted=quoted)}: {_flow(value, quoted=quoted)}"
        for key, value in entries.items()
    ]
    if not node.values:
        return text.index("{", node.start) + 1, ", ".join(written)
    offset = node.values[-1].end
    first = node.keys[0]
    before = text[node.start : first.start]
    broken = _LINE_END.search(before)
    gap = broken[0] + " " * first.column if broken is not None else " "
    return offset, "".join(f",{gap}{entry}" for entry in written)


def _key(key: str, *, quoted: bool) -> str:
    return double_quoted(key) if quoted else scalar(key)


def _flow(value: Any, *, quoted: bool) -> str:
    """Write a value in one line; in a document that is JSON the result is JSON."""
    if isinstance(value, Mapping):
        inner = (
            f"{_key(key, quoted=quoted)}: {_flow(item, quoted=quoted)}"
            for key, item in value.items()
        )
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item, quoted=quoted) for item in value) + "]"
    if isinstance(value, str):
        return double_quoted(value) if quoted else scalar(value)
    return scalar(value)
