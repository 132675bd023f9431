"""Reading documents: what is read is what was written, and a second reader reads the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml.error import YAMLError

from rra._base.jsontext import parse_json
from rra._base.yaml import YamlDocument, parse_bytes
from rra.artifact.checking import STAGES, check_bytes
from rra.errors import FormatError
from tests.conformance.corpus import IN_YAML, cases
from tests.conformance.independent_text import from_json, from_yaml

LETTERS = st.characters(codec="utf-8", exclude_characters="\x00")
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).map(lambda x: float(repr(x)))
    | st.text(LETTERS, max_size=8)
)
KEYS = st.text(LETTERS, max_size=6).filter(lambda key: key != "<<")
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
#: What YAML and JSON give a meaning, to be put anywhere.
PIECES = [
    *(
        ": ",
        "- ",
        "? ",
        "#",
        " #x",
        "&a ",
        "*a",
        "!!str ",
        "!x ",
        "|",
        ">-",
        "{",
        "}",
        "[",
        "]",
        ",",
    ),
    *(
        "'",
        '"',
        "\\",
        "\\u0000",
        "\n",
        "\n  ",
        "---\n",
        "...\n",
        "%YAML 1.1\n",
        "<<: ",
        "~",
        "null",
    ),
    *(
        "no",
        "0x1F",
        "1_000",
        "1e400",
        "9007199254740993",
        ".nan",
        "\ufeff",
        "\x85",
        "\x07",
        "é",
        "😀",
    ),
]
YAML_TEXTS = sorted(
    {
        case.file.read_bytes()
        for case in cases()
        if case.document in IN_YAML and case.file.stat().st_size < 1500
    }
)
JSON_TEXTS = sorted(
    {
        case.file.read_bytes()
        for case in cases()
        if case.document not in IN_YAML and case.file.stat().st_size < 1500
    }
)


@st.composite
def changed(draw: st.DrawFn, texts: list[bytes]) -> bytes:
    """Return a document of the corpus after a few changes of its bytes."""
    data = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(data)))
        piece = draw(st.sampled_from(PIECES).map(str.encode) | st.binary(max_size=2))
        data = data[:place] + piece + data[place + draw(st.integers(0, 4)) :]
    return data


def read(data: bytes, *, yaml: bool) -> YamlDocument | None:
    """Return the document; None when it is refused, with one fault that has place and clause."""
    try:
        parse = parse_bytes if yaml else parse_json
        return parse(data, source="f")
    except FormatError as error:
        (problem,) = error.problems
        assert problem.clause.startswith("documents/")
        assert 1 <= (problem.line or 0) <= len(data) + 1
        assert (problem.column or 0) >= 1
        return None


def second(data: bytes, *, yaml: bool) -> list[Any]:
    """Return what the second reader makes of a document; nothing when it refuses it."""
    try:
        return [from_yaml(data) if yaml else from_json(data)]
    except (ValueError, YAMLError, RecursionError):
        return []


@given(VALUES)
def test_json_reads_what_was_written(value: Any) -> None:
    document = parse_json(json.dumps(value, ensure_ascii=False).encode(), source="f")
    assert json.dumps(document.data) == json.dumps(value)  # 1 is not 1.0, and true is neither


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=4))
def test_yaml_reads_what_json_says(value: Any) -> None:
    document = parse_bytes(json.dumps(value).encode(), source="f")
    assert json.dumps(document.data) == json.dumps(value)


@given(st.dictionaries(KEYS, SCALARS, min_size=1, max_size=4))
def test_each_key_stands_where_the_document_says(value: dict[str, Any]) -> None:
    written = "".join(f"{json.dumps(key)}: {json.dumps(inner)}\n" for key, inner in value.items())
    document = parse_bytes(written.encode(), source="f")
    for number, key in enumerate(value, start=1):
        assert document.position((key,)) == (number, 1)


@settings(max_examples=400)
@given(changed(YAML_TEXTS))
def test_two_readers_of_yaml_agree(data: bytes) -> None:
    document, other = read(data, yaml=True), second(data, yaml=True)
    if b"\t" in data or b"#" in data:
        return  # ruamel.yaml, which the second one uses, reads these otherwise than YAML 1.2.2
    assert [json.dumps(one) for one in other] == ([json.dumps(document.data)] if document else [])


@settings(max_examples=400)
@given(changed(JSON_TEXTS))
def test_two_readers_of_json_agree(data: bytes) -> None:
    document, other = read(data, yaml=False), second(data, yaml=False)
    assert [json.dumps(one) for one in other] == ([json.dumps(document.data)] if document else [])


@pytest.mark.parametrize("name", ["manifest", "settings", "lock", "audit"])
@given(data=st.data())
def test_checking_ends_with_faults_that_have_clauses(name: str, data: st.DataObject) -> None:
    text = data.draw(changed(YAML_TEXTS if name in IN_YAML else JSON_TEXTS))
    checked = check_bytes(text, name, source="f")
    assert checked.stage in STAGES
    assert all("/" in (problem.clause or "") for problem in checked.problems)
