from __future__ import annotations

import hashlib
import os
from pathlib import Path, PurePosixPath

import pytest

from rra._base import files
from rra.errors import StorageError, UnsafePathError
from tests.support.disks import mounted_disk
from tests.support.needs import needs


def leftovers(folder: Path) -> list[str]:
    return [p.name for p in folder.iterdir() if p.name.startswith(files.STAGING_PREFIX)]


def test_atomic_write_gives_content_and_mode(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "er" / "run.sh"
    files.atomic_write(target, "#!/bin/sh\nécho\n", mode=0o755)
    assert target.read_bytes() == "#!/bin/sh\nécho\n".encode()
    assert target.stat().st_mode & 0o777 == 0o755
    assert leftovers(target.parent) == []


def test_atomic_write_keeps_the_old_content_when_it_cannot_write(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.mkdir()
    (target / "kept").write_text("old")
    with pytest.raises(OSError, match="directory"):
        files.atomic_write(target, "new")
    assert (target / "kept").read_text() == "old"
    assert leftovers(tmp_path) == []


@needs("tmpfs")
def test_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    with mounted_disk(tmp_path / "disk", "1m") as disk:
        target = disk / "big.bin"
        target.write_bytes(b"old")
        with pytest.raises(StorageError, match=r"no space left while writing .*big\.bin") as caught:
            files.atomic_write(target, os.urandom(4 << 20))
        assert caught.value.exit_code == 3
        assert target.read_bytes() == b"old"
        assert leftovers(disk) == []


@needs("tmpfs")
def test_a_full_disk_is_told_from_other_errors(tmp_path: Path) -> None:
    with mounted_disk(tmp_path / "disk", "1m") as disk:
        with pytest.raises(OSError, match="No space left") as full:
            (disk / "big.bin").write_bytes(os.urandom(4 << 20))
        told = files.full_disk(full.value)
        assert told is not None
        assert "no space left on the disk of" in told.message
        assert "TMPDIR" in told.hint
        assert told.exit_code == 3
    with pytest.raises(FileNotFoundError) as absent:
        (tmp_path / "absent").read_bytes()
    assert files.full_disk(absent.value) is None


def test_staged_directory_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with files.staged_directory(target) as staging:
        (staging / "a").write_text("1")
        assert not target.exists()
    assert (target / "a").read_text() == "1"
    with files.staged_directory(target) as staging:
        (staging / "b").write_text("2")
    assert [p.name for p in target.iterdir()] == ["b"]
    assert leftovers(tmp_path) == []


def test_staged_directory_that_fails_changes_nothing(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").write_text("1")

    def fail_midway() -> None:
        with files.staged_directory(target) as staging:
            (staging / "new").write_text("2")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail_midway()
    assert [p.name for p in target.iterdir()] == ["old"]
    assert leftovers(tmp_path) == []


def test_sweep_removes_leftovers_of_killed_writers(tmp_path: Path) -> None:
    (tmp_path / f"{files.STAGING_PREFIX}abc").mkdir()
    (tmp_path / f"{files.STAGING_PREFIX}abc" / "x").write_text("half")
    (tmp_path / "real").write_text("whole")
    files.sweep_staging(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["real"]


def test_sha256_of_a_file_is_the_known_one(tmp_path: Path) -> None:
    # NIST FIPS 180-4 example: one million letters a.
    path = tmp_path / "million"
    path.write_bytes(b"a" * 1_000_000)
    expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    assert files.sha256_file(path) == f"sha256:{expected}"
    assert files.sha256_bytes(b"") == "sha256:" + hashlib.sha256().hexdigest()


@pytest.mark.parametrize("bad", ["/etc/passwd", "../x", "a/../../x", "link/x"])
def test_safe_join_refuses_what_leads_outside(tmp_path: Path, bad: str) -> None:
    root = tmp_path / "artifact"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(UnsafePathError) as caught:
        files.safe_join(root, bad)
    assert caught.value.exit_code == 4
    assert "copy the file into the artifact" in caught.value.hint


def test_safe_join_keeps_what_stays_inside(tmp_path: Path) -> None:
    assert files.safe_join(tmp_path, "code/a b.py") == tmp_path / "code" / "a b.py"


def test_walk_is_byte_sorted_and_does_not_follow_links(tmp_path: Path) -> None:
    for name in ("b/x", "a", "B", "é", f"{files.STAGING_PREFIX}1"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "loop").symlink_to(tmp_path)
    assert list(files.walk_files(tmp_path)) == [
        PurePosixPath(p) for p in ["B", "a", "b/x", "loop", "é"]
    ]


def test_walk_takes_names_that_are_not_utf_8(tmp_path: Path) -> None:
    for name in (b"caf\xe9", b"a"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("x")
    assert [os.fsencode(str(path)) for path in files.walk_files(tmp_path)] == [b"a", b"caf\xe9"]


def test_copy_keeps_modes_times_and_links(tmp_path: Path) -> None:
    source = tmp_path / "s"
    source.mkdir()
    (source / "run").write_text("x")
    (source / "run").chmod(0o755)
    os.utime(source / "run", (1_000_000_000, 1_000_000_000))
    (source / "to").symlink_to("run")
    files.copy_tree(source, tmp_path / "t")
    copied = (tmp_path / "t" / "run").stat()
    assert (copied.st_mode & 0o777, copied.st_mtime) == (0o755, 1_000_000_000)
    assert (tmp_path / "t" / "to").readlink() == Path("run")


def test_remove_tree_takes_read_only_folders(tmp_path: Path) -> None:
    folder = tmp_path / "locked" / "inner"
    folder.mkdir(parents=True)
    (folder / "f").write_text("x")
    folder.chmod(0o500)
    files.remove_tree(tmp_path / "locked")
    assert not (tmp_path / "locked").exists()
