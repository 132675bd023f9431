"""What the verbs of ``rra evidence`` print is what their schemas say, after real runs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from rra.signing import parse_bundle
from tests.acceptance.command import rra
from tests.support.artifacts import COMPUTES, make_artifact, record_run
from tests.support.signed import AUTHOR
from tests.unit.test_cli_schemas import call

FAILS = 'python main.py --broken > "$RRA_OUTPUT_DIR/metrics.json"; exit 3'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifact with a failed run, a success, and then another code with its run."""
    root = tmp_path_factory.mktemp("evidence") / "a"
    artifact = make_artifact(root, {"main.py": COMPUTES}, command=FAILS)
    assert not record_run(artifact).ok
    artifact = make_artifact(root, {"main.py": COMPUTES})
    assert record_run(artifact).ok
    (root / "code" / "main.py").write_text(COMPUTES + "# later\n", encoding="utf-8")
    assert record_run(artifact).ok
    return root


def listed(root: Path) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = call("evidence", "list", str(root), cwd=root)["result"]["runs"]
    return runs


def test_the_list_says_what_is_stale(made: Path) -> None:
    failed, old, new = listed(made)
    assert [one["termination"] for one in (failed, old, new)] == ["exit", "ok", "ok"]
    assert failed["exit_code"] == 3
    assert (failed["current"], old["current"], new["current"]) == (False, False, True)
    assert failed["changed"] == ["code/main.py", "launchers/main.sh"]
    assert old["changed"] == ["code/main.py"]
    said = rra("evidence", "list", str(made)).expect(0).out
    assert [line.split()[-1] for line in said.splitlines() if "sha256:" in line] == [
        "stale",
        "stale",
        "current",
    ]


def test_one_run_is_shown_whole(made: Path) -> None:
    result = call("evidence", "show", "main", str(made), cwd=made)["result"]
    assert result["document"]["type"] == "execution-record/v1"
    assert {one["path"] for one in result["document"]["inputs"]} >= {"code/main.py"}
    said = rra("evidence", "show", "main", str(made)).expect(0).out
    assert "code/main.py (code)" in said
    assert "metrics.json" in said
    assert call("evidence", "show", "absent", str(made), cwd=made)["exit_code"] == 2


def test_two_runs_are_compared_field_by_field(made: Path) -> None:
    _, old, new = listed(made)
    pair = (old["record"][7:20], new["record"])
    result = call("evidence", "diff", *pair, str(made), cwd=made)["result"]
    assert {(one["group"], one["field"]) for one in result["fields"]} >= {
        ("code", "code/main.py"),
    }
    assert not result["unexplained"]
    same = call("evidence", "diff", pair[1], "main", str(made), cwd=made)
    assert (same["exit_code"], same["result"]["fields"]) == (0, [])
    assert "code/main.py" in rra("evidence", "diff", *pair, str(made)).expect(1).out


def test_statements_are_written_and_signed(made: Path, tmp_path: Path) -> None:
    result = call("evidence", "attest", str(made), "-o", "stated", cwd=tmp_path)["result"]
    (one,) = result["statements"]
    statement = json.loads((tmp_path / one["file"]).read_bytes())
    assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
    assert one["subjects"] == len(statement["subject"])
    (tmp_path / "author.key").write_bytes(AUTHOR.to_pem(None))
    signed = call(
        "evidence", "attest", str(made), "--record", "main", "--key", "author.key", cwd=tmp_path
    )["result"]  # fmt: skip
    assert signed["signer"] == AUTHOR.public.fingerprint
    data = (tmp_path / signed["statements"][0]["file"]).read_bytes()
    assert parse_bundle(data).statement().to_json() == statement
    failed = listed(made)[0]["record"]
    refused = call("evidence", "attest", str(made), "--record", failed, cwd=tmp_path)
    assert refused["exit_code"] == 2


