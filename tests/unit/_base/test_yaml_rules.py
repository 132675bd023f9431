"""Each rule of the page *documents* about YAML: what is read, as what, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from rra._base.yaml import (
    MAX_BYTES,
    MAX_COPIED,
    MAX_VALUES,
    Node,
    compose_yaml,
    decode,
    parse_bytes,
    parse_yaml,
)
from rra.errors import FormatError


def read(text: str) -> Any:
    return parse_yaml(text, source="f").data


def clause(text: str) -> tuple[str, int | None, int | None]:
    with pytest.raises(FormatError) as caught:
        parse_yaml(text, source="f")
    (problem,) = caught.value.problems
    assert caught.value.exit_code == 4
    assert caught.value.hint
    return problem.clause.removeprefix("documents/"), problem.line, problem.column


@pytest.mark.clause("documents/core-schema")
@pytest.mark.parametrize(
    ("written", "value"),
    [
        *[(word, None) for word in ("", "~", "null", "Null", "NULL")],
        *[(word, True) for word in ("true", "True", "TRUE")],
        *[(word, False) for word in ("false", "False", "FALSE")],
        *[(word, word) for word in ("yes", "no", "on", "off", "y", "n", "nUll", "tRUE", "Yes")],
        *[("010", 10), ("+10", 10), ("-0", 0), ("0", 0), ("0o10", 8), ("0x1F", 31), ("0xfe", 254)],
        *[(word, word) for word in ("0o8", "0b11", "+0x1F", "0O7", "1_000", "1_0.5", "0x", "0o")],
        *[(word, word) for word in ("12:30:45", "1:30", "2001-01-01", "2001-01-01T12:00:00Z")],
        *[("1.0", 1.0), (".5", 0.5), ("5.", 5.0), ("1e3", 1000.0), ("-1.5E-3", -0.0015)],
        *[(word, word) for word in (".", "e3", "1e", ".e3", "1.2.3", "+", "--1", "1e3.5", "NaN")],
        *[(word, word) for word in ("inf", "Infinity", "-inf", "=", "1,000", "1 000", "٣")],
    ],
)
def test_plain_scalars_follow_the_core_schema(written: str, value: Any) -> None:
    found = read(f"k: {written}\n")["k"]
    assert found == value
    assert type(found) is type(value)
    flow = read(f"k: [{written}]\n")["k"] if written and "," not in written else [value]
    assert flow == [value]
    assert read(f"k: '{written}'\n") == {"k": written}


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a:\t1\n", {"a": 1}),
        ("a: 1\t# c\n", {"a": 1}),
        ("a: b\tc\n", {"a": "b\tc"}),
        ("a:\n  b: 1\n\t\n  c: 2\n", {"a": {"b": 1, "c": 2}}),
        ("a: 1\n\t# c\nb: 2\n", {"a": 1, "b": 2}),
        ("a: [1,\t2,\n\t3]\n", {"a": [1, 2, 3]}),
        ("a: b\n \tc\n", {"a": "b c"}),
        ("a: &x\t1\nb: *x\t# c\n", {"a": 1, "b": 1}),
        ("a: b\n\n  c\n", {"a": "b\nc"}),
        ("a: b#c\n", {"a": "b#c"}),
        ("a: 1\r\nb:\r\n  - c\r\n", {"a": 1, "b": ["c"]}),
        ("a: 1\rb: 2\r", {"a": 1, "b": 2}),
        ("\ufeffa: 1\n", {"a": 1}),
        ("%YAML 1.2\n---\na: 1\n...\n# end\n", {"a": 1}),
        ("%FOO bar\n---\na: 1\n", {"a": 1}),
        ("? a\n: 1\n? b\n", {"a": 1, "b": None}),
        ("a: {b, c: , 'd':2}\n", {"a": {"b": None, "c": None, "d": 2}}),
        ("a: [b: 1]\n", {"a": [{"b": 1}]}),
        ("a: [http://x.y/z, b?]\n", {"a": ["http://x.y/z", "b?"]}),
        ("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}),
        ("a: &a k\n*a : 1\n", {"a": "k", "k": 1}),
        ('a: "\\ud83d\\ude00 \\U0001f600"\n', {"a": "😀 😀"}),
        ('a: "\\u202e\\L\\x1b"\n', {"a": "\u202e\u2028\x1b"}),
        ("a: !!str 5\nb: ! 5\nc: !!int 5\nd: !!float 5\n", {"a": "5", "b": "5", "c": 5, "d": 5.0}),
        ("a: !!null ''\nb: !!map {}\nc: !!seq []\n", {"a": None, "b": {}, "c": []}),
        ("a: |2\n    x\nb: >-\n  y\n  z\n", {"a": "  x\n", "b": "y z"}),
        ("a:\n- b\n-\n", {"a": ["b", None]}),
    ],
)
def test_what_yaml_1_2_allows_is_read(text: str, data: Any) -> None:
    assert read(text) == data


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a:\n\tb: 1\n", ("tabs", 2, 1)),
        ("-\ta\n", ("tabs", 1, 2)),
        ("a: b\n\tc\n", ("tabs", 2, 1)),
        ('a: "x"#c\n', ("yaml", 1, 7)),
        ("a: b: c\n", ("yaml", 1, 5)),
        ("a: @x\n", ("yaml", 1, 4)),
        ('b: 1\na: "\\U00110000"\n', ("yaml", 2, 4)),
        ("a: 1\n\ufeffb: 2\n", ("byte-order-mark", 2, 1)),
        ("%YAML 1.1\n---\na: 1\n", ("yaml-version", 2, 1)),
        ("%TAG ! tag:x,2000:\n---\na: 1\n", ("tags", 2, 1)),
        ("a: 1\n---\n", ("one-document", 2, 1)),
        ("a: 1\n'a': 2\n", ("duplicate-key", 2, 1)),
        ("a: {b: 1, b: 2}\n", ("duplicate-key", 1, 11)),
        ("1: x\n", ("keys-are-text", 1, 1)),
        ("a: {true: x}\n", ("keys-are-text", 1, 5)),
        (": x\n", ("keys-are-text", 1, 1)),
        ("? [a]\n: 1\n", ("keys-are-text", 1, 3)),
        ("? {a: 1}\n: 1\n", ("keys-are-text", 1, 3)),
        ("a: &x {}\n*x : 1\n", ("keys-are-text", 2, 1)),
        ("a:\n  <<: {b: 1}\n", ("merge-key", 2, 3)),
        ("a: .nan\n", ("finite-numbers", 1, 4)),
        ("a: -.INF\n", ("finite-numbers", 1, 4)),
        ("a: 1e999\n", ("finite-numbers", 1, 4)),
        ("a: 9007199254740992\n", ("integer-range", 1, 4)),
        ("a: " + "7" * 5000 + "\n", ("integer-range", 1, 4)),
        ("a: 1.00000000000000000001\n", ("number-precision", 1, 4)),
        ("a: 1e-400\n", ("number-precision", 1, 4)),
        ("a: !!int x\n", ("tags", 1, 4)),
        ("a: !!set {}\n", ("tags", 1, 4)),
        ("a: !x 1\n", ("tags", 1, 4)),
        ("a: !!timestamp 2001-01-01\n", ("tags", 1, 4)),
        ("a: *x\n", ("alias-is-defined", 1, 4)),
        ("a: &x {b: {c: *x}}\n", ("alias-cycle", 1, 15)),
        ("a: &x 1\nb: [" + "*x, " * 101 + "]\n", ("alias-limit", 2, 405)),
        ("a: " + "[" * 65 + "]" * 65, ("depth", 1, 67)),
        ("a: &x [[1]]\nb: " + "[" * 62 + "*x" + "]" * 62, ("depth", 2, 66)),
        ('a: "\\ud83d"\n', ("surrogates", 1, 4)),
        ('a: "\\0"\n', ("no-null-character", 1, 4)),
        ("a: b\x00c\n", ("characters", 1, 5)),
        ("# ok\n# \x1b[31m\n", ("characters", 2, 3)),
        ("a: \x9bb\n", ("characters", 1, 4)),
        ("a: b\x85c\n", ("line-breaks", 1, 5)),
        ("a: b\u2028c\n", ("line-breaks", 1, 5)),
        ("a: 1\n# \u202e\n", ("bidirectional", 2, 3)),
        ("a: \u2066b\n", ("bidirectional", 1, 4)),
    ],
)
def test_what_the_format_does_not_allow_is_refused(text: str, fault: tuple[str, int, int]) -> None:
    assert clause(text) == fault


@pytest.mark.clause("documents/value-limit")
def test_a_document_has_so_many_values_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_VALUES == 500_000
    monkeypatch.setattr("rra._base.yaml.compose.MAX_VALUES", 1000)
    text = "a: [" + "1," * 996
    assert len(read(text + "1]")["a"]) == 997
    assert clause(text + "1,1]")[0] == "value-limit"


def test_aliases_stand_for_so_many_values_and_no_more() -> None:
    fits = (MAX_COPIED // 100) - 1
    text = "a: &x [" + "1," * fits + "]\nb: [" + "*x," * 100 + "]\n"
    assert len(read(text)["b"]) == 100
    text = text.replace("[1,", "[1,1,", 1)
    assert clause(text)[0] == "alias-expansion"


@pytest.mark.parametrize("data", [b"\xff\xfea\x00", b"\xfe\xff\x00a", b"a: \xff\n", b"a: \xc3"])
def test_bytes_that_are_not_utf_8_are_refused(data: bytes) -> None:
    with pytest.raises(FormatError, match="not UTF-8"):
        parse_bytes(data, source="f")


def test_the_place_of_a_wrong_byte_is_said() -> None:
    with pytest.raises(FormatError) as caught:
        decode("a: é\nb: ü".encode()[:-1] + b"\xff", source="f")
    (problem,) = caught.value.problems
    assert (problem.line, problem.column, problem.clause) == (2, 4, "documents/utf-8")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf\n \n", "the file is empty"),
        (b"# nothing\n", "the file has only comments"),
        (b"null\n", "the document is null"),
        (b"---\n...\n", "the document is null"),
    ],
)
def test_a_document_of_the_format_says_something(data: bytes, says: str) -> None:
    with pytest.raises(FormatError, match=says) as caught:
        parse_bytes(data, source="f")
    assert caught.value.problems[0].clause == "documents/not-empty"
    assert "{}" in caught.value.hint


@pytest.mark.clause("documents/size")
def test_a_document_has_so_many_bytes_and_no_more() -> None:
    text = "a: é\n#" + "x" * MAX_BYTES
    exact = text.encode()[:MAX_BYTES]
    assert parse_bytes(exact, source="f").data == {"a": "é"}
    with pytest.raises(FormatError, match="larger than 4194304 bytes"):
        parse_bytes(exact + b"x", source="f")
    with pytest.raises(FormatError, match="larger than 4194304 bytes"):
        parse_yaml("é" * (MAX_BYTES // 2 + 1), source="f")


SPANS = """\
a: &x !!map   # anchor and tag
  b: 'c d'
  e:
  f: |
    text

  g: [1, {h: i}, ]
