"""Runs whose recorder was cut off are recorded by whoever comes next, and nothing is invented."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rra._base import canonical
from rra._base.files import STAGING_PREFIX, atomic_write
from rra._base.owners import Owner, this_process
from rra.artifact import Artifact
from rra.evidence import RECORD, EvidenceStore, StoredRecord, verify_record
from rra.evidence.events import EventLog, read_log
from rra.launch import Recovered, recover_runs, run, run_launcher
from rra.launch.workspace import JOURNAL
from rra.sandbox import best_sandbox
from tests.support.runs import NONCE, request, write_artifact

LEAVES = 'echo printed; echo 1 > "$RRA_OUTPUT_DIR/metrics.json"; exit 3\n'


class Cut(BaseException):
    """Stands for the end of the process: nothing of rra runs after it."""


def cut_off(monkeypatch: pytest.MonkeyPatch, artifact: Artifact, where: str, **asked: Any) -> Path:
    """Run the launcher and end at a function of `rra.launch.run`; return its private folder."""

    def ends(*_: object, **__: object) -> None:
        raise Cut

    with monkeypatch.context() as patch:
        patch.setattr(run, where, ends)
        with pytest.raises(Cut):
            run_launcher(request(artifact, sandbox=best_sandbox("none"), **asked))
    (left,) = (artifact.root / "outputs").glob(f"{STAGING_PREFIX}*")
    return left


def recovered(artifact: Artifact, **more: Any) -> list[Recovered]:
    store = EvidenceStore(artifact.root / "evidence")
    return recover_runs(artifact, artifact.root / "outputs", store, **more)


def one_record(artifact: Artifact) -> StoredRecord:
    """Recover the only run and return its record, which is intact."""
    (one,) = recovered(artifact)
    assert one.stored is not None, one
    assert verify_record(one.stored) == []
    assert list((artifact.root / "outputs").glob(f"{STAGING_PREFIX}*")) == []
    assert recovered(artifact) == []
    return one.stored


def rewritten(left: Path, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Change the events of a journal, chained anew."""
    events, _ = read_log(left / JOURNAL)
    change(events)
    (left / JOURNAL).unlink()
    log = EventLog(left / JOURNAL)
    for event in events:
        log.add(event)


@pytest.mark.clause("execution-record/cut-off")
def test_a_run_that_had_ended_has_its_status_and_what_it_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": LEAVES})
    cut_off(monkeypatch, artifact, "write_record", seed=5)
    stored = one_record(artifact)
    record = stored.record
    assert (record.termination, record.exit_code, record.ok) == ("infrastructure", 3, False)
    assert (record.nonce, record.seed.declared, record.argv[0]) == (NONCE, 5, "bash")
    assert (stored.outputs / "metrics.json").read_text() == "1\n"
    assert (stored.outputs / "stdout.txt").read_text() == "printed\n"
    assert record.resources.wall > 0
    assert not any("status is written as" in gap for gap in record.recorder.gaps)
    assert [one.path for one in record.inputs] == ["launchers/main.sh"]
    assert not (artifact.root / "outputs" / "main").exists()


@pytest.mark.clause("execution-record/cut-off")
def test_what_nobody_saw_is_said_to_be_unknown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": LEAVES})
    left = cut_off(monkeypatch, artifact, "write_record")
    rewritten(left, lambda events: events.__delitem__(slice(1, None)))
    record = one_record(artifact).record
    assert (record.termination, record.exit_code) == ("infrastructure", -255)
    assert (record.resources.cpu, record.resources.max_rss) == (0, 0)
    gaps = "; ".join(record.recorder.gaps)
    for words in ("was ended before it had recorded", "exit status is written as -255", "as 0"):
        assert words in gaps
    assert record.started <= record.ended


def test_the_end_is_the_last_sign_of_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = "echo a; sleep 1; echo b\n"
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script})
    signs: list[int] = []

    def look(_: str) -> None:
        (journal,) = (artifact.root / "outputs").glob(f"{STAGING_PREFIX}*/{JOURNAL}")
        signs.append(journal.stat().st_mtime_ns)

    left = cut_off(monkeypatch, artifact, "write_record", on_line=look)
    assert signs[0] < signs[-1], "it says now and then that it goes on"

    def long_ago(events: list[dict[str, Any]]) -> None:
        del events[1:]
        events[0]["at"] -= 1000

    rewritten(left, long_ago)
    assert 1000 <= one_record(artifact).record.resources.wall < 1100


