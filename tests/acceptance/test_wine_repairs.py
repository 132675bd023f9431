"""The wine example: what was found, what was repaired, and that each repair is needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.command import rra
from tests.support.needs import needs

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "wine-discriminant"
PATCHES = sorted((EXAMPLE / "artifact" / "guide" / "repairs").glob("*.patch"))

pytestmark = needs("git")


def git(*argv: str | Path, cwd: Path) -> str:
    """Run git away from the settings of whoever runs the tests."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env = {**outside, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", *map(str, argv)], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def tree_of(folder: Path, scratch: Path) -> str:
    """The number that git gives a folder as a tree."""
    shutil.copytree(folder, scratch)
    git("init", "-q", ".", cwd=scratch)
    git("add", "--all", "--force", cwd=scratch)
    return git("write-tree", cwd=scratch)


def repaired(target: Path, *, without: str = "") -> Path:
    """A copy of upstream with all repairs, or with all but one."""
    shutil.copytree(EXAMPLE / "upstream", target)
    git("init", "-q", ".", cwd=target)
    for patch in PATCHES:
        if not without or not patch.name.startswith(without):
            git("apply", patch, cwd=target)
    shutil.rmtree(target / ".git")
    return target


def test_the_manifest_names_the_tree_of_upstream(tmp_path: Path) -> None:
    manifest = (EXAMPLE / "artifact" / "rra.yaml").read_text(encoding="utf-8")

    named = re.search(r"swhid: swh:1:dir:([0-9a-f]{40})\n", manifest)

    assert named is not None
    assert named[1] == tree_of(EXAMPLE / "upstream", tmp_path / "upstream")


def test_upstream_with_the_patches_in_order_is_the_code(tmp_path: Path) -> None:
    made = tree_of(repaired(tmp_path / "made"), tmp_path / "made-tree")

    assert made == tree_of(EXAMPLE / "artifact" / "code", tmp_path / "code")


def test_the_code_without_the_patches_is_upstream(tmp_path: Path) -> None:
    place = tmp_path / "code"
    shutil.copytree(EXAMPLE / "artifact" / "code", place)
    git("init", "-q", ".", cwd=place)

    for patch in reversed(PATCHES):
        git("apply", "--reverse", patch, cwd=place)

    shutil.rmtree(place / ".git")
    assert tree_of(place, tmp_path / "tree") == tree_of(EXAMPLE / "upstream", tmp_path / "up")


def test_every_patch_is_listed_and_every_listed_patch_is_there() -> None:
    listed = re.findall(
        r"^  patch: (.+)$",
        (EXAMPLE / "artifact" / "guide" / "repairs.yaml").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )

    assert listed == [f"guide/repairs/{patch.name}" for patch in PATCHES]
    assert len(listed) == 6


@pytest.mark.parametrize(
    ("without", "verb", "code", "said"),
    [
        ("0001", "lock", 3, "scikit-learn 0.19.2 has no wheel for Python 3.11"),
        ("0002", "run", 1, "module 'numpy' has no attribute 'float'"),
        ("0003", "run", 1, "No such file or directory: '/home/agnes/work/wine/wine.npz'"),
        ("0004", "run", 1, "No module named 'sklearn.cross_validation'"),
        ("0005", "run", 1, "Missing parentheses in call to 'print'"),
        ("0006", "run", 1, "metrics.json"),
    ],
)
def test_no_repair_can_be_left_out(
    without: str, verb: str, code: int, said: str, tmp_path: Path
) -> None:
    place = tmp_path / "artifact"
    shutil.copytree(EXAMPLE / "artifact", place)
    shutil.rmtree(place / "code")
    repaired(place / "code", without=without)

    answer = rra(verb, cwd=place).expect(code)

    assert said in answer.said