# comment
j: *x
? k
"""


def spans(node: Node) -> dict[str, str]:
    found = {}
    for key, value in zip(node.keys, node.values, strict=False):
        found[SPANS[key.start : key.end]] = SPANS[value.start : value.end]
        found |= spans(value)
    return found


def test_nodes_begin_and_end_where_they_are_written() -> None:
    root = compose_yaml(SPANS, source="f")
    assert root is not None
    inner = SPANS[SPANS.index("&x") : SPANS.index("\n# comment")]
    assert spans(root) == {
        "a": inner,
        "b": "'c d'",
        "e": "",
        "f": "|\n    text\n\n",
        "g": "[1, {h: i}, ]",
        "j": "*x",
        "k": "",
    }
    assert SPANS[: root.values[0].values[1].start].endswith("  e:")
    assert root.values[1].target is root.values[0]
    assert [node.anchor for node in root.values] == ["x", "", ""]


def test_places_inside_an_alias_are_those_of_its_anchor() -> None:
    document = parse_yaml("a: &x\n  b: 1\nc: *x\n", source="f")
    assert document.position(("c",)) == (3, 1)
    assert document.position(("c", "b")) == (2, 3)


@pytest.mark.clause("documents/decimals")
def test_a_text_keeps_its_characters() -> None:
    assert read("a: \"98.90\"\nb: 1.10.0\nc: ' 5 '\n") == {"a": "98.90", "b": "1.10.0", "c": " 5 "}
