"""Whatever a document looks like, an edit gives what was wanted and leaves the rest."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rra._base.yaml import Node, compose_yaml, parse_yaml
from rra._base.yaml.write import double_quoted, scalar
from rra.artifact.edit import insert, remove, rename_key, set_value
from rra.errors import FormatError, UsageError

TEXTS = st.one_of(
    st.sampled_from(["a", "a b", "no", "1.0", "98.90", "", " ", "it's", "x: y", "# c", "- a", "é"]),
    st.text(max_size=12),
).filter(lambda text: "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text))
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
)
KEYS = st.one_of(st.sampled_from(["a", "b", "c-d", "no", "1", "x y", "é:"]), TEXTS).filter(
    lambda key: key != "<<"
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
COMMENTS = st.sampled_from(["", "", "", "  # c", " # it's: {", "   "])


class Writer:
    """Writes data as YAML in a style that is drawn anew for each value."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def scalar(self, value: Any) -> str:
        if not isinstance(value, str):
            return scalar(value)
        styles = [double_quoted(value), scalar(value)]
        if value.isprintable() and json.dumps(value, ensure_ascii=False) == double_quoted(value):
            styles.append("'" + value.replace("'", "''") + "'")
        return self.draw(st.sampled_from(styles))

    def flow(self, value: Any) -> str:
        blank = self.draw(st.sampled_from(["", " "]))
        end = self.draw(st.sampled_from(["", ",", " , "]))
        if isinstance(value, dict):
            inner = [f"{self.scalar(key)}: {self.flow(one)}" for key, one in value.items()]
            return "{" + blank + ", ".join(inner) + (end if inner else "") + blank + "}"
        if isinstance(value, list):
            inner = [self.flow(one) for one in value]
            return "[" + blank + ", ".join(inner) + (end if inner else "") + blank + "]"
        return self.scalar(value)

    def block(self, value: Any, pad: str) -> list[str]:
        """Return the lines of a map or list that is not empty."""
        lines = []
        for key in value if isinstance(value, dict) else range(len(value)):
            lines += self.draw(st.sampled_from([[], [], [""], [pad + "# about"], ["# left"]]))
            head = f"{self.scalar(key)}:" if isinstance(value, dict) else "-"
            item = value[key]
            if isinstance(item, dict | list) and item and self.draw(st.booleans()):
                deeper = pad + " " * self.draw(st.integers(1, 4))
                lines += [pad + head + self.draw(COMMENTS), *self.block(item, deeper)]
            elif isinstance(item, str) and item.strip() and self._is_literal(item):
                lines += [f"{pad}{head} |-", *(f"{pad}  {row}" for row in item.split("\n"))]
            else:
                lines.append(f"{pad}{head} {self.flow(item)}{self.draw(COMMENTS)}")
        return lines

    def _is_literal(self, text: str) -> bool:
        plain = text.isprintable() and double_quoted(text) == json.dumps(text, ensure_ascii=False)
        return plain and text[0] != " " and self.draw(st.booleans())


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, Any]:
    data = draw(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
    writer = Writer(draw)
    lines = writer.block(data, "") if draw(st.integers(0, 4)) else [writer.flow(data)]
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    lines = draw(st.sampled_from([[], ["# head"], ["---"]])) + lines
    lines += draw(st.sampled_from([[], ["# end"], ["..."], [""]]))
    return end.join(lines) + draw(st.sampled_from(["", end])), data


def places(node: Node, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    keys = [key.value for key in node.keys] or range(len(node.values))
    found = [path]
    for key, value in zip(keys, node.values, strict=True):
        found += places(value, (*path, key))
    return found


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def same(first: Any, second: Any) -> bool:
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


@settings(max_examples=200, deadline=None)
@given(documents())
def test_what_is_written_is_read(document: tuple[str, Any]) -> None:
    text, data = document
    assert same(parse_yaml(text, source="f").data, data)


@settings(max_examples=300, deadline=None)
@given(documents(), st.data(), VALUES)
def test_a_value_is_set_and_nothing_else_is_touched(
    document: tuple[str, Any], data: st.DataObject, value: Any
) -> None:
    text, content = document
    root = compose_yaml(text, source="f")
    assert root is not None
    place = data.draw(st.sampled_from(places(root)[1:]))
    wanted = plain(content)
    at(wanted, place[:-1])[place[-1]] = value
    result = set_value(text, place, value)
    assert same(parse_yaml(result, source="r").data, wanted)
    node = at_node(root, place)
    if node.kind == "scalar" and node.style not in {"|", ">"}:
        assert result.startswith(text[: node.start])
        assert result.endswith(text[node.end :])


@settings(max_examples=200, deadline=None)
@given(documents(), st.data())
def test_an_entry_is_removed_renamed_or_added(
    document: tuple[str, Any], data: st.DataObject
) -> None:
    text, content = document
    root = compose_yaml(text, source="f")
    assert root is not None
    place = data.draw(st.sampled_from(places(root)[1:]))
    wanted = plain(content)
    del at(wanted, place[:-1])[place[-1]]
    assert same(parse_yaml(remove(text, place), source="r").data, wanted)
    if isinstance(place[-1], str):
        wanted = plain(content)
        inside = at(wanted, place[:-1])
        inside["renamed: é"] = inside.pop(place[-1])
        result = rename_key(text, place, "renamed: é")
        assert same(parse_yaml(result, source="r").data, wanted)
    parent = at(content, place[:-1])
    key: str | int = "added" if isinstance(parent, dict) else len(parent)
    if isinstance(parent, dict) and "added" in parent:
        return
    try:
        result = insert(text, [*place[:-1], key], ["v", {"w": None}])
    except UsageError:  # a literal text at the end of the file, without a line end
        assert not text.endswith("\n")
        return
    low = next((i for i, (a, b) in enumerate(zip(text, result, strict=False)) if a != b), len(text))
    assert result.endswith(text[low:])
    assert len(at(parse_yaml(result, source="r").data, place[:-1])) == len(parent) + 1


def at_node(root: Node, path: tuple[str | int, ...]) -> Node:
    node = root
    for key in path:
        names = [one.value for one in node.keys]
        node = node.values[names.index(key) if names else int(key)]
    return node


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *"abz019 \t\n\r-?:,[]{}#&*!|>'\"%@`~.+é\u2028\ufeff",
                "- ",
                ": ",
                "\n  ",
                "&a ",
                "*a",
                "!!str ",
                "'x'",
                '"\\u',
                "0x",
                "...",
                "---\n",
                "<<: ",
                "|-\n",
                "\\",
            ]
        ),
        max_size=40,
    ).map("".join)
)
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        document = parse_yaml(text, source="f")
    except FormatError as error:
        (problem,) = error.problems
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert 1 <= (problem.line or 0) <= len(lines) + 1
        assert (problem.column or 0) >= 1
        assert problem.clause.startswith("documents/")
        return
    json.dumps(document.data, allow_nan=False).encode()
    root = compose_yaml(text, source="f")
    for path in places(root) if root is not None else []:
        assert document.position(path)
