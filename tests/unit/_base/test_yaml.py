from __future__ import annotations

import pytest

from rra._base.yaml import MAX_BYTES, json_pointer, parse_yaml
from rra.errors import FormatError


def refusal(text: str) -> str:
    with pytest.raises(FormatError) as caught:
        parse_yaml(text, source="f.yaml")
    assert caught.value.exit_code == 4
    (problem,) = caught.value.problems
    return str(problem)


def test_values_follow_yaml_1_2() -> None:
    # YAML 1.2.2 §10.3.2: no and yes are strings, 010 is ten; the format keeps dates as text.
    text = "norway: no\noctal: 010\nhex: 0x10\nday: 2001-01-01\nnothing: ~\nyes: true\n"
    assert parse_yaml(text, source="f").data == {
        "norway": "no",
        "octal": 10,
        "hex": 16,
        "day": "2001-01-01",
        "nothing": None,
        "yes": True,
    }


def test_underscores_do_not_make_a_number() -> None:
    assert parse_yaml("n: 1_000\n", source="f").data == {"n": "1_000"}


def test_every_value_has_its_place() -> None:
    document = parse_yaml("a:\n  b: [1, {c: 2}]\n", source="f")
    assert document.position(("a", "b")) == (2, 3)
    assert document.position(("a", "b", 1, "c")) == (2, 11)
    assert document.position(("a", "b", 7)) == (2, 3)
    assert json_pointer(("a", "x/y~z", 0)) == "/a/x~1y~0z/0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", "f.yaml:2:1: key 'a' is given twice"),
        ("a: [1\n", "f.yaml:2:1: not valid YAML: expected ',' or ']'"),
        ("\tx: 1", "f.yaml:1:1: not valid YAML: found character '\\t'"),
        ("---\na: 1\n---\nb: 1\n", "f.yaml:3:1: more than one document"),
        ("a: &x [*x]\n", "f.yaml:1:8: alias *x stands inside its own anchor"),
        ("a: " + "[" * 100 + "]" * 100, "f.yaml:1:67: nested deeper than 64 levels"),
        ("a: &x 1\nb: [" + "*x, " * 101 + "]", "more than 100 aliases"),
        ("a: *nowhere\n", "f.yaml:1:4: not valid YAML: found undefined alias"),
        (
            "a: !!python/object:os.system {}\n",
            "f.yaml:1:4: the tag !!python/object:os.system is not known",
        ),
    ],
)
def test_what_is_not_in_the_format_is_refused_with_its_place(text: str, message: str) -> None:
    assert message in refusal(text)


@pytest.mark.clause("conformance/validator-is-bounded")
def test_a_large_document_is_refused_before_it_is_parsed() -> None:
    assert f"larger than {MAX_BYTES} bytes" in refusal("a: b\n" * (MAX_BYTES // 4))


@pytest.mark.clause("conformance/validator-is-bounded")
def test_billion_laughs_is_refused_by_its_size() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    assert "aliases stand for more than 10000 keys and values" in refusal("\n".join(lines))


def test_an_empty_document_is_nothing() -> None:
    assert parse_yaml("# only a comment\n", source="f").data is None
