"""Results tables travel: the config names every outcome, and vouches for what is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rra.artifact import load_artifact
from rra.bundle import core_document
from rra.bundle.layout import LayoutStore
from rra.bundle.reader import read_bundle
from rra.errors import CorruptError, FormatError
from tests.support.bundles import forge, locked_artifact, pack, unpack

TABLE = "model,accuracy,F1\nLDA,98.9,0.98\nQDA,99.4,\n"
DECLARED = {"reported": "guide/reported/t.csv", "launcher": "main", "file": "metrics.json"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A layout with one bundle, whose artifact declares a table."""
    artifact = locked_artifact(
        tmp_path / "a",
        {"guide/reported/t.csv": TABLE},
        experiments={"t": {"table": DECLARED}},
    )
    pack(artifact, tmp_path / "b")
    return tmp_path / "b"


def test_the_config_names_the_outcomes_of_tables(place: Path, tmp_path: Path) -> None:
    config = read_bundle(LayoutStore(place)).config
    outcomes = config.artifact_manifest().outcomes()
    assert {name: one.reported for name, one in outcomes.items()} == {
        "t/lda-accuracy": "98.9",
        "t/lda-f1": "0.98",
        "t/qda-accuracy": "99.4",
    }
    assert config.manifest == json.loads((tmp_path / "a" / "rra.yaml").read_bytes())
    assert outcomes == load_artifact(tmp_path / "a").manifest.outcomes()


def test_a_table_comes_back_the_same(place: Path, tmp_path: Path) -> None:
    unpack(place, tmp_path / "c")
    assert (tmp_path / "c/guide/reported/t.csv").read_text(encoding="utf-8") == TABLE
    again = load_artifact(tmp_path / "c")
    assert again.manifest == load_artifact(tmp_path / "a").manifest
    unpack(place, tmp_path / "d", "environment")


def test_a_config_that_reports_something_else_is_refused(place: Path, tmp_path: Path) -> None:
    def change(config: dict[str, Any]) -> None:
        config["outcomes"]["t/lda-accuracy"]["reported"] = "97.0"

    forge(place, config=change)
    with pytest.raises(CorruptError, match="the reported tables are not what"):
        unpack(place, tmp_path / "c")


def test_a_config_with_a_broken_outcome_is_refused(place: Path) -> None:
    def change(config: dict[str, Any]) -> None:
        config["outcomes"]["t/lda-accuracy"]["reported"] = 98.9

    forge(place, config=change)
    with pytest.raises(FormatError, match="reported must be text"):
        read_bundle(LayoutStore(place))


@pytest.mark.clause("core-digest/tables-expanded")
def test_the_core_has_the_outcomes_and_not_the_table(place: Path, tmp_path: Path) -> None:
    table = core_document(load_artifact(tmp_path / "a"))
    written = {
        f"{row}-{column}": {
            "type": "number",
            "reported": reported,
            "selector": {"launcher": "main", "file": "metrics.json", **found[f"t/{row}-{column}"]},
        }
        for found in [_places(table)]
        for row, column, reported in [
            ("lda", "accuracy", "98.9"),
            ("lda", "f1", "0.98"),
            ("qda", "accuracy", "99.4"),
        ]
    }
    by_hand = locked_artifact(
        tmp_path / "h",
        {"guide/reported/t.csv": TABLE},
        experiments={"t": {"outcomes": written}},
    )
    assert core_document(by_hand)["outcomes"] == table["outcomes"]
    assert set(table["outcomes"]) == {"t/lda-accuracy", "t/lda-f1", "t/qda-accuracy"}


def _places(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return of each selector what says where in the file its value stands."""
    return {
        name: {key: one["selector"][key] for key in one["selector"].keys() - {"launcher", "file"}}
        for name, one in document["outcomes"].items()
    }
