"""Clauses that no single object has: keys of one's own, versions, names, isolation."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rra._base.yaml import YamlDocument, parse_yaml
from rra.artifact.checking import JSON_DOCUMENTS, YAML_DOCUMENTS, check_bytes
from rra.artifact.semantics import check_semantics
from rra.errors import FormatError
from rra.sandbox import best_sandbox
from rra.schema import check_document
from rra.schema.validate import load_schema
from rra.verify import Options, verify_artifact
from tests.support.artifacts import COMPUTES, make_artifact

CORPUS = Path(__file__).parents[2] / "schemas" / "conformance" / "v1"
DOCUMENTS = (*YAML_DOCUMENTS, *JSON_DOCUMENTS)
FREE = {"deep": [1, None, {"lisence": True}], "text": "⟦"}


def load(path: Path) -> Any:
    text = path.read_text("utf-8")
    return json.loads(text) if path.suffix == ".json" else parse_yaml(text, source=str(path)).data


def valid_cases(document: str) -> Iterator[Any]:
    """Yield what the valid cases of a document say that are made for the semantic stage."""
    for expected in sorted(CORPUS.glob("valid/*/*/expect.yaml")):
        case = load(expected)
        if case["document"] == document and case["stage"] == "semantic":
            yield load(expected.parent / case["file"])


def checked(data: Any, name: str) -> list[tuple[str, str, str]]:
    document = YamlDocument(data, "", name, {})
    found = [*check_document(document, name), *check_semantics(document, name)]
    return [(one.severity, one.clause, one.pointer) for one in found]


def named(data: Any, schema: Any, root: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects of a document whose keys its schema names."""
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    for branch in (*schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("allOf", ())):
        kind = branch.get("type", "object" if "properties" in branch or "$ref" in branch else "")
        if kind == "object" and isinstance(data, dict):
            yield from named(data, branch, root)
    if isinstance(data, list):
        for item in data:
            yield from named(item, schema.get("items", {}), root)
    if not isinstance(data, dict):
        return
    properties = schema.get("properties", {})
    if properties:
        yield data
    other = schema.get("additionalProperties")
    for key, value in list(data.items()):
        inner = properties.get(key, other if isinstance(other, dict) else {})
        yield from named(value, inner, root)


@pytest.mark.clause("extensions/x-keys")
@pytest.mark.parametrize("name", DOCUMENTS)
def test_keys_of_ones_own_are_accepted_everywhere(name: str) -> None:
    tried = 0
    for data in valid_cases(name):
        spoiled = copy.deepcopy(data)
        objects = {id(one): one for one in named(spoiled, load_schema(name), load_schema(name))}
        for one in objects.values():
            one["x-lab"] = copy.deepcopy(FREE)
        assert sorted(checked(spoiled, name)) == sorted(checked(data, name))
        tried += len(objects)
    assert tried or name in {"settings", "repairs", "references"}


@pytest.mark.clause("versioning/documents-say-it")
@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("version", [1.0, 1, "1", "v1.0", "1.0.0", "1.x"])
def test_a_version_is_text_with_two_numbers(name: str, version: object) -> None:
    if "rra" not in load_schema(name).get("properties", {}):
        assert name not in {"manifest", "lock", "bundle-config", "execution-record"}
        return
    for data in valid_cases(name):
        if data["rra"] != "1.0":
            continue  # words of a newer number are faults without it
        document = YamlDocument({**data, "rra": version}, "", name, {})
        found = [one for one in check_document(document, name) if one.severity == "error"]
        assert [one.pointer for one in found] == ["/rra"]


@pytest.mark.clause("privacy/anonymous-artifact")
def test_an_artifact_needs_no_name_of_a_person() -> None:
    smallest = load(CORPUS / "valid" / "manifest" / "smallest" / "rra.yaml")
    assert not {"authors", "paper", "source"} & set(smallest)
    assert checked(smallest, "manifest") == []
    for outer in ("authors", "paper", "source"):
        assert outer not in load_schema("manifest")["required"]


@pytest.mark.clause("security/addresses-without-credentials")
@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("source",), {"repository": "https://ada:secret@example.org/x.git"}),
        (("source",), {"repository": "https://token@example.org/x.git"}),
        (("paper",), {"title": "T", "url": "https://ada:secret@example.org/x"}),
    ],
)
def test_addresses_with_credentials_are_refused(place: tuple[str, ...], value: Any) -> None:
    smallest = load(CORPUS / "valid" / "manifest" / "smallest" / "rra.yaml")
    clean = json.loads(json.dumps(value).replace("ada:secret@", "").replace("token@", ""))
    commit = {"commit": "0123456789" * 4} if place == ("source",) else {}
    assert checked({**smallest, place[0]: {**clean, **commit}}, "manifest") == []
    found = checked({**smallest, place[0]: {**value, **commit}}, "manifest")
    assert [severity for severity, _, _ in found] == ["error"]


@pytest.mark.clause("security/no-code-from-documents")
@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system ['true']\n",
        "a: !!python/name:os.system\n",
        "a: !ruby/object:Gem::Installer {}\n",
        "a: !custom x\n",
        "!!binary aGVsbG8=\n",
    ],
)
def test_a_tag_makes_no_object(text: str) -> None:
    with pytest.raises(FormatError):
        parse_yaml(text, source="rra.yaml")
    assert check_bytes(text.encode(), "manifest", source="rra.yaml").stage == "yaml"


@pytest.mark.clause("security/no-silent-fallback")
def test_a_run_without_isolation_says_so(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES})
    options = Options(sandbox=best_sandbox("none"))
    found = verify_artifact(artifact, tmp_path / "v", options)
    assert found.plan.sandbox == "none"
    assert {run.sandbox for run in found.runs} == {"none"}
    assert all(run.sandbox_gaps for run in found.runs)
    assert any(note.startswith("not isolated: ") for note in found.notes)
    assert "the runs were not isolated" in found.level_reasons


@pytest.mark.needs("bwrap")
@pytest.mark.clause("security/isolation")
def test_the_strongest_isolation_that_works_is_used(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES})
    found = verify_artifact(artifact, tmp_path / "v")
    assert found.plan.sandbox == "bwrap"
    assert {run.sandbox for run in found.runs} == {"bwrap"}
