from __future__ import annotations

import json
from pathlib import Path

import pytest

from rra._base.documentfile import is_json, parse_file, read_limited
from rra._base.jsontext import MAX_BYTES, parse_json
from rra.errors import FormatError


def refusal(data: bytes) -> str:
    with pytest.raises(FormatError) as caught:
        parse_json(data, source="f.json")
    (problem,) = caught.value.problems
    return str(problem)


def test_values_and_places() -> None:
    document = parse_json(b'{"a": {"b": [1,\r\n 2.50, "\\u00e9"]},\n "c": null}\n', source="f")
    assert document.data == {"a": {"b": [1, 2.5, "é"]}, "c": None}
    assert dict(document.positions) == {
        (): (1, 1),
        ("a",): (1, 2),
        ("a", "b"): (1, 8),
        ("a", "b", 0): (1, 14),
        ("a", "b", 1): (2, 2),
        ("a", "b", 2): (2, 8),
        ("c",): (3, 2),
    }
    assert document.position(("a", "b", 7)) == (1, 8)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": 1,\n "a": 2}', "f.json:2:2: key 'a' is given twice [documents/duplicate-key]"),
        (b'{"a": 1, "\\u0061": 2}', "f.json:1:10: key 'a' is given twice"),
        (b"[1,]", "f.json:1:3: not valid JSON: a comma stands in front of nothing"),
        (b'{"a": 1,}', "f.json:1:8: not valid JSON: a comma stands in front of nothing"),
        (b"[NaN]", "f.json:1:2: NaN is no number that can be compared [documents/finite-numbers]"),
        (b"[1, -Infinity]", "f.json:1:5: -Infinity is no number that can be compared"),
        (b"[1e400]", "f.json:1:2: the number 1e400 is beyond binary64"),
        (b"[9007199254740992]", "[documents/integer-range]"),
        (b"[" + b"9" * 5000 + b"]", "[documents/integer-range]"),
        (b"[0.1000000000000000055511151231257827]", "which keeps 0.1 [documents/number-precision]"),
        (b"[1e-400]", "[documents/number-precision]"),
        (b'["\\ud83d"]', "f.json:1:2: a surrogate stands alone"),
        (b'["\\u0000"]', "[documents/no-null-character]"),
        (b"[" * 65 + b"]" * 65, "f.json:1:65: nested deeper than 64 levels [documents/depth]"),
        (b"[" * 100_000, "f.json:1:65: nested deeper than 64 levels"),
        (b"", "f.json:1:1: not valid JSON: the text ends early [documents/json]"),
        (b"{} {}", "f.json:1:4: not valid JSON: something stands behind the value"),
        (b"// c\n{}", "f.json:1:1: not valid JSON: a value is expected, not '/'"),
        (b"{'a': 1}", "f.json:1:2: not valid JSON: a key between double quotes is expected"),
        (b"{1: 2}", "f.json:1:2: not valid JSON: a key between double quotes is expected"),
        (b'{"a" 1}', "f.json:1:6: not valid JSON: a colon is expected"),
        (b"[1 2]", "f.json:1:4: not valid JSON: a comma or ] is expected"),
        (b"[01]", "f.json:1:2: not valid JSON: no number begins like '01]'"),
        (b"[+1]", "f.json:1:2: not valid JSON: a value is expected"),
        (b"[.5]", "f.json:1:2: not valid JSON: a value is expected"),
        (b"[1.]", "f.json:1:2: not valid JSON: no number begins like '1.]'"),
        (b"[tru]", "f.json:1:2: not valid JSON: a value is expected"),
        (b'["a\nb"]', "f.json:1:2: not valid JSON: a text between quotes does not end"),
        (b'["\\x41"]', "f.json:1:2: not valid JSON: a text between quotes does not end"),
        (b'["abc', "f.json:1:2: not valid JSON: a text between quotes does not end"),
        (b"\xef\xbb\xbf{}", "f.json:1:1: JSON does not begin with a byte order mark"),
        ("{}".encode("utf-16"), "f.json:1:1: not UTF-8: the file begins with the mark of UTF-16"),
        (b'{\n"\xff": 1}', "f.json:2:2: not UTF-8: invalid start byte 0xff [documents/utf-8]"),
    ],
)
def test_what_is_not_in_the_format_is_refused_with_its_place(data: bytes, message: str) -> None:
    assert message in refusal(data)


def test_limits_are_met_exactly() -> None:
    deep = b"[" * 64 + b"1" + b"]" * 64
    assert parse_json(deep, source="f").data
    numbers = b"[9007199254740991, -9007199254740991, 0.1, 1e22, 5e-324, 1.7976931348623157e308]"
    assert parse_json(numbers, source="f").data == json.loads(numbers)


def test_characters_stand_as_json_allows() -> None:
    text = '["\\ud83d\\ude00", "\u2028\u202e\ufeff", "\\\\u0000"]'
    assert parse_json(text.encode(), source="f").data == ["😀", "\u2028\u202e\ufeff", "\\u0000"]


@pytest.mark.clause("documents/size")
def test_a_large_document_is_refused_before_it_is_parsed() -> None:
    assert f"larger than {MAX_BYTES} bytes" in refusal(b"[" + b" " * MAX_BYTES)


def test_files_are_read_by_their_name_and_never_whole_when_too_large(tmp_path: Path) -> None:
    folder = tmp_path
    (folder / "rra.lock").write_bytes(b'{"a": 1}')
    (folder / "rra.yaml").write_bytes(b"a: 1\n")
    assert is_json(folder / "rra.lock")
    assert not is_json(folder / "rra.yaml")
    assert parse_file(folder / "rra.lock", source="l").data == {"a": 1}
    assert parse_file(folder / "rra.yaml", source="y").data == {"a": 1}
    assert read_limited(folder / "rra.yaml", 3) == b"a: 1"
