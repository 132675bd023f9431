"""Bringing documents to a later version of the format: one step at a time, nothing lost.

A step says what it renames, moves and drops. It is applied to the text of a document through the
editor that keeps comments and order, and to its data as well; the two have to agree. A step that
would lose something that somebody wrote stops and names it.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rra._base.yaml import Key, YamlDocument, compose_yaml, json_pointer, parse_yaml
from rra.errors import FormatError, InternalError, Problem, UsageError
from rra.schema import FORMAT, version_key

CLAUSE = "versioning/loses-nothing"
EACH = "*"
"""In a path of a change: every key of a map, every item of a list."""

Path = tuple[Key, ...]


@dataclasses.dataclass(frozen=True)
class Rename:
    """A key that has another name in the later version; it stays where it is.

    Attributes:
        path: The keys that lead to it; `EACH` stands for any.
        to: The new name.
    """

    path: Path
    to: str

    def __str__(self) -> str:
        """Say what changes, for people."""
        return f"{json_pointer(self.path)} is now called {self.to}"


@dataclasses.dataclass(frozen=True)
class Move:
    """A key that stands in another object in the later version.

    Attributes:
        path: The keys that lead to it; no `EACH`.
        to: The keys that lead to its new place.
    """

    path: Path
    to: Path

    def __str__(self) -> str:
        """Say what changes, for people."""
        return f"{json_pointer(self.path)} is now at {json_pointer(self.to)}"


@dataclasses.dataclass(frozen=True)
class Drop:
    """A key that the later version does not have; it goes only where it says nothing.

    Attributes:
        path: The keys that lead to it; `EACH` stands for any.
    """

    path: Path

    def __str__(self) -> str:
        """Say what changes, for people."""
        return f"{json_pointer(self.path)} is gone"


Change = Rename | Move | Drop


@dataclasses.dataclass(frozen=True)
class Step:
    """From one version to the next.

    Attributes:
        source: The version that documents have before.
        target: The version that they have afterwards.
        about: What it is for, in one sentence.
        changes: What changes in each document, by the name of its schema, in this order.
    """

    source: str
    target: str
    about: str
    changes: Mapping[str, tuple[Change, ...]]


STEPS: tuple[Step, ...] = ()
"""The steps between the versions of the format, oldest first; 1.0 is the first version."""


@dataclasses.dataclass(frozen=True)
class Migrated:
    """A document in a later version.

    Attributes:
        text: The whole document.
        changes: What was changed, one sentence each; empty when nothing was.
    """

    text: str
    changes: tuple[str, ...]


def steps_between(source: str, target: str | None, steps: Sequence[Step] = STEPS) -> list[Step]:
    """Return the steps from one version to another, in order.

    Args:
        source: The version that documents have.
        target: The version wanted; the latest that the steps lead to by default.
        steps: The steps there are.

    Raises:
        UsageError: A version is not known, or is an older one.
    """
    known = sorted({FORMAT, *(one for step in steps for one in (step.source, step.target))})
    known.sort(key=version_key)
    wanted = target or known[-1]
    if target is not None and target not in known:
        message = f"version {target} of the format is not known"
        raise UsageError(message, hint=f"known: {', '.join(known)}")
    path: list[Step] = []
    at = source
    while at != wanted:
        step = next((one for one in steps if one.source == at), None)
        if step is None:
            message = f"there is no way from version {source} of the format to {wanted}"
            hint = "documents go to later versions only" if path or source in known else ""
            raise UsageError(message, hint=hint or "use a version of rra that knows both")
        path.append(step)
        at = step.target
    return path


def migrate_text(text: str, name: str, steps: Sequence[Step], *, source: str) -> Migrated:
    """Apply steps to a document, one after the other.

    Args:
        text: The document.
        name: Name of its schema.
        steps: The steps, as `steps_between` gives them.
        source: Name of the file for messages.

    Raises:
        FormatError: A step would lose what somebody wrote; every place is named.
    """
    changes: list[str] = []
    for step in steps:
        for change in step.changes.get(name, ()):
            text, made = _apply(text, change, source)
            changes += made
        text, made = _set_version(text, step.target, source)
        changes += made
    return Migrated(text, tuple(changes))


def _set_version(text: str, version: str, source: str) -> tuple[str, list[str]]:
    from rra.artifact.edit import set_value

    document = parse_yaml(text, source=source)
    if not isinstance(document.data, dict) or document.data.get("rra") in {None, version}:
        return text, []
    message = f"/rra is now {version}"
    changed = set_value(text, ("rra",), version)
    return _checked(changed, _replaced(document.data, ("rra",), version), source), [message]


def _apply(text: str, change: Change, source: str) -> tuple[str, list[str]]:
    document = parse_yaml(text, source=source)
    places = list(_matching(document.data, change.path))
    losses = [problem for place in places for problem in _losses(document, change, place)]
    _refuse(document, losses)
    said = []
    data = document.data
    for place in places:
        before, text = text, _edit(text, change, place, data)
        _keep_comments(document, place, before, text)
        data = _on_data(data, change, place)
        said.append(str(dataclasses.replace(change, path=place)))
    return (_checked(text, data, source) if places else text), said


def _refuse(document: YamlDocument, losses: Sequence[Problem]) -> None:
    if losses:
        message = f"the migration would lose something of {document.source}"
        hint = "say it in another way or take it out, then migrate again"
        raise FormatError(message, problems=tuple(losses), hint=hint)


def _keep_comments(document: YamlDocument, place: Path, before: str, after: str) -> None:
    lost = list((_comments(before, document.source) - _comments(after, document.source)).elements())
    message = f"the comments at {json_pointer(place)} would go: {'; '.join(lost)}"
    hint = "nothing was changed; put them above another key"
    _refuse(document, [document.problem(place, message, clause=CLAUSE, hint=hint)] if lost else [])


def _comments(text: str, source: str) -> Counter[str]:
    """Return the comments of a document, in no order: what follows a ``#`` outside of scalars."""
    spans: list[tuple[int, int]] = []
    nodes = [compose_yaml(text, source=source)]
    while nodes:
        node = nodes.pop()
        if node is not None:
            spans += [(node.start, node.end)] if node.kind == "scalar" else []
            nodes += [*node.keys, *node.values]
    outside, at = [], 0
    for start, end in sorted(spans):
        outside.append(text[at:start])
        at = max(at, end)
    return Counter(re.findall(r"#[^\r\n]*", "\0".join([*outside, text[at:]])))


