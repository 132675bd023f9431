"""What pack, unpack, inspect and diff print with ``--json`` is what their schemas say."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from rra.artifact import load_artifact
from rra.bundle.layers import Thresholds
from tests.support.bundles import locked_artifact, pack
from tests.unit.test_cli_schemas import call

DATA = {"d": {"path": "data"}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {"data/huge.bin": os.urandom(20_000), "data/x.csv": "1\n"}
    return locked_artifact(tmp_path / "a", files, data=DATA).root


def done(*arguments: str, cwd: Path, code: int = 0) -> dict[str, Any]:
    document = call(*arguments, cwd=cwd)
    assert document["exit_code"] == code, document
    result: dict[str, Any] = document["result"]
    return result


def test_a_bundle_that_is_made_looked_at_compared_and_opened(root: Path, tmp_path: Path) -> None:
    made = done("pack", "a", "oci-layout:b", cwd=tmp_path)
    assert len(made["layers"]) == 6
    done("inspect", "oci-layout:b", cwd=tmp_path)
    done("unpack", "oci-layout:b", "out", "--only", "guide", cwd=tmp_path)
    (root / "code" / "new.py").write_text("1\n")
    (root / "code" / "main.py").unlink()
    text = (root / "rra.yaml").read_text()
    (root / "rra.yaml").write_text(text.replace('"accuracy": {', '"precision": {'))
    found = done("diff", "a", "oci-layout:b", cwd=tmp_path, code=1)
    assert {one["change"] for one in found["files"]} == {"added", "removed", "changed"}
    assert {one["change"] for one in found["outcomes"]} == {"added", "removed"}


def test_every_kind_of_layer(root: Path, tmp_path: Path) -> None:
    thresholds = Thresholds(file=4000, part=8000)
    pack(load_artifact(root), tmp_path / "b", thresholds=thresholds)
    layers = done("inspect", "oci-layout:b", cwd=tmp_path)["layers"]
    assert sum("part" in layer for layer in layers) == 3


def test_an_anonymous_bundle(root: Path, tmp_path: Path) -> None:
    (root / "code" / "noise.bin").write_bytes(random.Random(3).randbytes(9000))
    done("lock", "a", "--keep", cwd=tmp_path)
    made = done("pack", "a", "oci-layout:c", "--anonymous", cwd=tmp_path)
    assert made["anonymous"]["mapping"] == str(tmp_path / "c.private.json")
    assert "code/noise.bin" in [one["path"] for one in made["anonymous"]["unsearched"]]
    stopped = done(
        "pack", "a", "oci-layout:d", "--anonymous", "--also", "main", cwd=tmp_path, code=1
    )
    assert stopped["packed"] is False
    assert stopped["anonymous"]["mapping"] is None


def test_what_stands_against_packing(root: Path, tmp_path: Path) -> None:
    (root / "guide" / "GUIDE.md").write_text("⟦fill: why⟧\n")
    assert done("pack", "a", "oci-layout:b", cwd=tmp_path, code=1)["packed"] is False


@pytest.mark.parametrize("verb", ["unpack", "inspect"])
def test_errors(verb: str, tmp_path: Path) -> None:
    assert done(verb, "oci-layout:absent", cwd=tmp_path, code=2)["error"]["slug"] == "usage"
