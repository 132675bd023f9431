from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from rra._base import clock
from rra._base.files import STAGING_PREFIX, sha256_bytes
from rra.errors import CorruptError
from rra.evidence import EvidenceStore, StoredRecord, verify_record, write_events
from rra.model import ExecutionRecord

ZERO = "sha256:" + "0" * 64


def record(events: str = ZERO, **changes: Any) -> ExecutionRecord:
    """Return the record of a run of launcher ``main`` that printed and left ``7``."""
    stream = {"sha256": sha256_bytes(b"7\n"), "bytes": 2, "truncated": False}
    empty = {"sha256": sha256_bytes(b""), "bytes": 0, "truncated": False}
    document = {
        "rra": "1.0",
        "type": "execution-record/v1",
        "artifact": "small",
        "core": ZERO,
        "launcher": {"id": "main", "entry": "launchers/main.sh", "sha256": ZERO},
        "instance": "default",
        "argv": ["bash", "launchers/main.sh"],
        "nonce": "00",
        "parameters": {},
        "seed": {},
        "started": "2026-11-29T18:00:00Z",
        "ended": "2026-11-29T18:00:01Z",
        "termination": "ok",
        "exit_code": 0,
        "missing_outputs": [],
        "environment": {"id": "cpu", "lock": ZERO, "installed": ZERO, "variables": {}},
        "inputs": [],
        "outputs": [{"path": "a/value.txt", "sha256": sha256_bytes(b"7\n"), "size": 2}],
        "other_writes": [],
        "network_attempts": [],
        "platform": {},
        "resources": {"wall": 1.0, "cpu": 0.5, "max_rss": 1},
        "stdout": stream,
        "stderr": empty,
        "sandbox": {"level": "none"},
        "recorder": {"level": "tree"},
        "events": events,
        **changes,
    }
    return ExecutionRecord.model_validate(document)


def add(store: EvidenceStore, staged: Path, **changes: Any) -> StoredRecord:
    """Put the evidence of a run together and add it."""
    (staged / "outputs" / "a").mkdir(parents=True)
    (staged / "outputs" / "a" / "value.txt").write_text("7\n")
    (staged / "stdout.txt").write_text("7\n")
    (staged / "stderr.txt").write_text("")
    head = write_events(staged / "events.jsonl", [{"kind": "started"}, {"kind": "ended"}])
    digest, _ = store.add(staged, record(head, **changes))
    found = store.find(digest)
    assert found is not None
    return found


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    return EvidenceStore(tmp_path / "evidence")


@pytest.mark.clause("execution-record/name")
@pytest.mark.clause("execution-record/canonical")
def test_a_record_is_named_by_its_digest(store: EvidenceStore, tmp_path: Path) -> None:
    stored = add(store, tmp_path / "staged")
    content = (stored.directory / "record.json").read_bytes().removesuffix(b"\n")
    assert stored.digest == "sha256:" + hashlib.sha256(content).hexdigest()
    assert stored.directory == store.root / "main" / stored.digest[7:23]
    assert sorted(p.name for p in stored.directory.iterdir()) == [
        "events.jsonl",
        "outputs",
        "record.json",
        "stderr.txt",
        "stdout.txt",
    ]
    assert not (tmp_path / "staged").exists()
    assert verify_record(stored) == []


def test_adding_the_same_record_again_changes_nothing(store: EvidenceStore, tmp_path: Path) -> None:
    first = add(store, tmp_path / "one")
    assert add(store, tmp_path / "two") == first
    assert len(store.records()) == 1


def test_records_come_in_the_order_of_their_ends(store: EvidenceStore, tmp_path: Path) -> None:
    for number, hour in enumerate(["20", "18", "19"]):
        add(store, tmp_path / f"s{number}", ended=f"2026-11-29T{hour}:00:00Z")
    assert [one.record.ended[11:13] for one in store.records()] == ["18", "19", "20"]
    assert store.records("other") == []


