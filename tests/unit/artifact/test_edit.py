"""Editing a document as text: what is written, what stays, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from rra._base.yaml import Key, parse_yaml
from rra.artifact.edit import append, insert, remove, rename_key, set_comment, set_value
from rra.errors import FormatError, UsageError

DOCUMENT = """\
# head
version: 1.0.0   # of us
title: 'It''s old'
n: 5
flow: {a: "1", b: [x, 'y'], c: }
list:
  - one   # first
  # about two
  - two
inner:
    deep:
        k: v   # here
    # end of inner
text: |  # kept
  old
  lines

last:
"""


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (["version"], "2.0.0", "1.0.0", '"2.0.0"'),
        (["version"], "next", "1.0.0", "next"),
        (["title"], "It's new: #2", "'It''s old'", "'It''s new: #2'"),
        (["title"], "a\nb", "'It''s old'", '"a\\nb"'),
        (["title"], 3, "'It''s old'", "3"),
        (["n"], 6, "n: 5", "n: 6"),
        (["n"], "6", "n: 5", 'n: "6"'),
        (["n"], [1, {"a": "b"}], "n: 5", "n: [1, {a: b}]"),
        (["flow", "a"], "98.90", '"1"', '"98.90"'),
        (["flow", "b", 1], "z", "'y'", "'z'"),
        (["flow", "c"], "d", "c: }", 'c: "d" }'),
        (["list", 0], "none", "one ", "none "),
        (["inner", "deep", "k"], "w x", "k: v ", "k: w x "),
        (["inner", "deep"], {}, "deep:\n        k: v   # here\n", "deep: {}\n"),
        (["text"], "new\ntext\n", "  old\n  lines\n", "  new\n  text\n"),
        (["text"], "new\ntext", "|  # kept\n  old\n  lines\n", "|-  # kept\n  new\n  text\n"),
        (["text"], "short", "|  # kept\n  old\n  lines\n", "short  # kept\n"),
        (["last"], "x", "last:", "last: x"),
        (
            ["inner", "deep", "new"],
            {"a": ["b"]},
            "# here\n",
            "# here\n        new:\n            a:\n                - b\n",
        ),
        (["inner", "more"], "m", "# end of inner\n", "# end of inner\n"),
    ],
)
def test_only_the_value_is_written(path: list[Key], value: Any, old: str, new: str) -> None:
    result = set_value(DOCUMENT, path, value)
    if old != new:
        assert result == DOCUMENT.replace(old, new, 1)
    found = parse_yaml(result, source="r").data
    for key in path:
        found = found[key]
    assert found == value


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (["version"], "version: 1.0.0   # of us\n", ""),
        (["flow", "a"], 'a: "1", ', ""),
        (["flow", "b"], "b: [x, 'y'], ", ""),
        (["flow", "c"], ", c:", ""),
        (["flow", "b", 0], "x, ", ""),
        (["list", 0], "  - one   # first\n", ""),
        (["list", 1], "  - two\n", ""),
        (["inner", "deep"], ":\n    deep:\n        k: v   # here\n", ": {}\n"),
        (["text"], "text: |  # kept\n  old\n  lines\n\n", ""),
        (["last"], "last:\n", ""),
    ],
)
def test_an_entry_goes_with_its_line(path: list[Key], old: str, new: str) -> None:
    assert remove(DOCUMENT, path) == DOCUMENT.replace(old, new, 1)


def test_items_are_put_in_where_they_are_wanted() -> None:
    first = insert(DOCUMENT, ["list", 0], "zero")
    assert first == DOCUMENT.replace("  - one", "  - zero\n  - one")
    middle = insert(DOCUMENT, ["list", 1], "half")
    assert middle == DOCUMENT.replace("# first\n", "# first\n  - half\n")
    end = append(DOCUMENT, ["list"], {"a": 1, "b": [2]})
    assert end == DOCUMENT.replace("  - two\n", "  - two\n  - a: 1\n    b:\n      - 2\n")
    assert append(DOCUMENT, ["flow", "b"], "z") == DOCUMENT.replace("'y'", "'y', 'z'")


def test_a_key_is_renamed_in_its_quotes() -> None:
    assert rename_key(DOCUMENT, ["n"], "m") == DOCUMENT.replace("n: 5", "m: 5")
    text = "'a': 1\n\"b\": 2\n"
    assert rename_key(text, ["a"], "c d") == "'c d': 1\n\"b\": 2\n"
    assert rename_key(text, ["b"], "on") == "'a': 1\n\"on\": 2\n"


def test_a_list_is_set_by_its_differences() -> None:
    text = "a:\n  - 1   # one\n  - 2\n  - 3   # three\n"
    assert set_value(text, ["a"], [1, 5]) == "a:\n  - 1   # one\n  - 5\n"
    assert set_value(text, ["a"], [1, 2, 3, 4]) == text + "  - 4\n"


def test_new_entries_look_like_their_neighbours() -> None:
    json_text = '{\n  "a": {"b": "c"},\n  "d": []\n}\n'
    assert insert(json_text, ["e"], {"f": ["g"]}) == json_text.replace(
        "[]\n", '[],\n  "e": {"f": ["g"]}\n'
    )
    crlf = "a: 'x y'\r\nb: 'z'\r\n"
    assert insert(crlf, ["c"], "d: e") == crlf + "c: 'd: e'\r\n"
    assert insert("a:\n - b: c", ["a", 0, "d"], "e") == "a:\n - b: c\n   d: e\n"


@pytest.mark.parametrize(
    ("text", "path", "value", "why"),
    [
        ("a: &x {b: 1}\nc: *x\n", ["c", "b"], 2, "/c is an alias"),
        ("a: &x {b: 1}\nc: *x\n", ["a", "b"], 2, "shared with another place"),
        ("a: &x 1\nc: *x\n", ["a"], 2, "shared with another place"),
        ("a: 1\n", ["b", "c"], 2, "nothing is at /b"),
        ("a: 1\n", ["a", "c"], 2, "nothing is at /a/c"),
        ("a: [1]\n", ["a", 1], 2, "nothing is at /a/1"),
        ("a: 1\n", ["a"], float("nan"), "cannot hold this value"),
        ("a: 1\n", ["a"], {1, 2}, "cannot hold this value"),
        ("# nothing\n", ["a"], 1, "the document is empty"),
    ],
)
def test_what_cannot_be_done_is_refused(text: str, path: list[Key], value: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        set_value(text, path, value)
    assert refused.value.hint


def test_an_alias_may_be_replaced_by_a_value() -> None:
    text = "a: &x {b: 1}\nc: *x   # as a\n"
    assert set_value(text, ["c"], "own") == "a: &x {b: 1}\nc: own   # as a\n"
    assert remove(text, ["c"]) == "a: &x {b: 1}\n"


def test_refusals_of_the_other_verbs() -> None:
    with pytest.raises(UsageError, match="/a is there already"):
        insert("a: 1\n", ["a"], 2)
    with pytest.raises(UsageError, match="a plain value stands above it"):
        insert("a: 1\n", ["a", "b"], 2)
    with pytest.raises(UsageError, match="not a list"):
        append("a: 1\n", ["a"], 2)
    with pytest.raises(UsageError, match="'b' is there already"):
        rename_key("a: 1\nb: 2\n", ["a"], "b")
    with pytest.raises(UsageError, match="no key of a map"):
        rename_key("a: [1]\n", ["a", 0], "b")
    with pytest.raises(UsageError, match="cannot be removed from itself"):
        remove("a: 1\n", [])
    with pytest.raises(FormatError):
        set_value("a: [\n", ["a"], 1)


@pytest.mark.clause("versioning/unknown-fields")
def test_unknown_keys_and_comments_survive_an_edit() -> None:
    text = "rra: '1.0'   # why\nlisence: MIT   # misspelt, kept\nx-own: {deep: [1, 2.50]}\n"
    result = set_value(text, ["rra"], "1.1")
    assert result == text.replace("1.0", "1.1")
    assert parse_yaml(result, source="r").data["lisence"] == "MIT"


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (["version"], "# head\nversion", "# head\n# Kind: new\nversion"),
        (["inner", "deep", "k"], "        k: v", "        # Kind: new\n        k: v"),
        (["inner", "deep"], "    deep:", "    # Kind: new\n    deep:"),
        (["n"], "n: 5", "# Kind: new\nn: 5"),
    ],
)
def test_a_comment_stands_in_the_line_above(path: list[Key], old: str, new: str) -> None:
    said = set_comment(DOCUMENT, path, "Kind:\n  new", begins="Kind: ")
    assert said == DOCUMENT.replace(old, new, 1)
    # Said again, in other words: the line is replaced, and no other.
    again = set_comment(said, path, "Kind: newer", begins="Kind: ")
    assert again == said.replace("Kind: new\n", "Kind: newer\n")


def test_only_a_comment_that_begins_alike_is_replaced() -> None:
    text = "a:\r\n  # Python: old\r\n  # more\r\n  python: '3'\r\n"
    new = set_comment(text, ["a", "python"], "Python: new", begins="Python: ")
    assert new == text.replace("old", "new")
    other = set_comment(text, ["a", "python"], "Day: new", begins="Day: ")
    assert other == text.replace("  python:", "  # Day: new\r\n  python:")


@pytest.mark.parametrize("text", ["a: {b: 1}\n", "{a: {b: 1}}", "? a\n: ? b\n  : 1\n"])
def test_where_no_comment_can_stand_nothing_changes(text: str) -> None:
    assert set_comment(text, ["a", "b"], "why", begins="w") == text
    with pytest.raises(UsageError, match="nothing is at /a/c"):
        set_comment(text, ["a", "c"], "why", begins="w")
