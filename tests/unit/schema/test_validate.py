from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from rra._base.yaml import parse_yaml
from rra.errors import Problem
from rra.schema import check_document, load_schema

ROOT = Path(__file__).resolve().parents[3]
NAMES = sorted(p.name.removesuffix(".schema.json") for p in (ROOT / "schemas/v1").glob("*.json"))
SMALLEST = """\
rra: "1.0"
name: wine-discriminant
version: 1.0.0
license: MIT
environments: {cpu: {kind: pylock, python: "3.11", lock: environment/cpu/pylock.toml}}
launchers:
  lda: {entry: launchers/lda.sh, environment: cpu, outputs: [metrics.json]}
experiments:
  table1-lda:
    outcomes:
      accuracy: {type: number, reported: "98.9", unit: percent,
        selector: {launcher: lda, file: metrics.json, json: /accuracy, unit: fraction}}
"""


def problems(text: str) -> list[Problem]:
    return check_document(parse_yaml(text, source="rra.yaml"), "manifest")


def test_the_smallest_manifest_of_the_format_is_valid() -> None:
    assert problems(SMALLEST) == []


@pytest.mark.parametrize("key", ["rra", "name", "version", "license", "launchers", "experiments"])
def test_each_required_key_is_missed(key: str) -> None:
    data = parse_yaml(SMALLEST, source="x").data
    del data[key]
    (problem,) = problems(json.dumps(data))
    assert problem.message == f"the document lacks the required key {key}"


@pytest.mark.parametrize(
    ("old", "new", "place", "message", "hint"),
    [
        ("1.0.0", "1.0", "3:1", "version must be text, not the number 1.0", 'version: "1.0"'),
        ('"3.11"', "3.11", "5:36", "python must be text, not the number 3.11", 'python: "3.11"'),
        ('"98.9"', "98.9", "11:32", "reported must be text, not the number 98.9", '"98.9"'),
        ("pylock,", "pylok,", "5:22", "kind is 'pylok', which is none of", "did you mean pylock?"),
        ("launchers/lda.sh", "/x/lda.sh", "7:9", "entry is the absolute path", "copy the file"),
        ("launchers/lda.sh", "a/../../l", "7:9", "a path that climbs out", "copy the file"),
        (
            "json: /accuracy, ",
            "",
            "12:9",
            "selector must have exactly one locator",
            "give one of json",
        ),
        (
            "json: /accuracy, ",
            "json: /a, regex: x, ",
            "12:9",
            "selector must have exactly one locator",
            "give one of json",
        ),
    ],
)
def test_a_fault_is_said_with_place_and_remedy(
    old: str, new: str, place: str, message: str, hint: str
) -> None:
    (problem,) = problems(SMALLEST.replace(old, new, 1))
    assert f"{problem.line}:{problem.column}" == place
    assert message in problem.message
    assert hint in problem.hint
    assert problem.severity == "error"


def test_unknown_keys_are_warned_with_the_nearest_known_key() -> None:
    text = SMALLEST.replace("unit: percent,", "unit: percent, selektor: 1, x-mine: 2,")
    (problem,) = problems(text + "licence: MIT\n")[:1]
    assert problem.severity == "warning"
    warnings = problems(text + "licence: MIT\n")
    assert [w.message for w in warnings] == [
        "unknown key 'selektor', nearest known key selector",
        "unknown key 'licence', nearest known key license",
    ]
    assert warnings[1].line == 13


def test_several_faults_come_at_once_in_order_of_place() -> None:
    text = SMALLEST.replace("1.0.0", "1").replace("pylock,", "pylok,").replace("type: number, ", "")
    assert [p.line for p in problems(text)] == [3, 5, 11]


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_valid_for_2020_12_and_read_by_draft_07(name: str) -> None:
    schema = load_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["$id"] == f"https://w3id.org/rra/v1/{name}.schema.json"


def undescribed(node: object, where: str = "") -> list[str]:
    """Places of properties that neither describe themselves nor point to what does."""
    if isinstance(node, list):
        return [w for i, item in enumerate(node) for w in undescribed(item, f"{where}/{i}")]
    if not isinstance(node, dict):
        return []
    properties = node.get("properties", {})
    found = [
        f"{where}/{key}"
        for key, value in properties.items()
        if not {"description", "$ref"} & set(value)
    ]
    return found + [w for k, v in node.items() for w in undescribed(v, f"{where}/{k}")]


@pytest.mark.parametrize("name", NAMES)
def test_every_property_is_described(name: str) -> None:
    assert undescribed(load_schema(name)) == []
