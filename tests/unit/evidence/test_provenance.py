"""What is stated about a run is what in-toto and SLSA ask for, and what the record says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rra._base.files import sha256_bytes
from rra.errors import UsageError
from rra.evidence import EvidenceStore, StoredRecord
from rra.evidence.provenance import provenance
from rra.signing import Algorithm, generate, parse_bundle, parse_statement, sign
from tests.unit.evidence.test_store import ZERO, add

DATA = {"path": "data/wine.csv", "sha256": ZERO, "size": 3, "role": "data"}

CELL = {"path": "a.ipynb", "cell": 3, "error": "ValueError"}


def run(tmp_path: Path, **changes: Any) -> StoredRecord:
    return add(EvidenceStore(tmp_path / "evidence"), tmp_path / "staged", **changes)


def test_the_statement_has_what_slsa_asks_for(tmp_path: Path) -> None:
    stored = run(tmp_path, inputs=[DATA], parameters={"depth": 3}, seed={"declared": 4})
    document = json.loads(provenance(stored).to_bytes())
    seven = sha256_bytes(b"7\n").removeprefix("sha256:")
    assert document["_type"] == "https://in-toto.io/Statement/v1"
    assert document["subject"] == [{"name": "a/value.txt", "digest": {"sha256": seven}}]
    assert document["predicateType"] == "https://slsa.dev/provenance/v1"
    definition = document["predicate"]["buildDefinition"]
    assert definition["buildType"] == "https://w3id.org/rra/v1/run"
    assert definition["externalParameters"]["parameters"] == {"depth": 3}
    assert definition["externalParameters"]["seed"] == 4
    found = {one["name"]: one for one in definition["resolvedDependencies"]}
    assert found["data/wine.csv"] == {
        "name": "data/wine.csv",
        "digest": {"sha256": "0" * 64},
        "annotations": {"role": "data"},
    }
    assert {"core", "environment cpu: lock", "environment cpu: installed"} < found.keys()
    details = document["predicate"]["runDetails"]
    assert details["builder"]["id"] == "https://w3id.org/rra/v1/recorder/none"
    assert details["metadata"] == {
        "invocationId": stored.digest,
        "startedOn": "2026-11-29T18:00:00Z",
        "finishedOn": "2026-11-29T18:00:01Z",
    }
    assert details["byproducts"][0]["digest"] == {"sha256": stored.digest.removeprefix("sha256:")}


def test_it_is_read_back_and_can_be_signed(tmp_path: Path) -> None:
    statement = provenance(run(tmp_path))
    assert parse_statement(statement.to_bytes()) == statement
    signed = sign(statement, generate(Algorithm.ED25519))
    assert parse_bundle(signed).statement() == statement


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"termination": "exit", "exit_code": 1}, r"did not succeed \(exit 1\)"),
        ({"termination": "signal", "exit_code": -9}, r"did not succeed \(signal 9\)"),
        ({"missing_outputs": ["metrics.json"]}, r"did not succeed \(ok, outputs missing\)"),
        ({"failed_cells": [CELL]}, r"did not succeed \(ok, cell 3 failed\)"),
        ({"recorder": {"level": "imported"}}, "was imported"),
    ],
)
def test_nothing_is_stated_of_what_was_not_made_here(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        provenance(run(tmp_path, **changes))
