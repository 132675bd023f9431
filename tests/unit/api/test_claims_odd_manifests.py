"""``rra claims suggest --write`` adds outcomes to any manifest, and leaves every byte of it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra._base.yaml import decode, parse_yaml
from tests.support.artifacts import make_artifact, outcome, record_run
from tests.support.source import ROOT

MANIFESTS = sorted((ROOT / "tests/unit/artifact/odd_manifests").glob("*.yaml"))
SCRIPT = """\
import json
print(json.dumps({"accuracy": 178 / 180, "models": {"qda": 171 / 180, "knn": 163 / 180}}))
"""
TABLE = """\
# Study

## Results

| model | accuracy (%) |
|---|---|
| QDA | 95.00 |
| k-NN | 90.56 |
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifact with one recorded run of the launcher that all manifests have."""
    root = tmp_path_factory.mktemp("recorded") / "wine"
    launcher = {"entry": "launchers/main.sh", "environment": "cpu", "outputs": ["metrics.json"]}
    artifact = make_artifact(
        root,
        {"main.py": SCRIPT, "README.md": TABLE},
        launchers={"lda": launcher},
        experiments={"table1": {"outcomes": {"accuracy": outcome(launcher="lda")}}},
    )
    assert record_run(artifact, "lda").ok
    shutil.copy(root / "launchers/main.sh", root / "launchers/lda.sh")
    return root


@pytest.mark.clause("documents/unknown-kept")
@pytest.mark.clause("documents/edits-are-local")
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.stem)
def test_outcomes_are_added_and_every_byte_stays(
    manifest: Path, recorded: Path, tmp_path: Path
) -> None:
    root = shutil.copytree(recorded, tmp_path / "wine")
    before = manifest.read_bytes()
    (root / "rra.yaml").write_bytes(before)
    result = api.claims_suggest(root, write=True)
    assert len(result.accepted) == 2, result.suggestions
    after = (root / "rra.yaml").read_bytes()
    assert len(after) > len(before)
    start = next(n for n in range(len(before) + 1) if before[: n + 1] != after[: n + 1])
    assert after.endswith(before[start:]), "something but an addition was made"
    old, new = data(before), data(after)
    added = {
        name: new["experiments"].pop(name)
        for name in set(new["experiments"]) - set(old["experiments"])
    }
    assert new == old
    assert [len(one["outcomes"]) for one in added.values()] == [2]


def data(content: bytes) -> Any:
    return parse_yaml(decode(content, source="rra.yaml"), source="rra.yaml").data
