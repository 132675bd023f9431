"""Good, edited and truncated records are told apart, each by itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rra._base import canonical
from rra.errors import CorruptError, UsageError
from rra.evidence import EvidenceStore, StoredRecord, choose, examine
from tests.unit.evidence.test_store import add


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    return EvidenceStore(tmp_path / "evidence")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def cut_to_whole_lines(path: Path) -> None:
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def edit(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"7", b"8", 1))


def lengthen_run(path: Path) -> None:
    document = json.loads(path.read_bytes())
    document["resources"]["wall"] = 99.5
    path.write_bytes(canonical.dumps(document) + b"\n")


def rewrite_in_other_form(path: Path) -> None:
    path.write_text(json.dumps(json.loads(path.read_bytes()), indent=1))


def swap_lines(path: Path) -> None:
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(second + first)


def link(path: Path) -> None:
    aside = path.parents[4] / "aside"
    path.rename(aside)
    path.symlink_to(aside)


DAMAGES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "record truncated": ("record.json", cut, "JSON"),
    "record empty": ("record.json", lambda path: path.write_bytes(b""), "record.json"),
    "record gone": ("record.json", Path.unlink, "record"),
    "record edited": ("record.json", lengthen_run, "its folder is named"),
    "record in another form": ("record.json", rewrite_in_other_form, "canonical"),
    "events truncated in a line": ("events.jsonl", cut, "not JSON"),
    "events truncated after a line": ("events.jsonl", cut_to_whole_lines, "last event is not"),
    "events swapped": ("events.jsonl", swap_lines, "does not follow"),
    "events gone": ("events.jsonl", Path.unlink, "not there"),
    "output edited": ("outputs/a/value.txt", edit, "the file has digest"),
    "output truncated": ("outputs/a/value.txt", lambda path: path.write_text(""), "has digest"),
    "output gone": ("outputs/a/value.txt", Path.unlink, "not there"),
    "output a link": ("outputs/a/value.txt", link, "not there"),
    "file beside it": ("foreign", lambda path: path.write_text("9"), "no run left it"),
    "output added": ("outputs/more.txt", lambda path: path.write_text("9"), "is no output"),
    "printed text edited": ("stdout.txt", edit, "the file has digest"),
    "printed text gone": ("stderr.txt", Path.unlink, "not there"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_truncated_and_edited_records_are_told_apart_from_good_ones(
    store: EvidenceStore, tmp_path: Path, damage: str
) -> None:
    good = add(store, tmp_path / "one")
    bad = add(store, tmp_path / "two", nonce="01")
    name, harm, said = DAMAGES[damage]
    harm(bad.directory / name)
    found = {one.directory: one for one in examine(store)}
    assert found[good.directory].intact
    assert not found[bad.directory].intact
    assert said in str(found[bad.directory].problems[0])
    assert found[bad.directory].place == f"evidence/main/{bad.directory.name}"
    assert all(one.path.startswith("evidence/main/") for one in found[bad.directory].problems)


def test_what_is_being_written_is_no_evidence_yet(store: EvidenceStore, tmp_path: Path) -> None:
    kept = add(store, tmp_path / "one")
    (store.root / "main" / ".rra-staging-0123").mkdir()
    (store.root / ".rra-staging-4567" / "x").mkdir(parents=True)
    assert [one.directory for one in examine(store)] == [kept.directory]


def test_runs_of_one_launcher_alone(store: EvidenceStore, tmp_path: Path) -> None:
    add(store, tmp_path / "one")
    assert len(examine(store, "main")) == 1
    assert examine(store, "other") == []


def runs(store: EvidenceStore, tmp_path: Path) -> tuple[StoredRecord, StoredRecord]:
    first = add(store, tmp_path / "one")
    second = add(store, tmp_path / "two", nonce="01", ended="2026-11-29T19:00:00Z")
    return first, second


def test_a_record_is_chosen_by_digest_folder_or_launcher(
    store: EvidenceStore, tmp_path: Path
) -> None:
    first, second = runs(store, tmp_path)
    for name in (
        first.digest,
        first.digest.removeprefix("sha256:")[:12],
        f"evidence/main/{first.directory.name}",
        f"evidence/main/{first.directory.name}/",
    ):
        assert choose(store, name).digest == first.digest
    assert choose(store, "main").digest == second.digest


@pytest.mark.parametrize("name", ["other", "sha256:", "0", "zzzz", "f" * 64])
def test_a_name_that_stands_for_nothing_says_what_there_is(
    store: EvidenceStore, tmp_path: Path, name: str
) -> None:
    runs(store, tmp_path)
    with pytest.raises(UsageError) as caught:
        choose(store, name)
    assert name in caught.value.message
    assert "main" in caught.value.hint


def test_a_beginning_that_several_have_names_them(
    store: EvidenceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = runs(store, tmp_path)
    alike = [
        StoredRecord(first.record, "sha256:abcd1" + "0" * 59, first.directory),
        StoredRecord(second.record, "sha256:abcd2" + "0" * 59, second.directory),
    ]
    monkeypatch.setattr(store, "intact", lambda: alike)
    with pytest.raises(UsageError, match="2 records begin with abcd") as caught:
        choose(store, "abcd")
    assert alike[1].digest in caught.value.hint


def test_without_evidence_the_hint_says_to_run(store: EvidenceStore) -> None:
    with pytest.raises(UsageError) as caught:
        choose(store, "main")
    assert "rra run" in caught.value.hint


def test_a_record_that_cannot_be_read_does_not_hide_the_others(
    store: EvidenceStore, tmp_path: Path
) -> None:
    first, second = runs(store, tmp_path)
    cut(second.directory / "record.json")
    assert choose(store, first.digest[7:19]).digest == first.digest
    for name in (second.digest, second.digest[7:19], f"evidence/main/{second.directory.name}"):
        with pytest.raises(CorruptError, match="is not an execution record") as caught:
            choose(store, name)
        assert caught.value.message.count("record.json") == 1, "its place is said once"
    with pytest.raises(CorruptError, match="which run of main is the newest cannot be told"):
        choose(store, "main")
