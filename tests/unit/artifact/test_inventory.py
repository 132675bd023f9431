"""Which files belong to which element, and which of them travel."""

from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from rra.artifact import Artifact
from tests.support.artifacts import make_artifact


def paths(*names: str) -> tuple[PurePosixPath, ...]:
    return tuple(PurePosixPath(name) for name in names)


def item(path: str, access: str = "bundled") -> dict[str, Any]:
    return {"path": path, "access": access}


def artifact(root: Path, files: dict[str, str | bytes], **changes: Any) -> Artifact:
    return make_artifact(root, {"main.py": "print(1)\n", **files}, **changes)


@pytest.mark.clause("core-digest/not-bundled")
def test_data_that_others_own_does_not_travel(tmp_path: Path) -> None:
    data = {"open": item("data/open.csv"), "trial": item("data/trial", "private")}
    files: dict[str, str | bytes] = {"data/open.csv": "1", "data/trial/patients.csv": "2"}
    found = artifact(tmp_path, files, data=data)
    assert found.element_files("data") == paths("data/open.csv", "data/trial/patients.csv")
    assert found.packed_files("data") == paths("data/open.csv")


def test_data_that_is_not_bundled_is_no_code_even_among_it(tmp_path: Path) -> None:
    gated = {**item("code/gated.csv", "gated"), "sources": [{"manual": "ask"}]}
    data = {"own": item("code/own.csv"), "gated": gated}
    found = artifact(tmp_path, {"code/own.csv": "1", "code/gated.csv": "2"}, data=data)
    assert found.packed_files("code") == paths("code/main.py", "code/own.csv")
    assert found.element_files("data") == paths("code/gated.csv", "code/own.csv")


def test_a_launcher_elsewhere_is_a_launcher(tmp_path: Path) -> None:
    launchers = {"main": {"entry": "run.sh", "environment": "cpu", "outputs": ["metrics.json"]}}
    (tmp_path / "run.sh").write_text("true\n")
    found = artifact(tmp_path, {}, launchers=launchers)
    assert found.packed_files("launchers") == paths("launchers/main.sh", "run.sh")
    (tmp_path / "in-place").mkdir()
    (tmp_path / "in-place" / "run.sh").write_text("true\n")
    here = artifact(tmp_path / "in-place", {}, launchers=launchers, code={"root": "."})
    assert here.packed_files("launchers") == paths("launchers/main.sh", "run.sh")
    assert PurePosixPath("run.sh") not in here.code_files()


def test_a_launcher_in_the_code_stays_code(tmp_path: Path) -> None:
    launchers = {
        "main": {"entry": "code/run.sh", "environment": "cpu", "outputs": ["metrics.json"]}
    }
    found = artifact(tmp_path, {"code/run.sh": "true\n"}, launchers=launchers)
    assert found.packed_files("launchers") == paths("launchers/main.sh")
    assert PurePosixPath("code/run.sh") in found.packed_files("code")


@pytest.mark.clause("core-digest/ignored")
def test_rraignore_has_the_syntax_of_gitignore(tmp_path: Path) -> None:
    rules = "*.ckpt\n!best.ckpt\n/code/scratch/\n"
    files: dict[str, str | bytes] = {
        "code/a.ckpt": "1",
        "code/best.ckpt": "1",
        "code/scratch/x": "1",
        "code/deep/scratch/x": "1",
        "guide/GUIDE.md": "hello",
    }
    (tmp_path / ".rraignore").write_text(rules)
    found = artifact(tmp_path, files)
    assert found.packed_files("code") == paths(
        "code/best.ckpt", "code/deep/scratch/x", "code/main.py"
    )
    assert PurePosixPath(".rraignore") in found.packed_files("meta")
    assert found.packed_files("guide") == paths("guide/GUIDE.md")


@pytest.mark.clause("core-digest/leftovers")
def test_what_tools_leave_is_never_packed(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "code/wandb/run/config.yaml": "x",
        "code/.git/config": "url = https://x:token@host\n",
        "code/sub/.git": "gitdir: /home/agnes/x\n",
        "code/.ipynb_checkpoints/a.ipynb": "{}",
        "code/__pycache__/main.pyc": "x",
    }
    assert artifact(tmp_path, files).packed_files("code") == paths("code/main.py")


@pytest.mark.clause("core-digest/excluded")
@pytest.mark.clause("core-digest/leftovers")
def test_patterns_of_exclude_drop_files_and_take_leftovers_back(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "code/a.log": "1",
        "code/deep/b.log": "1",
        "code/old/c.py": "1",
        "code/deep/old/c.py": "1",
        "code/venv/kept.py": "1",
        "code/venv/other.py": "1",
    }
    exclude = ["*.log", "old/", "!venv/kept.py"]
    found = artifact(tmp_path, files, code={"exclude": exclude})
    assert found.packed_files("code") == paths(
        "code/deep/old/c.py", "code/main.py", "code/venv/kept.py"
    )


@pytest.mark.clause("core-digest/no-git-needed")
def test_a_repository_changes_nothing(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"code/untracked.py": "1", "code/.gitignore": "untracked.py\n"}
    before = artifact(tmp_path, files).packed_files("code")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "add", "code/main.py"], check=True)
    assert artifact(tmp_path, files).packed_files("code") == before
    assert PurePosixPath("code/untracked.py") in before


def test_evidence_is_whole(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"evidence/main/0a/outputs/__pycache__/x.pyc": "x"}
    (tmp_path / ".rraignore").write_text("*.pyc\n")
    found = artifact(tmp_path, files)
    assert found.packed_files("evidence") == paths("evidence/main/0a/outputs/__pycache__/x.pyc")
