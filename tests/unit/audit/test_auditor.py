"""Every failure of evidence gets its word, and what is sound is supported at its level."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from rra.artifact import Artifact, load_artifact
from rra.audit import Options, ValueAudit, audit_artifact, trace_value
from rra.environment import MaterialisedEnvironment
from rra.errors import EnvironmentBuildError
from rra.evidence import EvidenceStore
from rra.sandbox import best_sandbox
from tests.support.artifacts import COMPUTES, DEVIATES, make_artifact, outcome, record_run

NAME = "table/accuracy"
READ_ONLY = Options(rerun=False)
PLAIN = Options(sandbox=best_sandbox("none"))


def experiments(**more: Any) -> dict[str, Any]:
    return {"table": {"outcomes": {"accuracy": outcome(**more)}}}


def audit(artifact: Artifact, options: Options = PLAIN) -> ValueAudit:
    return audit_artifact(artifact, options).values[0]


def codes(value: ValueAudit) -> list[tuple[str, str, bool]]:
    return [(finding.code, finding.status, finding.material) for finding in value.findings]


def snapshot(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_recorded_value_that_comes_out_again_is_supported_at_e4(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": COMPUTES})
    run = record_run(artifact)
    before = snapshot(tmp_path)
    value = audit(artifact)
    assert (value.verdict, value.evidence_level) == ("SUPPORTED", "E4")
    assert value.stands
    assert value.obtained is not None
    assert value.obtained.startswith("98.876404494382")
    assert value.trace.record == run.record_digest
    assert value.trace.file == "metrics.json"
    assert value.trace.line == 1
    assert value.trace.entry is not None
    assert value.trace.entry.path == "launchers/main.sh"
    assert [script.path for script in value.trace.scripts] == ["code/main.py"]
    assert "code/main.py" in {item.path for item in value.trace.inputs}
    assert snapshot(tmp_path) == before


@pytest.mark.clause("audit/shipped-evidence-ends-at-e3")
def test_without_a_run_of_its_own_the_record_gives_e3(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": COMPUTES})
    record_run(artifact)
    value = audit(artifact, READ_ONLY)
    assert (value.verdict, value.evidence_level, value.findings) == ("SUPPORTED", "E3", [])


def test_the_record_alone_is_enough_when_outputs_are_not_shipped(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": COMPUTES})
    record_run(artifact)
    shutil.rmtree(tmp_path / "outputs")
    value = audit(artifact, READ_ONLY)
    assert (value.verdict, value.evidence_level) == ("SUPPORTED", "E3")


@pytest.mark.clause("audit/no-run-is-unexecuted")
def test_without_evidence_and_without_a_run_nothing_is_supported(tmp_path: Path) -> None:
    value = audit(make_artifact(tmp_path, {"main.py": COMPUTES}), READ_ONLY)
    assert (value.verdict, value.evidence_level) == ("UNEXECUTED", "E0")
    assert not value.stands


@pytest.mark.clause("audit/selector-first")
def test_a_number_in_some_file_is_e1(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": COMPUTES, "old.json": '{"accuracy": 98.9}'})
    value = audit(artifact, READ_ONLY)
    assert value.evidence_level == "E1"
    assert not value.stands


def test_without_evidence_the_auditors_own_run_supports(tmp_path: Path) -> None:
    value = audit(make_artifact(tmp_path, {"main.py": COMPUTES}))
    assert (value.verdict, value.evidence_level) == ("SUPPORTED", "E4")
    assert ("UNEXECUTED", "refuted", False) in codes(value)
    assert value.trace.record is not None


def test_another_value_contradicts(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": DEVIATES})
    record_run(artifact)
    for options, level in ((READ_ONLY, "E3"), (PLAIN, "E3")):
        value = audit(artifact, options)
        assert (value.verdict, value.evidence_level) == ("CONTRADICTED", level)
        assert ("CONTRADICTED", "refuted", True) in codes(value)


@pytest.mark.clause("audit/documented-is-not-supported")
@pytest.mark.parametrize(("observed", "documented"), [("95.5", True), ("95.6", False)])
def test_a_documented_deviation_is_shown_and_never_supported(
    observed: str, *, documented: bool, tmp_path: Path
) -> None:
    deviation = {"observed": observed, "explanation": "one sample is classified differently"}
    artifact = make_artifact(
        tmp_path, {"main.py": DEVIATES}, experiments=experiments(deviation=deviation)
    )
    result = audit_artifact(artifact, PLAIN)
    value = result.values[0]
    assert (value.verdict, value.documented) == ("CONTRADICTED", documented)
    assert ("CONTRADICTED", "refuted", not documented) in codes(value)
    assert not result.ok()
    assert result.ok(accept_documented=True) is documented


@pytest.mark.clause("audit/untraceable")
def test_a_selector_that_finds_nothing_is_untraceable(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": COMPUTES}, experiments=experiments(json="/f1"))
    record_run(artifact)
    for options in (READ_ONLY, PLAIN):
        value = audit(artifact, options)
        assert value.verdict == "UNTRACEABLE"
        assert "accuracy" in " ".join(f.message for f in value.findings) or value.findings


@pytest.mark.clause("audit/two-matches")
def test_two_matches_are_ambiguous(tmp_path: Path) -> None:
    code = 'print("acc 98.9")\nprint("acc 97.0")\n'
    selector = {"file": "metrics.json", "regex": "acc (?P<value>[0-9.]+)"}
    artifact = make_artifact(tmp_path, {"main.py": code}, experiments=experiments(**selector))
    record_run(artifact)
    assert audit(artifact, READ_ONLY).verdict == "AMBIGUOUS"
    assert audit(artifact).verdict == "AMBIGUOUS"


@pytest.mark.clause("audit/unit-slip")
def test_a_share_declared_as_per_cent_is_a_slip_of_units(tmp_path: Path) -> None:
    code = COMPUTES.replace("100 * ", "")
    files: dict[str, str | bytes] = {"main.py": code}
    wrong = make_artifact(tmp_path / "a", files, experiments=experiments(unit="percent"))
    value = audit(wrong)
    assert value.verdict == "UNIT_SUSPECT"
    assert "multiplied by 100" in " ".join(finding.message for finding in value.findings)
    units = experiments(unit="percent", file_unit="fraction")
    right = make_artifact(tmp_path / "b", files, experiments=units)
    assert audit(right).verdict == "SUPPORTED"


@pytest.mark.clause("audit/records-are-checked")
def test_an_output_that_was_edited_is_tampered(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": DEVIATES})
    record_run(artifact)
    (tmp_path / "outputs/main/metrics.json").write_text('{"accuracy": 98.9}')
    value = audit(artifact, READ_ONLY)
    assert (value.verdict, value.evidence_level) == ("TAMPERED", "E2")
    assert value.findings[0].places == ["outputs/main/metrics.json"]
    assert audit(artifact).verdict == "TAMPERED"


@pytest.mark.clause("audit/records-are-checked")
def test_evidence_that_was_edited_is_tampered(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": DEVIATES})
    run = record_run(artifact)
    assert run.evidence_dir is not None
    shutil.rmtree(tmp_path / "outputs")
    (run.evidence_dir / "outputs/metrics.json").write_text('{"accuracy": 98.9}')
    assert audit(artifact, READ_ONLY).verdict == "TAMPERED"


@pytest.mark.clause("audit/records-are-checked")
def test_a_record_that_was_edited_is_tampered(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": COMPUTES})
    run = record_run(artifact)
    assert run.evidence_dir is not None
    record = json.loads((run.evidence_dir / "record.json").read_text())
    record["nonce"] = "f" * 32
    (run.evidence_dir / "record.json").write_text(json.dumps(record))
    value = audit(artifact, READ_ONLY)
    assert value.verdict == "TAMPERED"
    (run.evidence_dir / "record.json").write_text("{")
    assert audit(artifact, READ_ONLY).verdict == "TAMPERED"


@pytest.mark.clause("audit/other-state-is-stale")
def test_a_record_of_other_code_is_stale(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": COMPUTES})
    record_run(artifact)
    (tmp_path / "code/main.py").write_text(COMPUTES + "# changed\n")
    value = audit(artifact, READ_ONLY)
    assert (value.verdict, value.evidence_level) == ("STALE", "E2")
    assert value.findings[0].places == ["code/main.py"]
    fresh = audit(artifact)
    assert (fresh.verdict, fresh.evidence_level) == ("SUPPORTED", "E4")
    assert ("STALE", "refuted", False) in codes(fresh)


def test_a_record_stays_valid_when_another_outcome_is_corrected(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": COMPUTES})
    record_run(artifact)
    manifest = json.loads((tmp_path / "rra.yaml").read_text())
    manifest["experiments"]["other"] = {"outcomes": {"f1": outcome("1.0", json="/f1")}}
    (tmp_path / "rra.yaml").write_text(json.dumps(manifest, indent=2))
    value = audit(load_artifact(tmp_path), READ_ONLY)
    assert (value.verdict, value.evidence_level) == ("SUPPORTED", "E3")
    assert ("STALE", "supported", False) in codes(value)


def test_an_imported_record_is_incomplete(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": COMPUTES})
    run = record_run(artifact)
    assert run.evidence_dir is not None
    level = run.record.recorder.model_copy(update={"level": "imported"})
    record = run.record.model_copy(update={"recorder": level})
    EvidenceStore(tmp_path / "evidence").add(run.evidence_dir, record)
    value = audit(artifact, READ_ONLY)
    assert (value.verdict, value.evidence_level) == ("INCOMPLETE_RECORD", "E2")


def test_a_launcher_that_fails_is_unexecuted_and_says_why(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": 'raise SystemExit("no such corpus")'})
    record_run(artifact)
    value = audit(artifact)
    assert (value.verdict, value.evidence_level) == ("UNEXECUTED", "E0")
    messages = " ".join(finding.message for finding in value.findings)
    assert "exit" in messages
    assert "no such corpus" in messages


@pytest.mark.clause("audit/copies")
def test_a_copied_number_is_hardcoded_without_any_evidence(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "main.py": 'print(open("results.json").read())\n',
        "results.json": '{\n  "accuracy": 98.9\n}\n',
    }
    result = audit_artifact(make_artifact(tmp_path, files), PLAIN)
    value = result.values[0]
    assert value.verdict == "HARDCODED"
    finding = next(finding for finding in value.findings if finding.code == "HARDCODED")
    assert finding.places == ["code/results.json:2"]
    assert [trial.obtained[NAME] for trial in finding.trials] == [
        next(r.decoy for r in trial.replaced if r.place == "code/results.json:2")
        for trial in finding.trials
    ]
    assert not result.ok(accept_documented=True)
    json.dumps(result.to_json())


@pytest.mark.needs("bwrap")
def test_a_copied_number_is_hardcoded_in_a_sandbox(tmp_path: Path) -> None:
    code = 'import json\nprint(json.dumps({"accuracy": 98.9}))\n'
    artifact = make_artifact(tmp_path, {"main.py": code})
    value = audit(artifact, Options(sandbox=best_sandbox("bwrap")))
    assert value.verdict == "HARDCODED"
    assert any("code/main.py:2" in finding.places for finding in value.findings)


@pytest.mark.clause("audit/cannot-run-refutes-nothing")
def test_an_environment_that_cannot_be_built_leaves_the_evidence(tmp_path: Path) -> None:
    def build(artifact: Artifact, env_id: str) -> MaterialisedEnvironment:
        raise EnvironmentBuildError("no index here")

    artifact = make_artifact(tmp_path, {"main.py": COMPUTES})
    record_run(artifact)
    result = audit_artifact(artifact, Options(build=build))
    assert not result.rerun
    assert result.notes[-1] == "nothing was run again: no index here"
    assert (result.values[0].verdict, result.values[0].evidence_level) == ("SUPPORTED", "E3")


def test_a_category_is_compared_without_regard_to_case_and_probed(tmp_path: Path) -> None:
    code = "import json\nscores = {'lda': 2, 'qda': 1}\n"
    code += 'print(json.dumps({"best": max(scores, key=scores.get)}))\n'
    best = {"type": "category", "reported": "LDA", "json": "/best"}
    value = audit(make_artifact(tmp_path, {"main.py": code}, experiments=experiments(**best)))
    assert (value.verdict, value.evidence_level) == ("SUPPORTED", "E4")
    assert ("copy-not-excluded", "uncertain", False) in codes(value)


def test_one_run_of_a_stochastic_launcher_decides_nothing(tmp_path: Path) -> None:
    launcher = {
        "entry": "launchers/main.sh",
        "environment": "cpu",
        "outputs": ["metrics.json"],
        "seeds": {"values": [1, 2]},
    }
    code = (
        "import json, os, random\n"
        'random.seed(int(os.environ["RRA_SEED"]))\n'
        'print(json.dumps({"accuracy": 95 + random.random()}))\n'
    )
    artifact = make_artifact(tmp_path, {"main.py": code}, launchers={"main": launcher})
    record_run(artifact)
    value = audit(artifact, READ_ONLY)
    assert value.verdict == "NOT_ASSESSED"
    assert audit(artifact).verdict == "CONTRADICTED"


def test_the_trace_of_an_outcome_by_its_short_name(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path, {"main.py": COMPUTES})
    assert trace_value(artifact, "accuracy").record is None
    run = record_run(artifact)
    trace = trace_value(artifact, "accuracy")
    assert (trace.outcome, trace.record) == (NAME, run.record_digest)
    assert trace.selector == "metrics.json json /accuracy"
