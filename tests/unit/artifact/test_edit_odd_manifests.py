"""Each value of thirty oddly formatted manifests is edited; every byte outside stays."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rra._base.yaml import Key, Node, compose_yaml, decode
from rra.artifact.checking import check_bytes
from rra.artifact.edit import append, insert, remove, rename_key, set_value
from rra.errors import UsageError

MANIFESTS = sorted((Path(__file__).parent / "odd_manifests").glob("*.yaml"))
SHARED = {"17-anchors-and-aliases"}
"""Manifests where some values stand in two places, so that some edits have to be refused."""

Path_ = tuple[Key, ...]


def read(path: Path) -> str:
    return decode(path.read_bytes(), source=path.name)


def data(text: str) -> Any:
    root = compose_yaml(text, source="result")
    assert root is not None
    return root.value


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def nodes(node: Node, path: Path_ = ()) -> Iterator[tuple[Path_, Node]]:
    """Yield each value that is written where its path says; what an alias stands for is not."""
    yield path, node
    keys = [key.value for key in node.keys] or range(len(node.values))
    for key, inner in zip(keys, node.values, strict=True):
        yield from nodes(inner, (*path, key))


def at(value: Any, path: Path_) -> Any:
    for key in path:
        value = value[key]
    return value


def changed(before: str, after: str) -> tuple[int, int, str]:
    """Return the one stretch of the text that differs, and what stands there now."""
    size = min(len(before), len(after))
    start = next((i for i in range(size) if before[i] != after[i]), size)
    tail = next((i for i in range(size - start) if before[-1 - i] != after[-1 - i]), size - start)
    return start, len(before) - tail, after[start : len(after) - tail]


def line_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a stretch to whole lines, line ends included."""
    begin = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    found = text.find("\n", end if end == start or text[end - 1] != "\n" else end - 1)
    return begin, found + 1 if found >= 0 else len(text)


def assert_only(before: str, after: str, start: int, end: int) -> None:
    """Insist that a text is as it was outside of a stretch."""
    assert after.startswith(before[:start])
    assert after.endswith(before[end:])
    assert len(after) >= start + len(before) - end


SCALARS = ("fresh", "needs: quotes # here", "two\nlines\n", 7, True, None, [1, "a"])
ENTRIES = ("plain", "98.90", {"a": {"b": [1, {"c": "d"}]}}, [{"a": 1, "b": "2"}, []])
ITEMS = ("new", {"a": 1, "b": {"c": [2]}})
NAMES = ("x-renamed", "needs: quotes")
# Each place gets some of the values in turn, so that every kind is met in every manifest.


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_the_manifest_is_valid(path: Path) -> None:
    assert not check_bytes(path.read_bytes(), "manifest", source=path.name).errors


