"""The schemas of the format: in the subset that every reader knows, described, and consistent."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import regress

from tests.support.source import ROOT

FOLDER = ROOT / "schemas" / "v1"
SCHEMAS = {path.name.removesuffix(".schema.json"): path for path in FOLDER.glob("*.schema.json")}
BASE = "https://w3id.org/rra/v1/"

#: Keywords under which further subschemas stand: one, a list of them, or a map of them.
ONE = {"additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"}
MANY = {"allOf", "anyOf", "oneOf"}
NAMED = {"$defs", "patternProperties", "properties"}
#: Keywords that mean the same in 2020-12 and in draft-07, and that decide.
DECIDING = (ONE | MANY | {"patternProperties", "properties"}) | {
    *("const", "enum", "type", "required", "uniqueItems", "pattern", "multipleOf"),
    *("minProperties", "maxProperties", "minItems", "maxItems", "minLength", "maxLength"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
}
TELLING = {"$comment", "title", "description", "examples", "default", "deprecated"}
TELLING |= {"x-clause", "x-open"}
ALLOWED = DECIDING | TELLING | {"$defs", "$ref"}

Subschema = tuple[str, Any]


def load(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(SCHEMAS[name].read_text(encoding="utf-8"))
    return loaded


def subschemas(schema: Any, pointer: str = "") -> Iterator[Subschema]:
    """Yield every subschema with its pointer, the schema itself first."""
    yield pointer, schema
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key in ONE:
            yield from subschemas(value, f"{pointer}/{key}")
        elif key in MANY:
            for index, inner in enumerate(value):
                yield from subschemas(inner, f"{pointer}/{key}/{index}")
        elif key in NAMED:
            for name, inner in value.items():
                yield from subschemas(inner, f"{pointer}/{key}/{name}")


def patterns(schema: Any) -> Iterator[Subschema]:
    for pointer, inner in subschemas(schema):
        if isinstance(inner, dict):
            if "pattern" in inner:
                yield f"{pointer}/pattern", inner["pattern"]
            for key in inner.get("patternProperties", {}):
                yield f"{pointer}/patternProperties", key


def unportable(pattern: str) -> list[str]:
    """Return what of a pattern means different things to ECMA-262, Python and others."""
    bare = pattern.replace(r"\\", "").replace(r"[\s\S]", "[]")
    outside = re.sub(r"\[(?:\\.|[^\]\\])*\]", "[]", bare)
    found = re.findall(r"\\[dDwWsSbBAZzpPkG]|\(\?[^:=!]", bare)
    return found + re.findall(r"(?<!\\)\.", outside)


@pytest.fixture(params=sorted(SCHEMAS))
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


def test_each_schema_is_valid_in_both_dialects(name: str) -> None:
    schema = load(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"{BASE}{name}.schema.json"
    for dialect in (jsonschema.Draft202012Validator, jsonschema.Draft7Validator):
        dialect.check_schema(schema)


def test_only_keywords_that_both_dialects_read_alike_are_used(name: str) -> None:
    schema = load(name)
    unknown = [
        f"{pointer}: {key}"
        for pointer, inner in subschemas(schema)
        if isinstance(inner, dict)
        for key in inner
        if key not in (ALLOWED | {"$schema", "$id"} if not pointer else ALLOWED)
    ]
    assert unknown == []
    lists = [at for at, inner in subschemas(schema) if isinstance(inner, list)]
    assert lists == []  # `items` as a list is draft-07 only


def test_no_constraint_stands_beside_a_reference(name: str) -> None:
    faults = []
    schema = load(name)
    for pointer, inner in subschemas(schema):
        if isinstance(inner, dict) and "$ref" in inner:
            faults += [f"{pointer}: {key}" for key in sorted(set(inner) & DECIDING)]
            target = inner["$ref"].removeprefix("#/$defs/")
            if target not in schema.get("$defs", {}):
                faults.append(f"{pointer}: {inner['$ref']}")
    assert faults == []


def test_definitions_are_used(name: str) -> None:
    schema = load(name)
    used = {inner["$ref"] for _, inner in subschemas(schema) if "$ref" in dict_of(inner)}
    assert sorted({f"#/$defs/{key}" for key in schema.get("$defs", {})} - used) == []


def dict_of(schema: Any) -> dict[str, Any]:
    return schema if isinstance(schema, dict) else {}


def test_everything_that_an_editor_shows_is_described(name: str) -> None:
    schema = load(name)
    faults = [] if schema.get("title") and schema.get("description") else ["the root"]
    for pointer, inner in subschemas(schema):
        for word in ("properties", "$defs", "patternProperties"):
            for key, value in dict_of(inner).get(word, {}).items():
                target = schema["$defs"][value["$ref"].rsplit("/", 1)[1]] if "$ref" in value else {}
                wanted = (
                    ("description",) if word == "patternProperties" else ("title", "description")
                )
                faults += [
                    f"{pointer}/{word}/{key}: {one}"
                    for one in wanted
                    if not (value.get(one) or target.get(one) or "").strip()
                ]
    assert faults == []


def test_each_example_and_default_is_valid_where_it_stands(name: str) -> None:
    schema = load(name)
    faults = []
    for pointer, inner in subschemas(schema):
        if not isinstance(inner, dict):
            continue
        here = {**inner, "$defs": schema.get("$defs", {})}
        values = list(inner.get("examples", []))
        values += [inner["default"]] if "default" in inner else []
        for value in values:
            errors = jsonschema.Draft202012Validator(here).iter_errors(value)
            faults += [f"{pointer}: {value!r}: {error.message}" for error in errors]
    assert faults == []


def test_patterns_mean_the_same_everywhere(name: str) -> None:
    """Schemas are applied by ECMA-262 engines, by Python and by others: no `\\d`, no dot."""
    faults = []
    for pointer, pattern in patterns(load(name)):
        re.compile(pattern)
        regress.Regex(pattern, "u")
        faults += [f"{pointer}: {pattern}: {what}" for what in unportable(pattern)]
    assert faults == []


def test_the_lock_of_released_schemas_holds() -> None:
    """A schema of a released version never changes: its digest stands in schemas/LOCK."""
    text = (ROOT / "schemas" / "LOCK").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    for line in lines:
        digest, place = line.split("  ", 1)
        assert hashlib.sha256((ROOT / "schemas" / place).read_bytes()).hexdigest() == digest, place


def test_every_file_of_the_folder_is_a_schema() -> None:
    assert [path.name for path in Path(FOLDER).iterdir() if path not in SCHEMAS.values()] == []
