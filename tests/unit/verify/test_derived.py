"""Outcomes that follow from others, and those that cannot be read: never passed over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rra.api import audit, run, verify
from rra.artifact import Artifact
from rra.author.guide_tables import GuideFacts, render_tables
from rra.bundle import core_digest
from tests.support.artifacts import make_artifact

COMPUTES = """\
import json
right = sum(1 for n in range(89) if n % 23)
other = sum(1 for n in range(89) if n != 7)
print(json.dumps({"a": right / 89, "b": other / 89}))
"""
COPIES = "import json\nright = sum(1 for n in range(89) if n % 23)\n"
COPIES += 'print(json.dumps({"a": right / 89, "b": 0.98876}))\n'


def made(key: str, reported: str) -> dict[str, Any]:
    selector = {"launcher": "main", "file": "metrics.json", "json": f"/{key}", "unit": "fraction"}
    return {"type": "number", "reported": reported, "unit": "percent", "selector": selector}


def derived(op: str, reported: str, *of: str, **more: Any) -> dict[str, Any]:
    return {"type": "number", "reported": reported, "derived": {"op": op, "of": [*of]}, **more}


def artifact(root: Path, script: str = COMPUTES, **outcomes: dict[str, Any]) -> Artifact:
    own = {"a": made("a", "95.5"), "b": made("b", "98.88"), **outcomes}
    return make_artifact(root, {"main.py": script}, experiments={"t": {"outcomes": own}})


@pytest.mark.clause("outcome/derived-value")
def test_what_follows_is_computed_from_unrounded_values(tmp_path: Path) -> None:
    # 88/89 - 85/89 is 3.3707… points; the reported 98.88 and 95.5 would give 3.38
    found = artifact(
        tmp_path / "a",
        gain=derived("difference", "3.371", "b", "t/a", unit="percent"),
        change=derived("percent_change", "3.53", "b", "a"),
        ratio=derived("ratio", "1.035", "b", "a"),
        middle=derived("mean", "0.972", "a", "b", unit="fraction"),
        double=derived("difference", "0", "gain", "again", unit="pp", tolerance="0"),
        again=derived("difference", "3.37", "b", "a", unit="percent"),
    )
    reproduction = verify(found.root, out=tmp_path / "v", sandbox="none").reproduction
    by_name = {one.outcome: one for one in reproduction.outcomes}
    assert list(by_name) == [f"t/{key}" for key in found.manifest.experiments["t"].outcomes]
    assert {one.verdict for one in by_name.values()} == {"reproduced"}
    assert by_name["t/gain"].values[0].startswith("3.3707865168539")
    assert by_name["t/gain"].trace.selector == "difference of t/b and t/a"
    assert [one.outcome for one in reproduction.plan.outcomes] == list(by_name)


def test_what_follows_deviates_like_any_other(tmp_path: Path) -> None:
    found = artifact(tmp_path / "a", gain=derived("difference", "3.38", "b", "a", unit="percent"))
    reproduction = verify(found.root, out=tmp_path / "v", sandbox="none").reproduction
    assert {one.outcome: one.verdict for one in reproduction.outcomes} == {
        "t/a": "reproduced",
        "t/b": "reproduced",
        "t/gain": "not_reproduced",
    }
    assert reproduction.exit_code == 1


@pytest.mark.clause("outcome/derived-no-better")
@pytest.mark.parametrize(
    ("script", "verdict", "said"),
    [
        (COPIES, "not_reproduced", "it follows from t/b, which is not believed"),
        ("print('{\"a\": 0.955}')\n", "could_not_run", "it follows from t/b: "),
    ],
)
def test_what_follows_is_no_better_than_what_it_follows_from(
    script: str, verdict: str, said: str, tmp_path: Path
) -> None:
    gain = derived("difference", "3.37", "b", "a", unit="percent")
    found = artifact(tmp_path / "a", script, gain=gain)
    reproduction = verify(found.root, out=tmp_path / "v", sandbox="none").reproduction
    last = reproduction.outcomes[-1]
    assert (last.outcome, last.verdict) == ("t/gain", verdict)
    assert said in last.reason
    assert not reproduction.ok


def test_run_audit_and_guide_show_it_and_it_is_part_of_the_identity(tmp_path: Path) -> None:
    gain = derived("difference", "3.37", "b", "a", unit="percent")
    found = artifact(tmp_path / "a", gain=gain)
    values = {one.outcome: one for one in run(found.root, sandbox="none").values}
    assert str(values["t/gain"].value).startswith("3.3707865")
    audited = {one.outcome: one for one in audit(found.root).audit.values}
    assert audited["t/gain"].verdict == "NOT_ASSESSED"
    assert "difference of t/b and t/a" in audited["t/gain"].findings[0].message
    shown = render_tables(GuideFacts(found.manifest, {}, [], ()))["results"]
    assert "| `t/gain` | 3.37 % |" in shown
    assert "difference of t/b and t/a" in shown
    other = artifact(tmp_path / "b", gain={**gain, "derived": {"op": "mean", "of": ["b", "a"]}})
    assert core_digest(other) != core_digest(found)


@pytest.mark.clause("outcome/never-left-out", "outcome/not-assessed-is-no-success")
@pytest.mark.parametrize(
    "locator",
    [
        {"cell": {"tag": "results"}},
        {"tensorboard": {"tag": "acc"}},
        {"mlflow": {"metric": "acc"}},
    ],
)
def test_a_locator_that_is_not_read_is_said_and_no_success(
    locator: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = ("json", "csv", "regex", "npz")
    monkeypatch.setattr("rra.values.selectors.SUPPORTED_LOCATORS", known)
    selector = {"launcher": "main", "file": "metrics.json", **locator}
    one = {"type": "number", "reported": "0.9", "selector": selector}
    found = artifact(tmp_path / "a", c=one)
    reproduction = verify(found.root, out=tmp_path / "v", sandbox="none").reproduction
    last = reproduction.outcomes[-1]
    assert last.label == "could_not_run(not read)"
    assert f"the locator '{next(iter(locator))}' is not read by this version of rra" in last.reason
    assert not reproduction.ok
    value = audit(found.root, rerun=False).audit.values[-1]
    assert (value.outcome, value.verdict) == ("t/c", "NOT_ASSESSED")
    assert "is not read by this version of rra" in value.findings[0].message


@pytest.mark.clause("outcome/never-left-out")
def test_predictions_that_are_not_recomputed_are_said(tmp_path: Path) -> None:
    predictions = {"file": "p.csv", "truth": "y", "predicted": "p", "metric": "accuracy"}
    found = artifact(tmp_path / "a", c={**made("a", "95.5"), "predictions": predictions})
    note = "t/c: accuracy is not computed again from the predictions in p.csv"
    reproduction = verify(found.root, out=tmp_path / "v", sandbox="none").reproduction
    assert any(one.startswith(note) for one in reproduction.notes)
    assert any(one.startswith(note) for one in audit(found.root, rerun=False).audit.notes)