def test_there_are_thirty() -> None:
    assert len(MANIFESTS) == 30


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_any_scalar_can_be_set(path: Path) -> None:
    text = read(path)
    root = compose_yaml(text, source=path.name)
    assert root is not None
    done = refused = 0
    for count, (place, node) in enumerate(nodes(root)):
        if node.kind != "scalar":
            continue
        for value in (SCALARS[count % 7],):
            wanted = plain(root.value)
            at(wanted, place[:-1])[place[-1]] = value
            try:
                result = set_value(text, place, value)
            except UsageError:
                refused += 1
                continue
            done += 1
            assert plain(data(result)) == wanted
            assert_only(text, result, node.start, node.end)
    assert done > 12
    assert not refused or path.stem in SHARED


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_any_map_takes_a_key(path: Path) -> None:
    text = read(path)
    root = compose_yaml(text, source=path.name)
    assert root is not None
    done = 0
    for count, (place, node) in enumerate(nodes(root)):
        if node.kind != "map":
            continue
        for value in (ENTRIES[count % 4],):
            wanted = plain(root.value)
            at(wanted, place)["x-new"] = value
            try:
                result = insert(text, [*place, "x-new"], value)
            except UsageError:
                assert path.stem in SHARED
                continue
            done += 1
            assert plain(data(result)) == wanted
            low, high, added = changed(text, result)
            assert low == high, "something was removed"
            assert ("\r\n" in added) == ("\r\n" in text and "\n" in added)
    assert done >= 3


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_any_list_takes_an_item(path: Path) -> None:
    text = read(path)
    root = compose_yaml(text, source=path.name)
    assert root is not None
    for place, node in nodes(root):
        if node.kind != "list":
            continue
        for index in range(len(node.values) + 1):
            for value in (ITEMS[index % 2],):
                wanted = plain(root.value)
                at(wanted, place).insert(index, value)
                try:
                    result = insert(text, [*place, index], value)
                except UsageError:
                    assert path.stem in SHARED
                    continue
                assert plain(data(result)) == wanted
                low, high, _ = changed(text, result)
                assert low == high, "something was removed"
                if index == len(node.values):
                    assert append(text, place, value) == result


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_any_entry_can_be_removed(path: Path) -> None:
    text = read(path)
    root = compose_yaml(text, source=path.name)
    assert root is not None
    for place, node in nodes(root):
        if not place:
            continue
        wanted = plain(root.value)
        del at(wanted, place[:-1])[place[-1]]
        try:
            result = remove(text, place)
        except UsageError:
            assert path.stem in SHARED
            continue
        assert plain(data(result)) == wanted
        parent = at_node(root, place[:-1])
        names = [key.value for key in parent.keys]
        first = parent.keys[names.index(place[-1])] if names else node
        index = names.index(place[-1]) if names else int(place[-1])
        low = line_span(text, first.start, first.start)[0]
        high = line_span(text, node.start, max(node.end, first.end))[1]
        if parent.flow or index == 0:
            # the comma, or the indentation of the entry that takes its place
            low = min(low, parent.start if len(parent.values) == 1 else low)
            low = min([low, *[one.end for one in parent.values[:index][-1:]]])
            after = (parent.keys or parent.values)[index + 1 : index + 2]
            high = max([high, *[one.start for one in after]])
        if not names:
            low = min([low, *[one.end for one in parent.values[:index][-1:]], parent.start])
        if len(parent.values) == 1 and len(place) > 1:
            low = min(low, parent.start, at_key_end(root, place[:-1]))
        assert_only(text, result, low, high)


def at_node(root: Node, path: Path_) -> Node:
    node = root
    for key in path:
        names = [one.value for one in node.keys]
        node = node.values[names.index(key) if names else int(key)]
    return node


def at_key_end(root: Node, path: Path_) -> int:
    parent = at_node(root, path[:-1])
    names = [one.value for one in parent.keys]
    return parent.keys[names.index(path[-1])].end if names else parent.start


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_any_key_can_be_renamed(path: Path) -> None:
    text = read(path)
    root = compose_yaml(text, source=path.name)
    assert root is not None
    for count, (place, _) in enumerate(nodes(root)):
        if not place or not isinstance(place[-1], str):
            continue
        for name in NAMES[count % 2 :][:1]:
            wanted = plain(root.value)
            inside = at(wanted, place[:-1])
            renamed = {name if key == place[-1] else key: one for key, one in inside.items()}
            inside.clear()
            inside.update(renamed)
            try:
                result = rename_key(text, place, name)
            except UsageError:
                assert path.stem in SHARED
                continue
            assert json.dumps(data(result)) == json.dumps(wanted)
            parent = at_node(root, place[:-1])
            key = next(one for one in parent.keys if one.value == place[-1])
            assert_only(text, result, key.start, key.end)


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_what_is_set_and_set_back_is_the_same_text(path: Path) -> None:
    text = read(path)
    root = compose_yaml(text, source=path.name)
    assert root is not None
    for place, node in nodes(root):
        same = plain(node.value)
        assert set_value(text, place, same) == text
        if node.kind == "scalar" and isinstance(same, str) and node.style in {"'", '"'}:
            if (
                not node.bare
                or "\n" in text[node.start : node.end]
                or "\\" in text[node.start : node.end]
            ):
                continue
            assert set_value(set_value(text, place, "other"), place, same) == text


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_a_whole_map_is_set_by_its_differences(path: Path) -> None:
    text = read(path)
    root = compose_yaml(text, source=path.name)
    assert root is not None
    wanted = copy.deepcopy(plain(root.value))
    wanted["version"] = "2.0.0"
    wanted["x-added"] = {"why": ["a", "b"]}
    del wanted["license"]
    result = set_value(text, (), wanted)
    assert plain(data(result)) == wanted
    assert result.startswith("\ufeff") == text.startswith("\ufeff")
