"""``rra evidence import``: runs that exist become records that claim no more than is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.api import audit
from rra.artifact import Artifact
from rra.evidence import EvidenceStore
from tests.support.artifacts import COMPUTES, make_artifact, outcome
from tests.support.runs import write_artifact
from tests.unit.test_cli_schemas import call
from tests.unit.values.test_values_selectors import write

RUN = "0761d7b7ba034a1e926278b190e3967f"
META = (
    "artifact_uri: ''\nend_time: 1730000060500\nrun_id: {}\nstart_time: 1730000000000\nstatus: {}\n"
)
LAUNCHERS = {
    "main": {
        "entry": "launchers/main.sh",
        "environment": "cpu",
        "outputs": ["metrics.json", "mlruns"],
        "parameters": {"lr": {"type": "number", "default": 1}, "n": {"type": "integer"}},
    }
}


def artifact(place: Path, **selector: Any) -> Artifact:
    claim = outcome("98.9", **selector)
    return make_artifact(
        place / "a",
        {"main.py": COMPUTES},
        launchers=LAUNCHERS,
        experiments={"table": {"outcomes": {"accuracy": claim}}},
    )


def imported(place: Path, *arguments: str) -> list[dict[str, Any]]:
    answer = call("evidence", "import", *arguments, "a", "--launcher", "main", cwd=place)
    assert answer["exit_code"] == 0
    runs: list[dict[str, Any]] = answer["result"]["runs"]
    return runs


def shown(place: Path, record: str) -> dict[str, Any]:
    result = call("evidence", "show", record, "a", cwd=place)["result"]
    assert result["intact"]
    document: dict[str, Any] = result["document"]
    return document


def test_what_an_import_leaves_out_is_said(tmp_path: Path) -> None:
    artifact(tmp_path)
    write(tmp_path, "old/metrics.json", '{"accuracy": 98.876}')
    (tmp_path / "old" / "link").symlink_to("/etc/hostname")
    done = api.evidence_import(tmp_path / "old", tmp_path / "a", launcher="main")
    assert [one.message for one in done.problems] == ["old: links are not imported: link"]
    lines = [
        "JobID|State|ExitCode|Start|End",
        "7|COMPLETED|0:0|Unknown|2026-13-01T00:00:00",
        "8|STRANGE|0:0|Unknown|Unknown",
    ]
    write(tmp_path, "jobs.txt", "\n".join(lines) + "\n")
    told = api.evidence_import(tmp_path / "jobs.txt", tmp_path / "a", launcher="main")
    state, time = told.problems
    assert "STRANGE is none that says how it ended" in state.message
    assert "COMPLETED, FAILED" in (state.hint or "")
    assert time.message.endswith("when it ran is not known")
    assert "1970-01-01T00:00:00Z" in (time.hint or "")


def test_a_folder_of_outputs_is_a_run_and_its_values_are_found_not_made(tmp_path: Path) -> None:
    found = artifact(tmp_path)
    write(tmp_path, "old/metrics.json", '{"accuracy": 98.876}')
    write(tmp_path, "old/deep/log.txt", "x")
    (tmp_path / "old" / "link").symlink_to("/etc/hostname")
    (one,) = imported(tmp_path, "old")
    record = shown(tmp_path, one["record"])
    assert record["recorder"]["level"] == "imported"
    assert "links are not imported: link" in record["recorder"]["gaps"]
    assert "nothing of it was seen" in record["recorder"]["gaps"][0]
    assert [item["path"] for item in record["outputs"]] == [
        "deep/log.txt",
        "metrics.json",
        "stderr.txt",
        "stdout.txt",
    ]
    assert call("evidence", "verify", "a", cwd=tmp_path)["exit_code"] == 0
    (value,) = audit(found.root, rerun=False).audit.values
    assert value.obtained == "98.876"
    assert value.evidence_level == "E2"
    assert "INCOMPLETE_RECORD" in {finding.code for finding in value.findings}
    refused = call("evidence", "attest", "a", cwd=tmp_path)
    assert "imported" in refused["result"]["error"]["hint"]


def test_runs_of_an_mlflow_store(tmp_path: Path) -> None:
    locator = {"metric": "val/acc"}
    found = artifact(tmp_path)
    document = json.loads((found.root / "rra.yaml").read_text())
    selector = document["experiments"]["table"]["outcomes"]["accuracy"]["selector"]
    selector.pop("json")
    selector |= {"file": "mlruns", "mlflow": locator}
    (found.root / "rra.yaml").write_text(json.dumps(document))
    write(tmp_path, "mlruns/0/meta.yaml", "experiment_id: '0'\nname: Default\n")
    for name, status in ((RUN, "3"), ("1" * 32, "4")):
        write(tmp_path, f"mlruns/0/{name}/meta.yaml", META.format(name, status))
        write(tmp_path, f"mlruns/0/{name}/metrics/val/acc", "1730000000000 98.90 0\n")
        write(tmp_path, f"mlruns/0/{name}/params/lr", "0.1")
        write(tmp_path, f"mlruns/0/{name}/params/n", "many")
        write(tmp_path, f"mlruns/0/{name}/tags/mlflow.runName", f"run-{status}")
    good, bad = imported(tmp_path, "mlruns")
    assert [good["name"], good["ok"], bad["name"], bad["ok"]] == ["run-3", True, "run-4", False]
    record = shown(tmp_path, good["record"])
    assert (record["started"], record["ended"]) == ("2024-10-27T03:33:20Z", "2024-10-27T03:34:20Z")
    assert record["resources"]["wall"] == 60.5
    assert record["parameters"] == {"lr": 0.1}
    (value,) = audit(found.root, rerun=False).audit.values
    assert (value.obtained, value.evidence_level) == ("98.90", "E2")
    assert [one["name"] for one in imported(tmp_path, "mlruns", "--run", RUN)] == ["run-3"]


def test_runs_of_weights_and_biases(tmp_path: Path) -> None:
    artifact(tmp_path)
    files = "wandb/run-20240101_120000-abc/files"
    write(tmp_path, f"{files}/wandb-summary.json", '{"acc": 0.98, "_runtime": 30}')
    write(tmp_path, f"{files}/wandb-metadata.json", '{"startedAt": "2024-01-01T12:00:00Z"}')
    write(tmp_path, f"{files}/output.log", "acc 0.98\n")
    (one,) = imported(tmp_path, "wandb")
    record = shown(tmp_path, one["record"])
    assert (record["started"], record["ended"]) == ("2024-01-01T12:00:00Z", "2024-01-01T12:00:30Z")
    assert record["stdout"]["bytes"] == 9


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent"], "no such directory"),
        (["empty"], "holds no files"),
        (["old", "--format", "wandb"], "holds no runs of wandb"),
        (["old", "--run", "other"], "no run is called other"),
    ],
)
def test_what_cannot_be_imported_is_said(tmp_path: Path, arguments: list[str], said: str) -> None:
    artifact(tmp_path)
    (tmp_path / "empty").mkdir()
    write(tmp_path, "old/metrics.json", "{}")
    answer = call(
        "evidence", "import", arguments[0], "a", "--launcher", "main", *arguments[1:], cwd=tmp_path
    )
    assert answer["exit_code"] == 2
    assert said in answer["result"]["error"]["message"]
    assert not (tmp_path / "a" / "evidence" / "main").exists()


def test_a_run_for_an_environment_that_no_file_locks(tmp_path: Path) -> None:
    """Its record names what a run there names, so that both are of one environment."""
    write_artifact(
        tmp_path / "a", {"launchers/main.sh": 'echo {} > "$RRA_OUTPUT_DIR/metrics.json"'}
    )
    assert api.run(tmp_path / "a", sandbox="none").runs[0].ok
    write(tmp_path, "old/metrics.json", '{"accuracy": 98.876}')
    (one,) = imported(tmp_path, "old")
    both = [shown(tmp_path, name)["environment"]["lock"] for name in ("main", one["record"])]
    records = EvidenceStore(tmp_path / "a/evidence").records()
    assert {stored.record.environment.lock for stored in records} == set(both)
    assert len(set(both)) == 1


def test_jobs_of_slurm(tmp_path: Path) -> None:
    """An array of which one element failed: how each ended, what it printed and left."""
    found = artifact(tmp_path)
    rows = [
        "JobID|JobIDRaw|JobName|State|ExitCode|Start|End|Elapsed|TotalCPU|MaxRSS",
        "12_0|13|lda|COMPLETED|0:0|2024-05-06T07:00:00|2024-05-06T07:01:30|00:01:30|01:20.250|",
        "12_0.batch|13.batch|batch|COMPLETED|0:0|||00:01:30|01:20.250|2000K",
        "12_1|12|lda|OUT_OF_MEMORY|0:125|2024-05-06T07:00:00|2024-05-06T07:00:09|00:00:09|00:08|",
        "12_2|14|lda|RUNNING|0:0|2024-05-06T07:00:00|Unknown|00:10:00|00:00:00|",
    ]
    write(tmp_path, "sacct.txt", "\n".join(rows) + "\n")
    write(tmp_path, "slurm-12_0.out", "accuracy 98.876\n")
    write(tmp_path, "results/12_0/metrics.json", '{"accuracy": 98.876}')
    arguments = ["sacct.txt", "a", "--launcher", "main", "--outputs", "results/%A_%a"]
    answer = call("evidence", "import", *arguments, cwd=tmp_path)
    assert answer["exit_code"] == 0
    assert answer["result"]["format"] == "slurm"
    assert [one["message"] for one in answer["problems"]] == [
        "job 12_2 is not imported: it has not ended (RUNNING)"
    ]
    good, bad = answer["result"]["runs"]
    assert [good["termination"], bad["termination"]] == ["ok", "memory"]
    record = shown(tmp_path, good["record"])
    assert record["recorder"]["level"] == "imported"
    assert record["instance"] == "array=0"
    assert record["resources"] == {"wall": 90.0, "cpu": 80.25, "max_rss": 2048000}
    assert record["stdout"]["bytes"] == 16
    assert "job 12_0 of Slurm: COMPLETED" in record["recorder"]["gaps"]
    record = shown(tmp_path, bad["record"])
    assert (record["termination"], record["exit_code"]) == ("memory", -125)
    assert "what it printed was not found" in record["recorder"]["gaps"]
    assert call("evidence", "verify", "a", cwd=tmp_path)["exit_code"] == 0
    (value,) = audit(found.root, rerun=False).audit.values
    assert (value.obtained, value.evidence_level) == ("98.876", "E2")
    refused = call("evidence", "attest", "a", cwd=tmp_path)
    assert "imported" in refused["result"]["error"]["hint"]
    refused = call(
        "evidence", "import", "results", "a", "--launcher", "main", "--stdout", "x", cwd=tmp_path
    )
    assert "--outputs and --stdout are for jobs" in refused["result"]["error"]["message"]