def test_damage_is_found_and_failed_runs_go(tmp_path: Path) -> None:
    root = tmp_path / "a"
    assert call("evidence", "verify", str(make_artifact(root, {}).root), cwd=tmp_path)[
        "exit_code"
    ] == 1  # fmt: skip
    record_run(make_artifact(root, {"main.py": COMPUTES}, command=FAILS))
    record_run(make_artifact(root, {"main.py": COMPUTES}))
    assert call("evidence", "verify", "a", cwd=tmp_path)["result"]["checked"] == 2
    assert call("evidence", "gc", "a", cwd=tmp_path)["result"]["removed"] is False
    assert len(listed(root)) == 2
    gone = call("evidence", "gc", "a", "--yes", cwd=tmp_path)["result"]
    assert [one["termination"] for one in gone["garbage"]] == ["exit"]
    (kept,) = listed(root)
    (root / kept["place"] / "outputs" / "metrics.json").write_text('{"accuracy": 99.9}')
    (root / kept["place"] / "events.jsonl").write_text("")
    answer = call("evidence", "verify", "a", "--record", "main", cwd=tmp_path)
    assert answer["exit_code"] == 1
    (damaged,) = answer["result"]["damaged"]
    assert [one["clause"] for one in damaged["faults"]] == [
        "execution-record/event-chain",
        "execution-record/file-digests",
    ]
    refused = call("evidence", "attest", "a", cwd=tmp_path)
    assert refused["result"]["error"]["slug"] == "artifact/digest-mismatch"
    assert "damaged" in rra("evidence", "list", "a", cwd=tmp_path).expect(1).out
    assert "stays" not in rra("evidence", "gc", "a", cwd=tmp_path).expect(0).out


def test_words_for_failed_imported_and_damaged_runs(tmp_path: Path) -> None:
    """What a person reads in the tables; the digests stand in the lines above them."""
    record_run(make_artifact(tmp_path / "a", {"main.py": COMPUTES}, command="exit 3"))
    made = record_run(make_artifact(tmp_path / "a", {"main.py": COMPUTES}))
    (tmp_path / "old").mkdir()
    (tmp_path / "old/metrics.json").write_text("{}")
    call("evidence", "import", "old", "a", "--launcher", "main", cwd=tmp_path)
    said = rra("evidence", "list", "a", cwd=tmp_path).expect(0).out
    rows = [re.split("  +", line.strip()) for line in said.splitlines()[2:5]]
    ends = {(row[4], row[-1]) for row in rows}
    assert ends == {("exit 3, outputs missing", "stale"), ("ok", "current"), ("ok", "not seen")}
    assert made.evidence_dir is not None
    (made.evidence_dir / "stderr.txt").unlink()
    (made.evidence_dir / "outputs/metrics.json").write_text("9")
    said = rra("evidence", "verify", "a", cwd=tmp_path).expect(1).out
    assert "damaged: stderr.txt: not there, and 1 more\n" in said
    assert "sha256:" not in said


def test_a_file_beside_a_record_is_named_and_a_record_removed_whole_is_not_missed(
    tmp_path: Path,
) -> None:
    made = [record_run(make_artifact(tmp_path / "a", {"main.py": COMPUTES})) for _ in range(2)]
    kept, gone = (one.evidence_dir for one in made)
    assert kept is not None
    assert gone is not None
    (kept / "foreign").touch()
    said = rra("evidence", "verify", "a", cwd=tmp_path).expect(1).out
    assert f"evidence/main/{kept.name}   damaged: foreign: no run left it\n" in said
    (damaged,) = call("evidence", "verify", "a", cwd=tmp_path)["result"]["damaged"]
    assert [one["path"] for one in damaged["faults"]] == [f"evidence/main/{kept.name}/foreign"]
    (kept / "foreign").unlink()
    shutil.rmtree(gone)
    assert "\n1 checked, 0 damaged\n" in rra("evidence", "verify", "a", cwd=tmp_path).expect(0).out
    assert "is not missed" in " ".join(rra("evidence", "verify", "--help").expect(0).out.split())
