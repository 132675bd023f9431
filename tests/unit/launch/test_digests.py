"""Digests are remembered only while nothing can have changed, whatever is in the cache."""

from __future__ import annotations

import datetime as dt
import json
import os
from pathlib import Path

import pytest

from rra._base import clock, files
from rra.launch import digests
from rra.launch.digests import Digests

ABC = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
XYZ = "sha256:3608bca1e44ea6c4d268eb6db02260269892c0b42b86bbf1e77a6fa16c3c9282"


class Setting:
    """A cache, a clock that can be set, and a list of the files that were read."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.file = place / "cache" / "digests.json"
        self.path = place / "data.bin"
        self.path.write_text("abc")
        self.read: list[Path] = []
        self._patch = monkeypatch
        monkeypatch.setattr(digests, "LARGE", 1)
        monkeypatch.setattr(digests, "sha256_file", self._counted)

    def _counted(self, path: Path) -> str:
        self.read.append(path)
        return files.sha256_file(path)

    def later(self, seconds: float) -> None:
        """Set the clock to a time after the last change of the file."""
        changed = self.path.stat().st_ctime_ns / 1e9
        moment = dt.datetime.fromtimestamp(changed + seconds, dt.UTC)
        self._patch.setattr(clock, "now", lambda: moment)

    def process(self) -> tuple[str, int]:
        """Ask for the digest as a process of its own does."""
        own = Digests(lambda: self.file)
        found = own.of(self.path)
        own.save()
        return found


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    return Setting(tmp_path, monkeypatch)


def test_a_file_that_rested_is_read_once_by_all_processes(setting: Setting) -> None:
    setting.later(60)
    assert [setting.process() for _ in range(3)] == [(ABC, 3)] * 3
    assert len(setting.read) == 1
    assert setting.file.stat().st_mode & 0o777 == 0o600


def test_racily_clean_files_are_read_again(setting: Setting) -> None:
    """As git: a file not older than its entry may have changed within a tick of the clock."""
    setting.later(1)
    own = Digests(lambda: setting.file)
    assert own.of(setting.path) == (ABC, 3)
    status = setting.path.stat()
    setting.path.write_text("xyz")  # the same size; the times are set back below
    os.utime(setting.path, ns=(status.st_atime_ns, status.st_mtime_ns))
    same_times = (*digests._key(setting.path)[:3], status.st_mtime_ns, status.st_ctime_ns)
    setting._patch.setattr(digests, "_key", lambda _path: same_times)
    assert own.of(setting.path) == (XYZ, 3)
    own.save()
    assert json.loads(setting.file.read_text())["files"] == []
    assert len(setting.read) == 2


@pytest.mark.parametrize("change", ["content", "time", "replaced", "longer"])
def test_a_file_that_is_another_one_is_read_again(setting: Setting, change: str) -> None:
    setting.later(60)
    setting.process()
    status = setting.path.stat()
    if change == "time":
        os.utime(setting.path, ns=(0, status.st_mtime_ns + 1))
    elif change == "replaced":
        other = setting.path.with_name("other")
        other.write_text("xyz")
        os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
        other.replace(setting.path)
    else:
        setting.path.write_text("xyz" if change == "content" else "abcd")
        os.utime(setting.path, ns=(status.st_atime_ns, status.st_mtime_ns))
    expected = files.sha256_file(setting.path)
    assert setting.process()[0] == expected
    assert len(setting.read) == 2


def test_a_file_that_changes_while_it_is_read_is_not_remembered(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting.later(60)

    def changing(path: Path) -> str:
        found = setting._counted(path)
        os.utime(path, ns=(0, len(setting.read)))
        return found

    monkeypatch.setattr(digests, "sha256_file", changing)
    setting.process()
    setting.process()
    assert len(setting.read) == 2
    assert json.loads(setting.file.read_text())["files"] == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"version": 2, "files": []}',
        b'{"version": 1, "files": [[1, 2]]}',
        b'{"version": 1, "files": [[1, 2, 3, 4, 5, 6, "sha256:0"]]}',
        b'{"version": 1, "files": [[1, 2, 3, 4, 5, true, 7]]}',
        b"[" * 100_000,
    ],
)
def test_a_corrupt_cache_is_ignored_and_written_anew(setting: Setting, content: bytes) -> None:
    setting.later(60)
    setting.file.parent.mkdir()
    setting.file.write_bytes(content)
    setting.file.chmod(0o600)
    assert [setting.process(), setting.process()] == [(ABC, 3)] * 2
    assert len(setting.read) == 1


def test_what_others_could_have_written_is_not_believed(setting: Setting) -> None:
    setting.later(60)
    setting.process()
    setting.file.chmod(0o666)
    setting.process()
    assert len(setting.read) == 2


def test_a_place_that_cannot_be_written_is_no_error(setting: Setting) -> None:
    setting.later(60)
    setting.file.parent.write_text("a file where the folder should be")
    assert setting.process() == (ABC, 3)


def test_the_cache_is_bounded_and_keeps_what_was_used_last(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "MOST_ENTRIES", 2)
    own = Digests(lambda: setting.file)
    paths = [setting.path.with_name(f"{number}") for number in range(4)]
    for path in paths:
        path.write_text(path.name)
    setting.path.write_text("abc")
    setting.later(60)
    for path in paths:
        own.of(path)
    own.of(paths[0])
    own.save()
    kept = [row[1] for row in json.loads(setting.file.read_text())["files"]]
    assert kept == [paths[3].stat().st_ino, paths[0].stat().st_ino]


def test_small_files_stay_in_memory(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digests, "LARGE", 4)
    setting.later(60)
    setting.process()
    assert not setting.file.exists()
