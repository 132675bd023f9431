from __future__ import annotations

import os
import subprocess
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rra._base.files import walk_files
from rra.artifact.tree import tree_id

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # known to everyone who uses git


def git_tree(folder: Path) -> str:
    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-c", "core.fileMode=true", "-c", "core.autocrlf=false", *words],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    git("init", "-q")
    git("add", "-A", "-f")
    return git("write-tree")


def test_the_empty_tree(tmp_path: Path) -> None:
    assert tree_id(tmp_path, []) == f"swh:1:dir:{EMPTY_TREE}"


def test_the_number_is_the_one_git_gives(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.py").write_text("print(1)\r\n")
    (tmp_path / "a.txt").write_text("sorts before a/ by git's rule\n")
    (tmp_path / "a0").write_text("")
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "to").symlink_to("a/x.py")
    (tmp_path / "ünïcode.dat").write_bytes(bytes(range(256)))
    ours = tree_id(tmp_path, list(walk_files(tmp_path)))
    assert ours == f"swh:1:dir:{git_tree(tmp_path)}"


def test_pipes_and_sockets_have_no_place_in_it_as_in_gits(tmp_path: Path) -> None:
    """Reading one would wait for ever."""
    (tmp_path / "x.py").write_text("print(1)\n")
    os.mkfifo(tmp_path / "pipe")
    ours = tree_id(tmp_path, list(walk_files(tmp_path)))
    assert ours == f"swh:1:dir:{git_tree(tmp_path)}"


NAMES = st.text("ab-.0é", min_size=1, max_size=4).filter(lambda n: n not in {".", ".."})


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(st.tuples(NAMES, NAMES), st.binary(max_size=20), max_size=8))
def test_trees_of_any_shape_agree_with_git(contents: dict[tuple[str, str], bytes]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for (directory, file), content in contents.items():
            (folder / f"d{directory}").mkdir(exist_ok=True)
            (folder / f"d{directory}" / file).write_bytes(content)
        ours = tree_id(folder, list(walk_files(folder)))
        assert ours == f"swh:1:dir:{git_tree(folder)}"
