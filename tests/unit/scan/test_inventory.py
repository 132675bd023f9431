from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from rra.scan import inventory
from rra.scan.inventory import take_inventory
from tests.support.lookalikes import write

if TYPE_CHECKING:
    import pytest


def names(root: Path) -> list[str]:
    return [str(path) for path in take_inventory(root).files]


def test_tools_folders_and_environments_are_passed_over(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.py": "",
            ".git/config": "",
            "__pycache__/a.pyc": b"\0",
            "myenv/pyvenv.cfg": "",
            "myenv/lib/b.py": "",
            "pkg.egg-info/PKG-INFO": "",
            "outputs/kept.txt": "",
        },
    )
    assert names(tmp_path) == ["a.py", "outputs/kept.txt"]


def test_the_elements_of_an_artifact_are_passed_over(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "rra.yaml": "",
            "a.py": "",
            "launchers/a.sh": "",
            "evidence/x": "",
            "d/guide/x": "",
            "AGENTS.md": "",
        },
    )
    assert names(tmp_path) == ["a.py", "d/guide/x"]


def test_links_are_not_followed_in_circles_or_out(tmp_path: Path) -> None:
    root = write(tmp_path / "r", {"a/x.txt": "1"})
    (tmp_path / "secret.txt").write_text("2")
    (root / "a" / "loop").symlink_to("..")
    (root / "out").symlink_to(tmp_path / "secret.txt")
    (root / "in").symlink_to("a/x.txt")
    (root / "self").symlink_to("self")
    found = take_inventory(root)
    assert [str(path) for path in found.files] == ["a/x.txt", "in"]
    assert sorted(map(str, found.links)) == ["a/loop", "in", "out", "self"]


def test_pipes_and_unreadable_folders_do_not_stop_it(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": ""})
    os.mkfifo(tmp_path / "pipe")
    assert names(tmp_path) == ["a.py"]


def test_it_stops_at_its_bound_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "MAX_FILES", 3)
    write(tmp_path, {f"{n}.txt": "" for n in range(5)})
    found = take_inventory(tmp_path)
    assert found.truncated
    assert list(found.files) == [PurePosixPath(f"{n}.txt") for n in range(3)]