def test_runs_of_one_second_come_as_they_were_written(store: EvidenceStore, tmp_path: Path) -> None:
    written = [add(store, tmp_path / f"s{number}", nonce=f"{number}") for number in range(5)]
    for number, stored in enumerate(written):
        os.utime(stored.directory / "record.json", ns=(number, number))
    assert [one.record.nonce for one in store.records()] == ["0", "1", "2", "3", "4"]


def test_the_latest_is_the_newest_success(store: EvidenceStore, tmp_path: Path) -> None:
    add(store, tmp_path / "a", ended="2026-11-29T18:00:00Z")
    add(store, tmp_path / "b", ended="2026-11-29T19:00:00Z", termination="exit", exit_code=1)
    newest, any_newest = store.latest("main"), store.latest("main", ok=False)
    assert newest is not None
    assert any_newest is not None
    assert (newest.record.ended[11:13], any_newest.record.ended[11:13]) == ("18", "19")
    assert store.latest("other") is None


def test_a_store_without_folder_is_empty(store: EvidenceStore) -> None:
    assert store.records() == []
    assert store.find(ZERO) is None


def test_what_is_half_moved_is_not_seen(store: EvidenceStore, tmp_path: Path) -> None:
    stored = add(store, tmp_path / "staged")
    stored.directory.rename(stored.directory.with_name(f"{STAGING_PREFIX}00"))
    assert store.records() == []


def test_evidence_moves_between_file_systems(
    store: EvidenceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self.name == "staged":
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    assert verify_record(add(store, tmp_path / "staged")) == []
    assert not (tmp_path / "staged").exists()


def test_what_a_killed_writer_left_goes_after_a_day(store: EvidenceStore, tmp_path: Path) -> None:
    for name, age in (("old", 90_000), ("new", 1_000)):
        leftover = store.root / "main" / f"{STAGING_PREFIX}{name}"
        leftover.mkdir(parents=True)
        moment = clock.now().timestamp() - age
        os.utime(leftover, (moment, moment))
    stored = add(store, tmp_path / "staged")
    names = {path.name for path in (store.root / "main").iterdir()}
    assert names == {f"{STAGING_PREFIX}new", stored.directory.name}


def test_a_record_that_is_none_is_named(store: EvidenceStore, tmp_path: Path) -> None:
    stored = add(store, tmp_path / "staged")
    (stored.directory / "record.json").write_text('{"rra": "1.0"}')
    with pytest.raises(CorruptError, match="is not an execution record"):
        store.records()


@pytest.mark.parametrize(
    ("name", "content", "clause"),
    [
        ("outputs/a/value.txt", "8\n", "execution-record/file-digests"),
        ("outputs/a/value.txt", None, "execution-record/files-present"),
        ("outputs/more.txt", "x", "execution-record/no-other-outputs"),
        ("stdout.txt", "8\n", "execution-record/file-digests"),
        ("stderr.txt", None, "execution-record/files-present"),
        ("events.jsonl", "{}\n", "execution-record/event-chain"),
    ],
)
def test_what_was_changed_later_is_found(
    store: EvidenceStore, tmp_path: Path, name: str, content: str | None, clause: str
) -> None:
    stored = add(store, tmp_path / "staged")
    path = stored.directory / name
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    (problem,) = verify_record(stored)
    assert problem.clause == clause
    assert problem.path == f"evidence/main/{stored.directory.name}/{name}"


def test_a_link_in_place_of_an_output_is_found(store: EvidenceStore, tmp_path: Path) -> None:
    stored = add(store, tmp_path / "staged")
    (tmp_path / "same").write_text("7\n")
    path = stored.directory / "outputs" / "a" / "value.txt"
    path.unlink()
    path.symlink_to(tmp_path / "same")
    assert [problem.clause for problem in verify_record(stored)] == [
        "execution-record/files-present"
    ]


def test_an_edited_record_no_longer_has_its_name(store: EvidenceStore, tmp_path: Path) -> None:
    stored = add(store, tmp_path / "staged")
    path = stored.directory / "record.json"
    path.write_text(path.read_text().replace('"nonce":"00"', '"nonce":"01"'))
    (changed,) = store.records()
    assert [problem.clause for problem in verify_record(changed)] == ["execution-record/name"]
