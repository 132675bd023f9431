"""``format`` is enforced: values that the standards allow, and values that they do not."""

from __future__ import annotations

import pytest

from rra._base.resources import schema_names
from rra._base.yaml import parse_yaml
from rra.schema import FORMATS, check_against, load_schema, subschemas

CASES = [
    ("date", "2026-02-28", True),
    ("date", "2024-02-29", True),
    ("date", "2026-02-29", False),
    ("date", "20260228", False),
    ("date", "2026-2-28", False),
    ("date-time", "2026-11-29T18:00:00Z", True),
    ("date-time", "1990-12-31T23:59:60Z", True),
    ("date-time", "2026-11-29t18:00:00.25+01:00", True),
    ("date-time", "2026-11-29T18:00:00", False),
    ("date-time", "2026-11-29 18:00:00Z", False),
    ("date-time", "2026-11-29T24:00:00Z", False),
    ("date-time", "2026-11-31T18:00:00Z", False),
    ("email", "a@b.example", True),
    ("email", "a at b", False),
    ("regex", "acc: (?P<value>[0-9.]+)", True),
    ("regex", "acc: (", False),
    ("uri", "https://w3id.org/rra/v1", True),
    ("uri", "doi:10.1000/182", True),
    ("uri", "w3id.org/rra", False),
    ("uri", "https://a.example/a b", False),
    ("uri", "https://a.example/%zz", False),
    ("uri-reference", "envelope.schema.json#/$defs/x", True),
    ("uri-reference", "a b", False),
]


@pytest.mark.parametrize(("name", "text", "right"), CASES)
def test_format(name: str, text: str, right: bool) -> None:  # noqa: FBT001
    schema = {"properties": {"a": {"format": name}}}
    problems = check_against(parse_yaml(f"a: '{text}'", source="x"), schema, "none/else")
    assert (problems == []) is right


def test_a_format_is_about_text_only() -> None:
    schema = {"properties": {"a": {"format": "date"}}}
    assert check_against(parse_yaml("a: 3", source="x"), schema, "none/else") == []


def test_schemas_use_only_formats_that_are_enforced() -> None:
    used = {
        node["format"]
        for name in schema_names()
        for _, node in subschemas(load_schema(name))
        if "format" in node
    }
    assert used <= set(FORMATS)
    assert {name for name, _, _ in CASES} == set(FORMATS)
