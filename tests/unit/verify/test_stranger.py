"""A stranger runs everything anew: what comes out, what is said, what is left behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rra.artifact import Artifact
from rra.audit import Budget
from rra.environment import MaterialisedEnvironment
from rra.errors import EnvironmentBuildError, UsageError
from rra.model import ReferencesDocument
from rra.sandbox import best_sandbox
from rra.verify import Options, OutcomeReproduction, Reproduction, verify_artifact
from tests.support.artifacts import COMPUTES, DEVIATES, RIGHT, make_artifact, outcome
from tests.support.http_registry import Reply, http_registry
from tests.support.runtimes import ELSEWHERE, HERE, MINOR, description, pretend

NAME = "table/accuracy"
SEEDED = 'import os, random\nrandom.seed(int(os.environ["RRA_SEED"]))\n' + COMPUTES.replace(
    "/ 89", "/ 89 + random.uniform(-1, 1)"
)
PLAIN = Options(sandbox=best_sandbox("none"))


def launcher(**more: Any) -> dict[str, Any]:
    base = {"entry": "launchers/main.sh", "environment": "cpu", "outputs": ["metrics.json"]}
    return {"main": {**base, **more}}


def experiments(**more: Any) -> dict[str, Any]:
    return {"table": {"outcomes": {"accuracy": outcome(**more)}}}


def references(*values: str, **more: Any) -> ReferencesDocument:
    scores = [{"value": value, "operator": f"lab {n}"} for n, value in enumerate(values)]
    return ReferencesDocument.model_validate({NAME: {"scores": scores, **more}})


def verify(artifact: Artifact, **options: Any) -> Reproduction:
    given = {"sandbox": PLAIN.sandbox, **options}
    directory = artifact.root.parent / f"verification-{len(list(artifact.root.parent.iterdir()))}"
    return verify_artifact(artifact, directory, Options(**given))


def only(reproduction: Reproduction) -> OutcomeReproduction:
    assert len(reproduction.outcomes) == 1
    return reproduction.outcomes[0]


def test_a_computed_value_is_reproduced_and_everything_is_kept(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES})
    before = {path: path.read_bytes() for path in artifact.root.rglob("*") if path.is_file()}
    steps: list[str] = []
    directory = tmp_path / "v"
    options = Options(sandbox=PLAIN.sandbox, nonce="ab" * 16, progress=steps.append)
    result = verify_artifact(artifact, directory, options)
    found = only(result)
    assert (found.verdict, found.agreement, found.repeatability) == (
        "reproduced",
        "pass",
        "not_assessed",
    )
    assert (result.ok, result.exit_code, result.level, result.verdict) == (
        True,
        0,
        "L3",
        "reproduced",
    )
    assert result.coverage == "L3 · 1 of 1 declared outcomes reproduced (retrained)"
    assert "1 of 1 outcomes by agreement alone: no references" in result.level_reasons
    assert found.values[0].startswith("98.87640449")
    assert found.trace.record == result.runs[0].record
    assert [finding.status for finding in found.findings] == ["supported"]
    assert json.loads((directory / "reproduction.json").read_text()) == result.to_json()
    assert json.loads((directory / "plan.json").read_text()) == result.plan.to_json()
    record = next((directory / "evidence/main").glob("*/record.json"))
    assert json.loads(record.read_text())["nonce"] == "ab" * 16
    assert (directory / "outputs/01/main/metrics.json").is_file()
    assert not (directory / "place").exists()
    assert "building environment cpu" in steps
    assert before == {p: p.read_bytes() for p in artifact.root.rglob("*") if p.is_file()}


COPIES = {
    "json": ('print(open("results.json").read())\n', "code/results.json:1"),
    "literal": ('import json\nprint(json.dumps({"accuracy": 98.9}))\n', "code/main.py:2"),
}


@pytest.mark.clause("reproduction/probes-copies")
@pytest.mark.parametrize("name", [*COPIES])
@pytest.mark.parametrize(
    "sandbox", ["none", pytest.param("bwrap", marks=pytest.mark.needs("bwrap"))]
)
def test_a_copied_value_is_not_reproduced(name: str, sandbox: str, tmp_path: Path) -> None:
    code, place = COPIES[name]
    files: dict[str, str | bytes] = {"main.py": code, "results.json": '{"accuracy": 98.9}\n'}
    artifact = make_artifact(tmp_path / "a", files)
    result = verify(artifact, sandbox=best_sandbox(sandbox))
    found = only(result)
    assert (found.verdict, found.label, result.exit_code) == (
        "not_reproduced",
        "not_reproduced",
        1,
    )
    assert found.reason.startswith("HARDCODED: copied from " + place)
    assert found.refuted
    assert found.agreement == "pass"
    assert result.level == "L2"


def test_a_value_copied_by_a_launcher_that_this_one_needs(tmp_path: Path) -> None:
    both = {
        **launcher(needs=["first"], deterministic=True),
        "first": {
            "entry": "launchers/first.sh",
            "environment": "cpu",
            "outputs": ["x.txt"],
            "deterministic": True,
        },
    }
    files: dict[str, str | bytes] = {
        "main.py": "import json, os, pathlib\n"
        'text = pathlib.Path(os.environ["RRA_OUTPUTS_ROOT"], "first", "x.txt").read_text()\n'
        'print(json.dumps({"accuracy": float(text)}))\n',
        "launchers/first.sh": '#!/bin/bash\ncp x.txt "$RRA_OUTPUT_DIR/x.txt"\n',
        "x.txt": "98.9\n",
    }
    result = verify(make_artifact(tmp_path / "a", files, launchers=both))
    assert only(result).verdict == "not_reproduced"
    assert "code/x.txt:1" in only(result).reason
    assert [run.launcher for run in result.runs] == ["first", "main"]


DOCUMENTED = {"observed": "95.5", "explanation": "one sample is classified differently"}


@pytest.mark.clause("reproduction/success")
@pytest.mark.parametrize(
    ("deviation", "verdict", "code", "accepted"),
    [
        (DOCUMENTED, "deviates_as_documented", 1, 0),
        ({**DOCUMENTED, "observed": "95.6"}, "not_reproduced", 1, 1),
        (None, "not_reproduced", 1, 1),
    ],
)
def test_a_deviation_counts_only_when_documented_and_accepted(
    deviation: dict[str, str] | None, verdict: str, code: int, accepted: int, tmp_path: Path
) -> None:
    more = {} if deviation is None else {"deviation": deviation}
    artifact = make_artifact(tmp_path / "a", {"main.py": DEVIATES}, experiments=experiments(**more))
    first = verify(artifact)
    assert (only(first).verdict, first.exit_code, first.ok) == (verdict, code, False)
    assert first.level == "L2"
    second = verify(artifact, accept_documented=True)
    assert second.exit_code == accepted
    assert (first.plan.attempt, second.plan.attempt) == (1, 1)


def test_attempts_are_counted_below_the_history(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path / "a", {"main.py": DEVIATES})
    results = [
        verify_artifact(
            artifact,
            tmp_path / "h" / str(n),
            Options(sandbox=PLAIN.sandbox, history=tmp_path / "h"),
        )
        for n in range(2)
    ]
    assert [(r.plan.attempt, r.attempts) for r in results] == [(1, 1), (2, 2)]


@pytest.mark.clause("reproduction/plan-first")
def test_a_launcher_that_fails_could_not_run_and_the_plan_is_there(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path / "a", {"main.py": 'raise SystemExit("no such corpus")'})
    result = verify_artifact(artifact, tmp_path / "v", PLAIN)
    found = only(result)
    assert found.label == "could_not_run(launcher failed)"
    assert "no such corpus" in found.reason
    assert (result.exit_code, result.level) == (1, "L1")
    assert (tmp_path / "v/plan.json").is_file()
    assert not result.runs[0].ok


def test_a_launcher_that_hangs_could_not_run(tmp_path: Path) -> None:
    hangs = launcher(deterministic=True, limits={"wall": 0.5})
    artifact = make_artifact(tmp_path / "a", {"main.py": ""}, command="sleep 60", launchers=hangs)
    assert only(verify(artifact)).label == "could_not_run(timeout)"


def test_a_value_that_is_not_there_could_not_run(tmp_path: Path) -> None:
    artifact = make_artifact(
        tmp_path / "a", {"main.py": COMPUTES}, experiments=experiments(json="/f1")
    )
    result = verify(artifact)
    assert only(result).label == "could_not_run(no value)"
    assert "accuracy" in only(result).reason
    assert (result.exit_code, result.level) == (1, "L2")


def test_an_environment_that_cannot_be_built_is_outside(tmp_path: Path) -> None:
    def build(
        artifact: Artifact, env_id: str, *, target: Path | None = None
    ) -> MaterialisedEnvironment:
        raise EnvironmentBuildError("no index here")

    result = verify(make_artifact(tmp_path / "a", {"main.py": COMPUTES}), build=build)
    assert only(result).label == "could_not_run(environment)"
    assert (result.exit_code, result.level, result.verdict) == (3, "L0", "could_not_run")
    assert result.level_reasons == ["environment cpu: no index here"]
    assert result.runs == []


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"platform": ELSEWHERE}, f"is for {ELSEWHERE}; this machine is {HERE}"),
        ({"glibc": "99.0"}, "needs glibc 99.0 or newer; this machine has glibc"),
    ],
)
def test_an_interpreter_for_another_machine_could_not_run_there(
    tmp_path: Path, facts: dict[str, str], reason: str
) -> None:
    place = "environment/cpu/interpreter.tar"
    cpu = {"kind": "pylock", "python": MINOR, "lock": "environment/cpu/pylock.toml"}
    environments = {"cpu": {**cpu, "interpreter": place}}
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES}, environments=environments)
    pretend(artifact.root / place, description(**facts))
    result = verify(artifact)
    assert only(result).label == "could_not_run(platform)"
    assert reason in only(result).reason
    assert (result.exit_code, result.level, result.runs) == (3, "L0", [])
    assert reason in result.environments[0].message


def test_an_artifact_that_is_not_locked_is_a_usage_error(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES})
    (artifact.root / "environment/cpu/pylock.toml").unlink()
    with pytest.raises(UsageError, match="not locked"):
        verify(artifact)


def test_data_that_is_not_there_is_outside(tmp_path: Path) -> None:
    artifact = make_artifact(
        tmp_path / "a",
        {"main.py": COMPUTES},
        launchers=launcher(inputs=["corpus"], deterministic=True),
        data={"corpus": {"path": "data/corpus", "access": "private"}},
    )
    result = verify(artifact)
    assert only(result).label == "could_not_run(data unavailable)"
    assert result.exit_code == 3


def test_data_that_is_fetched_is_brought_into_the_fresh_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "cache"))
    with http_registry() as server:
        server.rules.append(lambda _: Reply(200, b"a,b\n"))
        corpus = {"access": "fetch", "sources": [{"url": f"{server.url}/corpus.csv"}]}
        artifact = make_artifact(
            tmp_path / "a",
            {"main.py": COMPUTES},
            launchers=launcher(inputs=["corpus"], deterministic=True),
            data={"corpus": {"path": "data/corpus.csv", **corpus}},
        )
        result = verify(artifact)
    assert only(result).label == "reproduced"
    assert len(server.seen) >= 1
    assert not (artifact.root / "data/corpus.csv").exists()


@pytest.mark.clause("levels/l0-well-formed")
def test_an_artifact_that_is_not_well_formed_has_no_level(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES})
    result = verify(artifact, well_formed=(False, ["guide/GUIDE.md: a blank is left"]))
    assert (result.level, result.level_reasons) == ("none", ["guide/GUIDE.md: a blank is left"])
    assert only(result).verdict == "reproduced"


@pytest.mark.clause("reproduction/enough-reports")
def test_a_launcher_of_unknown_nature_runs_three_times(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES}, launchers=launcher())
    result = verify(artifact)
    assert len(result.runs) == 3
    assert only(result).verdict == "reproduced"
    assert len(set(only(result).values)) == 1


def test_seeds_are_drawn_from_the_nonce(tmp_path: Path) -> None:
    seeded = launcher(seeds={"values": [42]})
    artifact = make_artifact(tmp_path / "a", {"main.py": SEEDED}, launchers=seeded)
    first, again = (verify(artifact, nonce="11" * 16) for _ in range(2))
    other = verify(artifact, nonce="22" * 16)
    assert [run.seed for run in first.runs] == first.plan.runs[0].seeds
    assert len(set(first.plan.runs[0].seeds)) == 3
    assert 42 not in first.plan.runs[0].seeds
    assert only(first).values == only(again).values
    assert only(first).values != only(other).values
    judgement = only(first).judgement
    assert judgement is not None
    assert judgement["agreement"]["rule"] == "own-runs"


def test_a_copied_value_with_noise_on_top_is_not_reproduced(tmp_path: Path) -> None:
    code = SEEDED.replace("100 * right / 89", "98.9")
    seeded = launcher(seeds={"values": [42]})
    artifact = make_artifact(tmp_path / "a", {"main.py": code}, launchers=seeded)
    # The nonce gives the seeds: with some, the noise alone is far from the reported value.
    result = verify(artifact, nonce="33" * 16)
    assert only(result).verdict == "not_reproduced"
    assert "code/main.py:5" in only(result).reason


def test_one_run_of_a_stochastic_launcher_is_inconclusive(tmp_path: Path) -> None:
    seeded = launcher(seeds={"values": [42]})
    artifact = make_artifact(tmp_path / "a", {"main.py": SEEDED}, launchers=seeded)
    result = verify(artifact, reports=1)
    assert only(result).label == "inconclusive(single run)"
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("values", "repeats", "verdict"),
    [
        (("98.2", "99.4", "98.9", "98.5", "99.1"), "pass", "reproduced"),
        (("90.2", "90.4", "90.9", "90.5", "90.1"), "fail", "not_reproduced"),
    ],
)
def test_references_answer_the_second_question(
    values: tuple[str, ...], repeats: str, verdict: str, tmp_path: Path
) -> None:
    seeded = launcher(seeds={"values": [42]})
    artifact = make_artifact(tmp_path / "a", {"main.py": SEEDED}, launchers=seeded)
    result = verify(artifact, references=references(*values), nonce="33" * 16)
    found = only(result)
    assert len(result.runs) == 1
    assert (found.repeatability, found.verdict) == (repeats, verdict)
    assert found.references == list(values)
    assert result.plan.references is not None


@pytest.mark.clause("reproduction/enough-reports")
def test_references_of_the_author_save_no_runs(tmp_path: Path) -> None:
    artifact = make_artifact(
        tmp_path / "a",
        {"main.py": SEEDED},
        launchers=launcher(seeds={"variable": "RRA_SEED"}),
        experiments=experiments(tolerance="0.5"),
    )
    own = references("98.5", "98.9", "99.3", self_referenced=True)
    result = verify(artifact, references=own)
    assert [runs.reports for runs in result.plan.runs] == [3]
    assert only(result).agreement != "inconclusive"
    others = references("98.5", "98.9", "99.3")
    assert [runs.reports for runs in verify(artifact, references=others).plan.runs] == [1]


def test_a_mean_of_seeds_is_one_report(tmp_path: Path) -> None:
    seeded = launcher(seeds={"values": [1, 2, 3, 4]})
    selector = {"runs": "all", "aggregate": "mean"}
    artifact = make_artifact(
        tmp_path / "a",
        {"main.py": SEEDED},
        launchers=seeded,
        experiments=experiments(**selector),
    )
    result = verify(artifact)
    assert result.plan.runs[0].runs_per_report == 4
    assert len(result.runs) == 12
    assert len(only(result).values) == 3


def test_some_reproduced_and_some_not_is_partial(tmp_path: Path) -> None:
    code = RIGHT + 'print(json.dumps({"a": 100 * right / 89, "b": 100 * (right - 3) / 89}))\n'
    declared = {
        "one": {"outcomes": {"a": outcome("98.9", json="/a")}},
        "two": {"outcomes": {"a": outcome("98.9", json="/a"), "b": outcome("98.9", json="/b")}},
    }
    artifact = make_artifact(tmp_path / "a", {"main.py": code}, experiments=declared)
    result = verify(artifact)
    assert result.experiments == {"one": "reproduced", "two": "partial"}
    assert (result.verdict, result.exit_code, result.level) == ("partial", 1, "L2")


def test_a_duration_is_not_compared_between_machines(tmp_path: Path) -> None:
    code = COMPUTES.replace("/ 89", '/ 89, "seconds": 0.25')
    outcomes = {
        "accuracy": outcome(),
        "time": outcome("7.1", json="/seconds", unit="s", comparable="never"),
    }
    artifact = make_artifact(
        tmp_path / "a", {"main.py": code}, experiments={"table": {"outcomes": outcomes}}
    )
    result = verify(artifact)
    assert [found.verdict for found in result.outcomes] == ["reproduced", "not_assessed"]
    assert result.ok


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES})
    with pytest.raises(UsageError, match="is in use"):
        verify_artifact(artifact, artifact.root, PLAIN)


def test_the_place_can_be_kept(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES})
    verify_artifact(artifact, tmp_path / "v", Options(sandbox=PLAIN.sandbox, keep=True))
    assert (tmp_path / "v/place/artifact/rra.yaml").is_file()
    assert (tmp_path / "v/place/environments/cpu/bin/python").exists()


@pytest.mark.clause("reproduction/open-probe")
def test_what_the_probe_could_not_settle_is_not_called_reproduced(tmp_path: Path) -> None:
    # A printed number and a computed one look alike until a number was changed.
    printed = "print('{\"accuracy\": 98.9}')\n"
    artifact = make_artifact(tmp_path / "a", {"main.py": printed})
    found = only(verify(artifact, budget=Budget(runs=0)))
    assert (found.verdict, found.label) == ("inconclusive", "inconclusive(copy not excluded)")
    assert any(f.code == "NOT_ASSESSED" and f.material for f in found.findings)
    assert verify(artifact, budget=Budget(runs=0)).exit_code == 1
    assert only(verify(artifact)).verdict == "not_reproduced"


def test_a_computed_zero_among_many_zeros_is_reproduced_and_the_doubt_is_said(
    tmp_path: Path,
) -> None:
    source = """\
