"""`rra run` with seeds, matrices, reduced runs and plans: what it makes, shows and leaves alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.api._run import RunSetResult
from rra.errors import UsageError
from rra.evidence import EvidenceStore
from rra.launch.tasks import read_plan
from tests.acceptance.command import rra
from tests.support.runs import write_artifact

TRAIN = 'echo "score $((RRA_SEED + RRA_PARAM_DEPTH))" > "$RRA_OUTPUT_DIR/x"; echo said\n'
LAUNCHER: dict[str, Any] = {
    "outputs": ["x"],
    "seeds": {"values": [1, 2, 3]},
    "parameters": {"depth": {"type": "integer", "default": 10}, "eq": {}},
    "matrix": {"depth": [10, 20]},
    "reduced": {"parameters": {"depth": 1}, "cannot_support": ["table/mean"]},
}


def outcome(**selector: Any) -> dict[str, Any]:
    chosen = {"launcher": "main", "file": "x", "regex": "score (?P<value>[0-9]+)", **selector}
    return {"type": "number", "reported": "12", "selector": chosen}


OUTCOMES = {
    "one": outcome(),
    "mean": outcome(runs="all", aggregate="mean"),
    "deep": outcome(runs={"seeds": [1, 2], "parameters": {"depth": 20}}, aggregate="max"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_artifact(
        tmp_path / "a",
        {"launchers/main.sh": TRAIN},
        launchers={"main": LAUNCHER},
        experiments={"table": {"outcomes": OUTCOMES}},
    ).root


def test_a_trace_names_what_its_run_was_given(root: Path) -> None:
    run(root, seeds="2")
    result = api.trace(root, "table/one")
    (settings,) = result.settings
    assert settings is not None
    assert (settings.seed, settings.parameters) == (2, {"depth": 10})
    assert result.to_json()["traces"][0]["settings"] == {
        "instance": "seed=2",
        "seed": 2,
        "parameters": {"depth": 10},
    }
    assert "\n  with      depth=10, seed=2\n" in rra("trace", "table/one", root).expect(0).out


def values(done: RunSetResult) -> list[tuple[str, Any, str]]:
    return [(one.outcome.removeprefix("table/"), one.value, one.note) for one in done.values]


def run(root: Path, **asked: Any) -> RunSetResult:
    return api.run(root, sandbox="none", **asked)


def test_an_outcome_is_read_from_the_runs_that_its_selector_takes(root: Path) -> None:
    done = run(root, seeds="declared", jobs=2)
    assert [one.task for one in done.runs] == [f"main/seed={seed}" for seed in (1, 2, 3)]
    assert done.ok
    assert values(done) == [
        ("one", "11", ""),
        ("one", "12", ""),
        ("one", "13", ""),
        ("mean", "12", ""),
        ("deep", None, "it is read from a run with depth=20, and none was made"),
    ]
    assert done.values[3].runs == ("main/seed=1", "main/seed=2", "main/seed=3")
    both = run(root, seeds="declared", matrix=True)
    assert [value for name, value, _ in values(both) if name in {"mean", "deep"}] == [
        "12",
        "22",
        "22",
    ]
    assert {one.state for one in both.runs} == {"ran"}, "other parameters, other names"


def test_too_few_runs_are_said_and_no_failure(root: Path) -> None:
    done = run(root)
    assert (done.exit_code, [one.task for one in done.runs]) == (0, ["main"])
    few = "made of 1 of the 3 runs that it is read from"
    assert values(done)[:2] == [("one", "11", ""), ("mean", "11", few)]
    assert [str(p.message) for p in done.problems] == [
        "matrix of main: runs are made with the defaults only, not with every combination"
    ]


def test_a_second_call_makes_nothing_again_unless_forced(root: Path) -> None:
    first = run(root, seeds=[1, 2])
    again = run(root, seeds=[1, 2])
    assert [one.state for one in again.runs] == ["current", "current"]
    assert [one.record for one in again.runs] == [one.record for one in first.runs]
    assert values(again) == values(first)
    assert len(EvidenceStore(root / "evidence").records()) == 2
    assert [one.reason for one in run(root, seeds=[1, 2], force=True).runs] == ["forced"] * 2
    assert len(EvidenceStore(root / "evidence").records()) == 4


def test_b28_only_what_a_change_concerns_runs_again_and_says_why(root: Path) -> None:
    run(root, parameters={"eq": "1"})
    dropped = run(root)
    assert [(one.state, one.reason) for one in dropped.runs] == [("ran", "eq was 1 and is gone")]
    script = root / "launchers/main.sh"
    script.write_text(script.read_text() + "true --another-option\n")
    changed = run(root)
    assert [one.reason for one in changed.runs] == ["launchers/main.sh changed"]
    manifest = (root / "rra.yaml").read_text()
    (root / "rra.yaml").write_text(manifest.replace('"reported": "12"', '"reported": "13"'))
    assert [one.state for one in run(root).runs] == ["current"], "a claim changes no run"


@pytest.mark.parametrize("value", ["1 + 2 = 3", "$(touch p)", "'; touch p; '", "a\nb", "é"])
def test_b29_a_value_reaches_the_launcher_as_it_is(tmp_path: Path, value: str) -> None:
    script = 'printf "%s" "$RRA_PARAM_EQ" > "$RRA_OUTPUT_DIR/x"\n'
    launchers = {"main": {"outputs": ["x"], "parameters": {"eq": {}}, "seeds": {}}}
    place = {"launcher": "main", "file": "x", "regex": "(?P<value>.+)", "pick": "first"}
    experiments = {
        "t": {"outcomes": {"x": {"type": "category", "reported": "x", "selector": place}}}
    }
    made = write_artifact(
        tmp_path / "a", {"launchers/main.sh": script}, launchers=launchers, experiments=experiments
    )
    done = run(made.root, parameters={"eq": value}, seeds=[0])
    (ran,) = done.runs
    assert (made.root / "outputs" / ran.task / "x").read_text() == value
    (stored,) = EvidenceStore(made.root / "evidence").records()
    assert stored.record.parameters == {"eq": value}
    assert not list(tmp_path.rglob("p"))


@pytest.mark.parametrize("name", ["a;b", "eq ", "$(id)", ""])
def test_b29_a_name_that_is_no_parameter_is_refused(root: Path, name: str) -> None:
    with pytest.raises(UsageError, match="no launcher of this run has a parameter"):
        run(root, parameters={name: "1"})
    assert not (root / "outputs").exists()


def test_b29_a_parameter_without_value_is_not_given(root: Path) -> None:
    run(root)
    (stored,) = EvidenceStore(root / "evidence").records()
    assert stored.record.parameters == {"depth": 10}, "eq has no default and nobody set it"


def test_a_reduced_run_takes_no_place_of_a_full_one_and_says_what_it_is_silent_on(
    root: Path,
) -> None:
    run(root)
    done = run(root, reduced=True)
    assert [one.task for one in done.runs] == ["main/reduced"]
    assert (root / "outputs/main/x").read_text() == "score 11\n"
    assert (root / "outputs/main/reduced/x").read_text() == "score 2\n"
    notes = {name: note for name, _, note in values(done)}
    assert "a reduced run says nothing about it" in notes["mean"]
    assert notes["one"] == ""


def test_new_outputs_of_the_usual_run_leave_those_of_instances(root: Path) -> None:
    run(root, seeds=[1, 2])
    run(root)
    run(root, force=True)
    assert (root / "outputs/main/x").read_text() == "score 11\n"
    assert (root / "outputs/main/seed=2/x").read_text() == "score 12\n"
    assert [one.state for one in run(root, seeds=[1, 2]).runs] == ["current", "current"]


def test_a_dry_run_shows_the_plan_and_touches_nothing(root: Path) -> None:
    before = sorted(root.rglob("*"))
    done = run(root, seeds="0:2", matrix=True, dry_run=True)
    assert sorted(root.rglob("*")) == before
    assert done.plan is not None
    assert [(one.task, one.due, one.reason) for one in done.plan] == [
        (f"main/depth={depth},seed={seed}", True, "it has not run yet")
        for depth in (10, 20)
        for seed in (0, 1)
    ]
    run(root)
    (planned,) = run(root, dry_run=True).plan or ()
    assert (planned.due, planned.reason, planned.parameters) == (False, "up to date", {"depth": 10})


def test_the_last_run_is_taken_up_as_it_was_asked_for(root: Path) -> None:
    with pytest.raises(UsageError, match="there is no run to resume"):
        run(root, resume=True)
    run(root, seeds=[1, 2], parameters={"depth": "5"})
    with pytest.raises(UsageError, match="takes up the last run as it was asked for"):
        run(root, resume=True, seeds=[1])
    done = run(root, resume=True)
    assert [(one.task, one.state) for one in done.runs] == [
        ("main/depth=5,seed=1", "current"),
        ("main/depth=5,seed=2", "current"),
    ]


def test_what_was_forced_and_did_not_succeed_is_forced_when_it_is_taken_up(tmp_path: Path) -> None:
    full = tmp_path / "full"
    script = f'[ ! -e {full} ] || exit 3\necho 1 > "$RRA_OUTPUT_DIR/x"\n'
    made = write_artifact(
        tmp_path / "a",
        {"launchers/main.sh": script},
        launchers={"main": {"outputs": ["x"]}},
    ).root
    assert api.run(made, sandbox="none").runs[0].ok
    full.touch()
    assert not api.run(made, sandbox="none", force=True).runs[0].ok
    full.unlink()
    (planned,) = api.run(made, resume=True, dry_run=True).plan or ()
    assert (planned.due, planned.reason) == (True, "forced")
    states = [api.run(made, sandbox="none", resume=True).runs[0].state for _ in range(2)]
    assert states == ["ran", "current"]


def test_a_task_of_a_plan_runs_by_itself_as_a_job_does(root: Path) -> None:
    run(root, seeds=[1, 2])
    (folder,) = (root / "outputs/.rra-runs").iterdir()
    done = api.run(folder, task="main/seed=2")
    assert [(one.task, one.ok, one.state) for one in done.runs] == [("main/seed=2", True, "ran")]
    result = json.loads((folder / "results/main+seed=2.json").read_text())
    assert (result["ok"], result["record"]) == (True, done.runs[0].record)
    assert read_plan(folder / "plan.json").task("main/seed=2").seed == 2
    with pytest.raises(UsageError, match="has no task 'main/seed=9'"):
        api.run(folder, task="main/seed=9")
    (root / "launchers/main.sh").write_text("exit 3\n")
    assert api.run(folder, task="main/seed=1").exit_code == 1
    (root / "launchers/main.sh").unlink()
    lost = api.run(folder, task="main/seed=1")
    assert (lost.exit_code, lost.runs[0].record) == (1, "")
    said = json.loads((folder / "results/main+seed=1.json").read_text())["error"]
    assert "is not there: launchers/main.sh" in said["message"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"jobs": 0}, "--jobs 0"),
        ({"seeds": "0:0"}, "holds no seed"),
        ({"backend": "pbs"}, "no backend is called 'pbs'"),
        ({"seed": 1, "seeds": "1"}, "do not go together"),
    ],
)
def test_a_wrong_wish_is_refused_before_anything_runs(
    root: Path, asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        run(root, **asked)
    assert caught.value.hint
    assert not (root / "outputs").exists()