def test_a_whole_record_is_put_in_its_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = LEAVES.replace("exit 3", "exit 0")
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script})

    def stops(staged: Path, record: Any) -> None:
        atomic_write(staged / RECORD, canonical.dumps(record.to_json()) + b"\n")
        raise Cut

    with monkeypatch.context() as patch:
        patch.setattr(EvidenceStore, "add", lambda _, staged, record: stops(staged, record))
        with pytest.raises(Cut):
            run_launcher(request(artifact, sandbox=best_sandbox("none")))
    stored = one_record(artifact)
    assert (stored.record.termination, stored.record.ok) == ("ok", True)


def test_a_record_that_does_not_agree_with_its_files_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = LEAVES.replace("exit 3", "exit 0")
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script})
    with monkeypatch.context() as patch:
        patch.setattr(EvidenceStore, "add", lambda *_: (_ for _ in ()).throw(Cut))
        with pytest.raises(Cut):
            run_launcher(request(artifact, sandbox=best_sandbox("none")))
    stored = one_record(artifact)  # the journal names a record that was never written
    assert (stored.record.termination, stored.record.exit_code) == ("infrastructure", 0)
    assert not stored.record.ok


def test_a_run_that_is_recorded_already_is_recorded_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = LEAVES.replace("exit 3", "exit 0")
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script})
    with monkeypatch.context() as patch:
        patch.setattr(run, "publish_outputs", lambda *_, **__: (_ for _ in ()).throw(Cut))
        with pytest.raises(Cut):
            run_launcher(request(artifact, sandbox=best_sandbox("none")))
    stored = one_record(artifact)
    assert [one.digest for one in EvidenceStore(artifact.root / "evidence").records()] == [
        stored.digest
    ]


def test_nothing_is_kept_that_may_hold_a_secret(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    launcher = {"outputs": ["metrics.json"], "secrets": [{"env": "TOKEN"}]}
    script = 'echo "$TOKEN" | tee "$RRA_OUTPUT_DIR/metrics.json"\n'
    files = {"launchers/main.sh": script}
    artifact = write_artifact(tmp_path / "a", files, launchers={"main": launcher})
    cut_off(monkeypatch, artifact, "_redacted", secrets={"TOKEN": "tell-nobody"})
    stored = one_record(artifact)
    assert [one.path for one in stored.record.outputs] == ["stderr.txt", "stdout.txt"]
    kept = [path for path in stored.directory.rglob("*") if path.is_file()]
    assert not any(b"tell-nobody" in path.read_bytes() for path in kept)
    assert any("may hold a secret" in gap for gap in stored.record.recorder.gaps)


def test_of_an_artifact_that_changed_only_the_entry_is_an_input(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = {"launchers/main.sh": LEAVES, "code/x.py": "1\n"}
    artifact = write_artifact(tmp_path / "a", files)
    cut_off(monkeypatch, artifact, "write_record")
    kept = shutil.copytree(artifact.root, tmp_path / "b", ignore=shutil.ignore_patterns("trace"))
    assert [one.path for one in one_record(artifact).record.inputs] == [
        "code/x.py",
        "launchers/main.sh",
    ]
    (kept / "code" / "x.py").write_text("2\n")
    changed = dataclasses.replace(artifact, root=kept)
    record = one_record(changed).record
    assert [one.path for one in record.inputs] == ["launchers/main.sh"]
    assert any("another one now" in gap for gap in record.recorder.gaps)


def test_a_run_of_another_machine_is_left_alone_until_its_job_has_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": LEAVES})
    left = cut_off(monkeypatch, artifact, "write_record")
    other = Owner("node-7", "another", "", 1, 1, "123_4")
    rewritten(left, lambda events: events[0].update(owner=other.to_json()))
    (one,) = recovered(artifact)
    assert one.stored is None
    assert "node-7" in str(one)
    assert left.is_dir()
    (done,) = recovered(artifact, ended_jobs=frozenset({"123_4"}))
    assert done.stored is not None
    assert done.stored.record.exit_code == 3


def test_a_run_whose_owner_lives_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": LEAVES})
    left = cut_off(monkeypatch, artifact, "write_record")
    show = "from rra._base.owners import this_process; import json;"
    show += "print(json.dumps(this_process().to_json()), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", show], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        owner = json.loads(other.stdout.readline())
        rewritten(left, lambda events: events[0].update(owner=owner))
        assert Owner.from_json(owner).state == "alive"
        assert recovered(artifact) == []
        assert dataclasses.replace(Owner.from_json(owner), start=1).state == "gone"
        other.communicate(b"\n")
    assert Owner.from_json(owner).state == "gone"
    one_record(artifact)


@pytest.mark.parametrize(
    ("change", "state"),
    [
        ({}, "gone"),  # ourselves: the lock would say that we run it
        ({"boot": "another"}, "gone"),  # the machine was started again
        ({"host": "another", "pid": 1}, "gone"),  # a container of this machine
        ({"host": "another", "boot": "another"}, "elsewhere"),
        ({"host": "another", "boot": ""}, "elsewhere"),
        ({"namespace": "another", "pid": 1}, "gone"),
    ],
)
def test_an_owner_is_told_from_others(change: dict[str, Any], state: str) -> None:
    assert dataclasses.replace(this_process(), **change).state == state


def test_a_journal_without_a_whole_line_is_of_a_run_that_did_not_begin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": LEAVES})
    left = cut_off(monkeypatch, artifact, "write_record")
    content = (left / JOURNAL).read_bytes()
    (left / JOURNAL).write_bytes(content.splitlines()[0][:-20])
    assert recovered(artifact) == []
    assert not left.exists()


@pytest.mark.parametrize("torn", [1, 30])
def test_a_torn_line_is_not_believed_nor_what_follows_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, torn: int
) -> None:
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": LEAVES})
    left = cut_off(monkeypatch, artifact, "write_record")
    (left / JOURNAL).write_bytes((left / JOURNAL).read_bytes()[:-torn])
    assert one_record(artifact).record.exit_code == -255