def _losses(document: YamlDocument, change: Change, place: Path) -> Iterator[Problem]:
    """Yield what would be lost: content of a dropped key, or what stands at the new place."""
    value = _at(document.data, place)
    if isinstance(change, Drop):
        if value not in (None, "", [], {}):
            message = f"{place[-1]} has content, and the later version has no such key"
            yield document.problem(place, message, clause=CLAUSE, hint="nothing was changed")
        return
    target = (*place[:-1], change.to) if isinstance(change, Rename) else change.to
    if _has(document.data, target):
        message = f"{place[-1]} would replace {json_pointer(target)}, which is there already"
        yield document.problem(place, message, clause=CLAUSE, hint="nothing was changed")


def _edit(text: str, change: Change, place: Path, data: Any) -> str:
    from rra.artifact.edit import remove, rename_key, set_value

    if isinstance(change, Rename):
        return rename_key(text, place, change.to)
    if isinstance(change, Move):
        return remove(set_value(text, change.to, _at(data, place)), place)
    return remove(text, place)


def _on_data(data: Any, change: Change, place: Path) -> Any:
    """Apply a change to plain data; what the edited text has to say afterwards."""
    value = _at(data, place)
    if isinstance(change, Rename):
        return _renamed(data, place, change.to)
    data = _replaced(data, change.to, value) if isinstance(change, Move) else copy.deepcopy(data)
    del _at(data, place[:-1])[place[-1]]
    return data


def _renamed(data: Any, place: Path, to: str) -> Any:
    data = copy.deepcopy(data)
    parent = _at(data, place[:-1])
    entries = {to if key == place[-1] else key: value for key, value in parent.items()}
    parent.clear()
    parent.update(entries)
    return data


def _replaced(data: Any, place: Path, value: Any) -> Any:
    data = copy.deepcopy(data)
    parent = data
    for key in place[:-1]:
        parent = parent.setdefault(key, {}) if isinstance(parent, dict) else parent[key]
    parent[place[-1]] = value
    return data


def _checked(text: str, data: Any, source: str) -> str:
    """Return the text; what it says has to be what the change makes of the data."""
    if parse_yaml(text, source=source).data != data:
        message = f"the edited text of {source} does not say what the migration makes of it"
        raise InternalError(message, hint="nothing was changed; please report it")
    return text


def _matching(data: Any, path: Path, before: Path = ()) -> Iterator[Path]:
    """Yield the paths of what is there and fits a path with `EACH` in it."""
    if not path:
        yield before
        return
    head, rest = path[0], path[1:]
    if head == EACH and isinstance(data, dict | list):
        for key in list(data) if isinstance(data, dict) else range(len(data)):
            yield from _matching(data[key], rest, (*before, key))
    elif _has(data, (head,)):
        yield from _matching(data[head], rest, (*before, head))


def _at(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


def _has(data: Any, path: Path) -> bool:
    for key in path:
        inside = isinstance(data, dict) and key in data
        if not inside and not (isinstance(data, list) and isinstance(key, int) and key < len(data)):
            return False
        data = data[key]
    return True
