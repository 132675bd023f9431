"""Values of several runs are traced to all of them, and single ones to the usual run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rra.artifact import Artifact, layout
from rra.audit.integrity import evidence_findings
from rra.audit.trace import find_value
from rra.bundle import core_digest
from rra.evidence import EvidenceStore
from rra.launch import Asked, make_plan, run_launcher
from tests.support.runs import request, write_artifact

SCRIPT = 'echo "score $((RRA_SEED + RRA_PARAM_DEPTH))" > "$RRA_OUTPUT_DIR/x"\n'
LAUNCHER: dict[str, Any] = {
    "outputs": ["x"],
    "seeds": {"values": [1, 2, 3]},
    "parameters": {"depth": {"type": "integer", "default": 10}},
    "reduced": {"parameters": {"depth": 0}, "cannot_support": ["table"]},
}


def selector(**more: Any) -> dict[str, Any]:
    place = {"launcher": "main", "file": "x", "regex": "score (?P<value>[0-9]+)", **more}
    return {"type": "number", "reported": "12", "selector": place}


@pytest.fixture
def artifact(tmp_path: Path) -> Artifact:
    outcomes = {"one": selector(), "mean": selector(runs="all", aggregate="mean")}
    return write_artifact(
        tmp_path / "a",
        {"launchers/main.sh": SCRIPT},
        launchers={"main": LAUNCHER},
        experiments={"table": {"outcomes": outcomes}},
    )


def made(artifact: Artifact, **asked: Any) -> None:
    for task in make_plan(artifact, Asked(**asked)):
        more = {"parameters": task.parameters, "seed": task.seed, "instance": task.instance}
        assert run_launcher(request(artifact, "main", key=task.key, **more)).ok


def value(artifact: Artifact, name: str) -> str | None:
    found = find_value(artifact, artifact.manifest.outcomes()[f"table/{name}"], store(artifact))
    return str(found.value.value) if found.value is not None else None


def store(artifact: Artifact) -> EvidenceStore:
    return EvidenceStore(artifact.root / layout.EVIDENCE_DIR)


def test_runs_with_other_seeds_or_reduced_ones_are_not_taken_for_the_usual_one(
    artifact: Artifact,
) -> None:
    made(artifact)
    made(artifact, seeds=(3,))
    made(artifact, reduced=True)
    assert (value(artifact, "one"), value(artifact, "mean")) == ("11", "11")


def test_a_mean_is_traced_to_every_run_and_one_changed_run_is_enough_to_refute_it(
    artifact: Artifact,
) -> None:
    made(artifact, seeds="declared")
    assert value(artifact, "mean") == "12"
    outcome = artifact.manifest.outcomes()["table/mean"]
    core = core_digest(artifact)
    found = find_value(artifact, outcome, store(artifact))
    assert [one.record.seed.declared for one in (found.stored, *found.others) if one] == [1, 2, 3]
    assert evidence_findings(artifact, outcome, found, store(artifact), core) == []
    (found.others[-1].outputs / "x").write_text("score 16\n")
    assert value(artifact, "mean") == "13"
    (finding,) = evidence_findings(artifact, outcome, found, store(artifact), core)
    assert (finding.code, finding.material) == ("TAMPERED", True)