def test_an_edited_journal_ends_where_it_was_edited(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": LEAVES})
    left = cut_off(monkeypatch, artifact, "write_record")
    content = (left / JOURNAL).read_bytes()
    assert b'"returncode":3' in content
    (left / JOURNAL).write_bytes(content.replace(b'"at":', b'"to":', 1))
    (one,) = recovered(artifact)
    assert one.stored is None
    assert "cannot be read" in one.why
    assert left.is_dir()


def test_what_an_artifact_brings_leads_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A folder that somebody else made may hold links, and names that are paths."""
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": LEAVES})
    left = cut_off(monkeypatch, artifact, "write_record")
    (tmp_path / "private").write_text("mine\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "private").write_text("mine\n")
    kept = shutil.copytree(left, tmp_path / "kept", ignore=shutil.ignore_patterns("trace"))
    shutil.rmtree(left / "record" / "outputs")
    (left / "record" / "outputs").symlink_to(tmp_path / "folder")
    (left / "record" / "stdout.txt").unlink()
    (left / "record" / "stdout.txt").symlink_to(tmp_path / "private")
    for one in recovered(artifact):
        if one.stored is not None:
            found = [path for path in one.stored.directory.rglob("*") if path.is_file()]
            assert not any(b"mine" in path.read_bytes() for path in found)
    assert (tmp_path / "folder" / "private").read_text() == "mine\n"
    shutil.rmtree(left, ignore_errors=True)
    shutil.copytree(kept, left)
    rewritten(left, lambda events: events[0]["record"]["launcher"].update(id="../../x"))
    (one,) = recovered(artifact)
    assert one.stored is None
    assert not (tmp_path / "x").exists()


def test_the_next_run_records_the_one_that_was_cut_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": LEAVES})
    cut_off(monkeypatch, artifact, "write_record")
    run_launcher(request(artifact, sandbox=best_sandbox("none")))
    stored = EvidenceStore(artifact.root / "evidence").records()
    assert sorted(one.record.termination for one in stored) == ["exit", "infrastructure"]


def test_a_launcher_is_not_started_where_nothing_can_be_written_down(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = f"echo x > {tmp_path}/began\n"
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script})

    def refuses(*_: object) -> None:
        raise OSError(28, os.strerror(28), "journal")

    monkeypatch.setattr("rra.evidence.events.append_durably", refuses)
    with pytest.raises(Exception, match="no space left"):
        run_launcher(request(artifact, sandbox=best_sandbox("none")))
    assert not (tmp_path / "began").exists()
    assert list((artifact.root / "outputs").glob(f"{STAGING_PREFIX}*")) == []


def test_the_record_of_a_cut_off_run_leaves_out_what_lies_too_deep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "d" * 100  # 60 of them are longer than the system takes as one path
    deep = f"for i in $(seq 60); do mkdir {name} && cd {name}; done\n"
    script = f'cd "$RRA_OUTPUT_DIR"\necho 1 > metrics.json\n{deep}'
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script})
    cut_off(monkeypatch, artifact, "_gathered")
    assert (one_record(artifact).outputs / "metrics.json").is_file()


def test_why_there_is_no_record_yet_is_said_in_one_line_that_can_be_read() -> None:
    assert len(str(Recovered("main", why="d" * 6000))) < 300
