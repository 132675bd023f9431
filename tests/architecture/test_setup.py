"""`make setup` on machines that lack something, and when there is nothing left to do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.source import ROOT

#: What the script itself calls; everything else is missing on PATH.
ESSENTIAL = ("bash", "cat", "dirname", "env", "rm")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that setup reads, in a place where it cannot touch our own .venv."""
    for name in ("tools/setup.sh", "pyproject.toml", "src/rra/__init__.py"):
        target = tmp_path / "checkout" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    shutil.copytree(ROOT / "requirements", tmp_path / "checkout" / "requirements")
    return tmp_path / "checkout"


def setup(checkout: Path, *tools: str, kind: str = "dev") -> subprocess.CompletedProcess[str]:
    """Run setup with nothing on PATH but the named tools."""
    path = checkout.parent / "bin"
    path.mkdir(exist_ok=True)
    for name in (*ESSENTIAL, *tools):
        found = shutil.which(name)
        assert found is not None
        (path / name).symlink_to(found)
    command = ["bash", str(checkout / "tools/setup.sh"), kind]
    environment = {"PATH": str(path), "HOME": str(checkout.parent)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_without_git_it_says_what_to_install(checkout: Path) -> None:
    run = setup(checkout)
    assert run.returncode == 3
    assert "git is missing" in run.stderr
    assert "apt-get install git" in run.stderr
    assert not (checkout / ".venv").exists()


def test_without_python_it_says_what_to_install(checkout: Path) -> None:
    run = setup(checkout, "git")
    assert run.returncode == 3
    assert "no Python 3.11 or newer" in run.stderr
    assert "apt-get install python3 python3-venv" in run.stderr
    assert not (checkout / ".venv").exists()


def test_an_unknown_kind_is_refused(checkout: Path) -> None:
    run = setup(checkout, "git", kind="everything")
    assert run.returncode == 2
    assert "neither run nor dev" in run.stderr


def test_nothing_is_done_twice(checkout: Path) -> None:
    # a stand-in for an environment that is complete: a Python that is new enough, and the stamp
    python = checkout / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.symlink_to(Path(sys.executable).resolve())
    sources = ["tools/setup.sh", "pyproject.toml", "src/rra/__init__.py"]
    sources += sorted(f"requirements/{path.name}" for path in checkout.glob("requirements/*.txt"))
    text = b"".join((checkout / name).read_bytes() for name in sources)
    digest = subprocess.run(
        ["git", "hash-object", "--stdin"], input=text, capture_output=True, check=True
    ).stdout
    (checkout / ".venv/.rra-dev").write_bytes(digest)
    run = setup(checkout, "git")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
