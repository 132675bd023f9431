"""The schemas for editors: self-contained draft-07, and what check-jsonschema says with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rra import api
from tests.conformance.checker import check_files
from tests.support.source import ROOT

EDITOR = ROOT / "schemas" / "editor"
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
      accuracy:
        type: number
        reported: "98.9"
        unit: percent
        selector: {launcher: lda, file: metrics.json, json: /accuracy, unit: fraction}
"""
#: What a change to the smallest manifest makes of it, and the place that has to be named.
FAULTS = {
    "version: 1.0.0": ("version: 1.0", "$.version"),
    "license: MIT\n": ("", "$"),
    "kind: pylock": ("kind: conda-lock", "$.environments.cpu.kind"),
    'reported: "98.9"': (
        "reported: 98.9",
        "$.experiments['table1-lda'].outcomes.accuracy.reported",
    ),
    "entry: launchers/lda.sh": ("entry: ../lda.sh", "$.launchers.lda.entry"),
    "  lda: {": ("  LDA: {", "$.launchers"),
}


def bundle() -> dict[str, dict[str, Any]]:
    return {
        path.name.removesuffix(".schema.json"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(EDITOR.glob("*.schema.json"))
    }


def everything(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every key with its value, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key, inner
            yield from everything(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from everything(inner)


def test_each_document_has_a_schema_for_editors() -> None:
    published = {path.name for path in (ROOT / "schemas/v1").glob("*.schema.json")}
    assert {path.name for path in EDITOR.iterdir()} == published | {"catalog.json"}


@pytest.mark.parametrize("name", sorted(bundle()))
def test_each_is_self_contained_draft_07(name: str) -> None:
    schema = bundle()[name]
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert schema["$id"] == f"https://w3id.org/rra/v1/editor/{name}.schema.json"
    jsonschema.Draft7Validator.check_schema(schema)
    for key, value in everything(schema):
        assert key not in {"$defs", "x-clause"}
        if key == "$ref":
            assert value.removeprefix("#/definitions/") in schema["definitions"]


@pytest.mark.parametrize("name", sorted(bundle()))
def test_hovering_any_key_shows_a_title_and_a_description(name: str) -> None:
    schema = bundle()[name]
    for key, value in everything(schema):
        if key == "properties":
            for inner, said in value.items():
                # editors show what a reference leads to, and beside it what is said there
                meant = said.get("$ref", "").removeprefix("#/definitions/")
                shown = schema["definitions"][meant] | said if meant else said
                assert shown["title"].strip(), inner
                assert shown["markdownDescription"].strip(), inner


def test_hovering_a_key_links_its_clause() -> None:
    shown = bundle()["manifest"]["properties"]["version"]["markdownDescription"]
    clause = "manifest/version-is-text"
    assert f"[{clause}](https://w3id.org/rra/v1/spec/manifest#version-is-text)" in shown


def test_the_catalog_names_the_manifest_by_its_file() -> None:
    catalog = json.loads((EDITOR / "catalog.json").read_text(encoding="utf-8"))
    assert [entry["url"] for entry in catalog["schemas"]] == [s["$id"] for s in bundle().values()]
    matched = {one for entry in catalog["schemas"] for one in entry.get("fileMatch", [])}
    # names such as settings.yaml are other tools' too: editors must not take those for ours
    assert matched == {"rra.yaml"}


def test_the_command_prints_a_schema_for_editors() -> None:
    printed = api.spec_schema("manifest", editor=True)
    assert json.loads(printed.text) == bundle()["manifest"]
    assert printed.to_json()["name"] == "manifest"


def test_faults_are_said_with_what_to_do() -> None:
    version = bundle()["manifest"]["properties"]["version"]
    assert "quotes" in version["errorMessage"]
    assert version["description"] in version["patternErrorMessage"]


def test_valid_and_invalid_manifests(tmp_path: Path) -> None:
    files = {tmp_path / "valid.yaml": SMALLEST}
    for number, (old, (new, _)) in enumerate(FAULTS.items()):
        assert SMALLEST.count(old) == 1
        files[tmp_path / f"{number}.yaml"] = SMALLEST.replace(old, new)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    found = check_files(EDITOR / "manifest.schema.json", list(files))
    assert found.unreadable == {}
    assert tmp_path / "valid.yaml" not in found.invalid
    for number, (_, place) in enumerate(FAULTS.values()):
        assert place in found.invalid[tmp_path / f"{number}.yaml"]


def test_the_manifests_of_the_examples_are_valid() -> None:
    manifests = sorted(ROOT.glob("examples/*/artifact/rra.yaml"))
    assert len(manifests) >= 4
    found = check_files(EDITOR / "manifest.schema.json", manifests)
    assert (found.invalid, found.unreadable) == ({}, {})
