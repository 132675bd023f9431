"""An unseeded script and a claim that is an average: one run of it confirms nothing (B38)."""

from __future__ import annotations

from pathlib import Path

from tests.support.artifacts import COMPUTES, make_artifact, outcome, record_run
from tests.unit.verify.test_stranger import launcher, only, verify

UNSEEDED = """\
import json, random
right = sum(random.random() ** 2 < 0.679 for _ in range(2000))
print(json.dumps({"accuracy": right / 20}))
"""
"""About 82.4, with a standard deviation of 0.85."""

CLAIM = {"table": {"outcomes": {"accuracy": outcome("82.4")}}}


def test_b38_one_run_of_an_unseeded_script_is_never_confirmed(tmp_path: Path) -> None:
    artifact = make_artifact(
        tmp_path / "a", {"main.py": UNSEEDED}, launchers=launcher(), experiments=CLAIM
    )
    result = verify(artifact, reports=1)
    assert only(result).label == "inconclusive(single run)"
    assert result.exit_code == 1


def test_b38_several_runs_are_made_unless_told_otherwise(tmp_path: Path) -> None:
    artifact = make_artifact(
        tmp_path / "a", {"main.py": UNSEEDED}, launchers=launcher(), experiments=CLAIM
    )
    record = record_run(artifact).record
    assert (record.seed.declared, record.seed.observed) == (None, [])
    result = verify(artifact)
    assert len(result.runs) == 3
    assert len(set(only(result).values)) > 1
    assert only(result).label != "inconclusive(single run)"


def test_b38_an_average_that_one_run_gives_is_never_confirmed(tmp_path: Path) -> None:
    """The claim is a mean over runs, and there is one run, whose value agrees with it."""
    mean = outcome("98.9", runs="all", aggregate="mean")
    artifact = make_artifact(
        tmp_path / "a",
        {"main.py": COMPUTES},
        launchers=launcher(),
        experiments={"table": {"outcomes": {"accuracy": mean}}},
    )
    record_run(artifact)
    result = verify(artifact, reports=1)
    assert only(result).label == "inconclusive(single run)"
    assert result.exit_code == 1
