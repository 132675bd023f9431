from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from rra.launch.inventory import TreeSnapshot


def paths(*names: str) -> list[PurePosixPath]:
    return [PurePosixPath(name) for name in names]


def test_what_was_created_modified_and_removed(tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d/e"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1")
    before = TreeSnapshot(tmp_path)
    (tmp_path / "b").write_text("2")
    (tmp_path / "c").unlink()
    (tmp_path / "d" / "new").write_text("")
    changes = before.changes()
    assert (changes.created, changes.modified, changes.removed) == (
        paths("d/new"),
        paths("b"),
        paths("c"),
    )
    assert changes.written == paths("b", "d/new")


def test_a_write_of_the_same_bytes_with_the_old_time_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("1")
    os.utime(path, ns=(0, 0))
    before = TreeSnapshot(tmp_path)
    replacement = tmp_path / "x"
    replacement.write_text("1")
    os.utime(replacement, ns=(0, 0))
    replacement.rename(path)
    assert before.changes().modified == paths("a")


def test_compiled_python_is_no_result(tmp_path: Path) -> None:
    before = TreeSnapshot(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("")
    assert before.changes().created == paths("__pycache__/a.pyc")
    assert before.changes().written == []


def test_links_are_not_followed_and_folders_of_the_top_can_be_left_out(tmp_path: Path) -> None:
    for folder in ("evidence", "code/evidence"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "x").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "link").symlink_to("code/evidence/x")
    assert list(TreeSnapshot(tmp_path, skip={"evidence"}).files) == paths("code/evidence/x")


def test_forbidden_folders_are_opened(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "x").write_text("")
    (tmp_path / "closed").chmod(0)
    assert list(TreeSnapshot(tmp_path).files) == paths("closed/x")
