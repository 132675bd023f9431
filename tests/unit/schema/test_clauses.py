"""Which clause a fault breaks: the nearest ``x-clause`` on the way through the schema."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from rra._base.yaml import parse_yaml
from rra.schema import check_against, clause_ids, clause_of, subschemas
from tests.support.source import ROOT

SCHEMA: dict[str, Any] = {
    "x-clause": "page/schema",
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {
            "type": "string",
            "pattern": "^[a-z]+$",
            "x-clause": {"type": "page/name-is-text", "pattern": "page/name-shape"},
        },
        "size": {"x-clause": {"minimum": "page/size", "*": "page/size-else"}, "minimum": 1},
        "x-clause": {"type": "integer"},
        "runs": {"type": "array", "items": {"$ref": "#/$defs/run"}, "x-clause": "page/runs"},
        "free": {"type": "object", "propertyNames": {"maxLength": 2, "x-clause": "page/key"}},
        "either": {
            "oneOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "items": {"type": "string", "x-clause": "page/item"}},
            ],
            "x-clause": "page/either",
        },
    },
    "$defs": {"run": {"x-clause": {"required": "page/run-keys"}, "required": ["id"]}},
}


@pytest.mark.parametrize(
    ("text", "clause", "pointer"),
    [
        ("{}", "page/schema", ""),
        ("{name: 1}", "page/name-is-text", "/name"),
        ("{name: A}", "page/name-shape", "/name"),
        ("{name: a, size: 0}", "page/size", "/size"),
        ("{name: a, x-clause: a}", "page/schema", "/x-clause"),
        ("{name: a, runs: 1}", "page/runs", "/runs"),
        ("{name: a, runs: [{id: 1}, {}]}", "page/run-keys", "/runs/1"),
        ("{name: a, free: {long: 1}}", "page/key", "/free"),
        ("{name: a, either: 1}", "page/either", "/either"),
        ("{name: a, either: ['', 1]}", "page/item", "/either/1"),
        ("{name: a, either: ''}", "page/either", "/either"),
    ],
)
def test_the_nearest_one_wins(text: str, clause: str, pointer: str) -> None:
    (problem,) = check_against(parse_yaml(text, source="x.yaml"), SCHEMA, "none/else")
    assert (problem.clause, problem.pointer) == (clause, pointer)


def test_a_schema_without_any_gives_the_other_one() -> None:
    schema = {"properties": {"a": {"type": "string"}}}
    (problem,) = check_against(parse_yaml("a: 1", source="x"), schema, "none/else")
    assert problem.clause == "none/else"


def test_references_are_followed_on_the_way_and_loops_end() -> None:
    path = ["properties", "runs", "items", "required"]
    assert clause_of(SCHEMA, path, "none/else") == "page/run-keys"
    loop = {"$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {"x": {"$ref": "#/$defs/a"}}}
    assert clause_of(loop, ["properties", "x", "type"], "none/else") == "none/else"
    assert clause_of(SCHEMA, ["nowhere", 3, "type"], "none/else") == "page/schema"


def test_all_ids_are_listed_but_not_those_of_values() -> None:
    schema = {"default": {"x-clause": "a/no"}, "properties": {"const": {"x-clause": "a/yes"}}}
    assert list(clause_ids(schema)) == ["a/yes"]
    assert set(clause_ids(SCHEMA)) >= {"page/schema", "page/size-else", "page/key", "page/item"}


def test_subschemas_have_their_path() -> None:
    paths = [path for path, _ in subschemas(SCHEMA)]
    assert ("properties", "either", "oneOf", 1, "items") in paths
    assert ("$defs", "run") in paths
    assert () in paths


def test_the_example_of_the_page() -> None:
    page = (ROOT / "spec/v1/conformance.md").read_text("utf-8")
    (fence,) = re.findall(
        r"^```json example=test [^\n]*\n(.*?)\n```", page, re.MULTILINE | re.DOTALL
    )
    example = json.loads(fence)
    for fault in example["faults"]:
        document = parse_yaml(json.dumps(fault["document"]), source="x.json")
        found = check_against(document, example["schema"], "none/else")
        errors = [(one.pointer, one.clause) for one in found if one.severity == "error"]
        assert errors == [(fault["pointer"], fault["clause"])]


def test_a_value_of_another_type_is_one_fault() -> None:
    schema = {
        "properties": {"a": {"type": "string", "enum": ["b"], "x-clause": {"enum": "p/word"}}}
    }
    (problem,) = check_against(parse_yaml("a: 1", source="x"), schema, "none/else")
    assert problem.clause == "none/else"
    (problem,) = check_against(parse_yaml("a: c", source="x"), schema, "none/else")
    assert problem.clause == "p/word"
