from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rra._base.files import sha256_bytes
from rra.evidence import EvidenceStore, StoredRecord, examine, find_garbage, remove_record
from tests.unit.evidence.test_store import add

FAILED = {"termination": "exit", "exit_code": 1}
LATER = "2026-11-29T19:00:00Z"


class Runs:
    """Evidence of an artifact in a folder of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root / "artifact"
        self.root.mkdir()
        self.store = EvidenceStore(self.root / "evidence")
        self._staged = root / "staged"
        self._count = 0

    def add(self, **changes: Any) -> StoredRecord:
        self._count += 1
        return add(self.store, self._staged / str(self._count), nonce=f"{self._count}", **changes)

    def garbage(self) -> list[str]:
        return [one.stored.digest for one in find_garbage(self.store, self.root).garbage]


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def test_a_failed_run_goes_when_the_same_succeeded_later(runs: Runs) -> None:
    failed = runs.add(**FAILED)
    assert runs.garbage() == []
    success = runs.add(ended=LATER)
    (one,) = find_garbage(runs.store, runs.root).garbage
    assert (one.stored.digest, one.replaced_by) == (failed.digest, success.digest)
    assert one.size == sum(
        path.stat().st_size for path in failed.directory.rglob("*") if path.is_file()
    )


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {"depth": 3}},
        {"parameters": {"depth": True}},
        {"seed": {"declared": 1}},
        {"instance": "other"},
    ],
)
def test_a_success_of_another_configuration_replaces_nothing(
    runs: Runs, change: dict[str, Any]
) -> None:
    runs.add(**FAILED, **change)
    runs.add(ended=LATER)
    assert runs.garbage() == []


def test_an_earlier_success_replaces_nothing(runs: Runs) -> None:
    runs.add()
    runs.add(**FAILED, ended=LATER)
    found = find_garbage(runs.store, runs.root)
    assert found.garbage == ()
    assert "no later run" in found.kept[0][1]


def test_an_imported_success_replaces_nothing(runs: Runs) -> None:
    runs.add(**FAILED)
    runs.add(ended=LATER, recorder={"level": "imported"})
    assert runs.garbage() == []


def test_successes_stay_however_many_there_are(runs: Runs) -> None:
    for _ in range(3):
        runs.add()
    assert runs.garbage() == []


@pytest.mark.parametrize("length", [16, 64])
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("guide/repairs.yaml", "before: {{record: {}}}\n"),
        ("references.yaml", "record: sha256:{}\n"),
        ("attestations/main-{}.sigstore.json", "e30="),
    ],
)
def test_what_a_document_names_stays(runs: Runs, file: str, text: str, length: int) -> None:
    failed = runs.add(**FAILED)
    runs.add(ended=LATER)
    digits = failed.digest.removeprefix("sha256:")[:length]
    path = runs.root / file.format(digits)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.format(digits))
    found = find_garbage(runs.store, runs.root)
    assert found.garbage == ()
    assert "document" in found.kept[0][1]


def test_what_another_run_read_stays(runs: Runs) -> None:
    runs.add(**FAILED)
    runs.add(ended=LATER)
    read = {"path": "outputs/main/a/value.txt", "sha256": sha256_bytes(b"7\n"), "size": 2}
    runs.add(ended=LATER, inputs=[{**read, "role": "output"}], instance="next")
    assert "read" in find_garbage(runs.store, runs.root).kept[0][1]


def test_what_is_damaged_is_left_to_a_person(runs: Runs) -> None:
    failed = runs.add(**FAILED)
    runs.add(ended=LATER)
    (failed.directory / "stdout.txt").unlink()
    found = find_garbage(runs.store, runs.root)
    assert found.garbage == ()
    assert [one.directory for one in found.damaged] == [failed.directory]


def test_a_record_goes_as_a_whole(runs: Runs) -> None:
    failed = runs.add(**FAILED)
    kept = runs.add(ended=LATER)
    remove_record(runs.store, failed)
    assert [one.directory for one in examine(runs.store)] == [kept.directory]
    assert sorted(path.name for path in runs.store.root.iterdir()) == ["main"]
