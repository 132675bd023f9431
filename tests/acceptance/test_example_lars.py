"""Least angle regression: what comes out by name, what was repaired, and that it was needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rra.verify import Reproduction
from tests.acceptance.command import rra
from tests.acceptance.example import (
    Example,
    audited,
    ended_well,
    outcomes,
    rounded,
    verdicts,
)
from tests.support.needs import needs

EXAMPLE = Example("least-angle-regression")
ORDER = "3, 9, 4, 7, 2, 10, 5, 8, 6, 1"
REPRODUCED = {
    "main-effects/order": ORDER,
    "main-effects/cp-step": "7",
    "main-effects/lasso-steps": "12",
    "quadratic/true-r2": "0.416",
}
DEVIATING = {
    "main-effects/t-end": "3459.98",
    "quadratic/cp-step": "15",
    "quadratic/lasso-steps": "104",
}


@pytest.mark.slow
def test_the_shipped_script_finds_the_outcomes_of_the_bundle(tmp_path: Path) -> None:
    done, answer = EXAMPLE.verify_bundle_by_script(tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"main-effects/order reproduced pass pass {ORDER}\n" in done.stdout
    assert "quadratic/cp-step deviates_as_documented fail pass 15\n" in done.stdout
    answer.expect(0)
    assert verdicts(answer.result) == {
        **dict.fromkeys(REPRODUCED, ("reproduced", "pass", "pass")),
        **dict.fromkeys(DEVIATING, ("deviates_as_documented", "fail", "pass")),
    }
    found = outcomes(answer.result)
    for name, wanted in {**REPRODUCED, **DEVIATING}.items():
        (text,) = found[name]["texts"]
        assert rounded(text, wanted) == wanted, name
    # Documented deviations are no success unless the reader says so, as the script does.
    document = {**answer.result["reproduction"], "accepted_documented": False}
    assert Reproduction.model_validate(document).exit_code == 1


@pytest.mark.slow
def test_the_audit_traces_every_value_and_supports_those_that_agree(tmp_path: Path) -> None:
    artifact = EXAMPLE.copy(tmp_path / "artifact")

    answer = rra("audit", artifact, "--accept-documented", "--json").expect(0)

    found = audited(answer.result)
    assert {n for n, v in found.items() if v["verdict"] == "SUPPORTED"} == set(REPRODUCED)
    assert {n for n, v in found.items() if v["verdict"] == "CONTRADICTED"} == set(DEVIATING)
    assert all(found[name]["documented"] for name in DEVIATING)


def test_another_order_is_contradicted(tmp_path: Path) -> None:
    artifact = EXAMPLE.copy(tmp_path / "artifact")
    manifest = artifact / "rra.yaml"
    text = manifest.read_text(encoding="utf-8")
    reported = '["3", "9", "4", "7", "2", "10", "5", "8", "6", "1"]'
    assert text.count(reported) == 1
    swapped = reported.replace('"8", "6"', '"6", "8"')
    manifest.write_text(text.replace(reported, swapped), encoding="utf-8")

    answer = rra("audit", artifact, "-o", "main-effects/order", "--json").expect(1)

    (value,) = audited(answer.result).values()
    assert (value["obtained"], value["verdict"]) == (ORDER, "CONTRADICTED")


# --------------------------------------------------------------------------- the repairs


@needs("git")
@pytest.mark.parametrize(
    ("without", "said"),
    [
        ("0001", "`np.Inf` was removed in the NumPy 2.0 release"),
        ("0002", "No module named 'mystats'"),
        ("0003", "cannot import name 'joblib' from 'sklearn.externals'"),
        ("0004", "name 'raw_input' is not defined"),
        ("0005", "lars.json"),
    ],
)
def test_no_repair_can_be_left_out(without: str, said: str, tmp_path: Path) -> None:
    place = EXAMPLE.without(without, tmp_path / "artifact")

    assert said in rra("run", "main-effects", cwd=place).expect(1).said


def test_each_repair_names_a_failed_and_a_working_run() -> None:
    runs = EXAMPLE.repair_runs()

    assert [f"{name}.patch" for name in runs] == [patch.name for patch in EXAMPLE.patches]
    for name, (before, after) in runs.items():
        assert before is not None, name
        assert not ended_well(before), name
        assert ended_well(after), name
