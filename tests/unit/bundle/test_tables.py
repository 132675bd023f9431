"""Results tables travel: the config names every outcome, and vouches for what is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rra.artifact import load_artifact
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