import json
rows = [[4, 9], [2, 3], [5, 7]]
assert len(rows[0]) == len(rows[0][0:]) == 2
first, second = rows[0][0], rows[0][1]
wrong = sum(row[0] > row[1] for row in rows[0:])
print(json.dumps({"accuracy": wrong}))
"""
    artifact = make_artifact(
        tmp_path / "a", {"main.py": source}, experiments=experiments(reported="0")
    )
    found = only(verify(artifact))
    assert found.verdict == "reproduced"
    (finding,) = found.findings
    assert (finding.code, finding.status, finding.material) == (
        "copy-not-excluded",
        "uncertain",
        False,
    )
    printed = make_artifact(
        tmp_path / "b",
        {"main.py": "print('{\"accuracy\": 0}')\n"},
        experiments=experiments(reported="0"),
    )
    assert only(verify(printed)).verdict == "not_reproduced"


def test_a_chosen_hyper_parameter_is_no_copy(tmp_path: Path) -> None:
    source = """\
import json
grid, data = [0.1, 0.5, 1.0, 5.0], [0.4, 0.6, 0.55, 0.45, 0.52]
best = min(grid, key=lambda c: sum((x - c) ** 2 for x in data))
print(json.dumps({"accuracy": best}))
"""
    artifact = make_artifact(
        tmp_path / "a", {"main.py": source}, experiments=experiments(reported="0.5")
    )
    found = only(verify(artifact))
    assert found.verdict == "reproduced"
    (finding,) = found.findings
    assert (finding.status, finding.material) == ("uncertain", False)
    assert "it is chosen among numbers" in finding.message
