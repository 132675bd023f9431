"""Files that changed after `rra lock` are noticed, each by what it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rra.api import lock
from rra.artifact import load_artifact
from rra.audit import Options, audit_artifact
from rra.lint import lint_artifact
from tests.support.artifacts import COMPUTES, make_artifact

NAMED = {"wine": {"path": "data/wine.csv", "access": "bundled"}}


def locked(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {
        "main.py": COMPUTES,
        "data/wine.csv": "a\n1\n",
        "launchers/common.sh": "true\n",
    }
    root = make_artifact(tmp_path / "a", files, data=NAMED).root
    lock(root, keep=True)
    return root


def found(root: Path) -> list[str]:
    result = lint_artifact(root, select=["RRA005"])
    assert {(one.path, one.hint) for one in result.findings} <= {
        ("rra.lock", "run: rra lock --keep")
    }
    return [one.message for one in result.findings]


def add(path: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        with (root / path).open("a", encoding="utf-8") as file:
            file.write("# more\n")

    return change


def claim(root: Path) -> None:
    path = root / "rra.yaml"
    path.write_text(path.read_text("utf-8").replace('"98.9"', '"98.8"'), "utf-8")


CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "code": (add("code/main.py"), "code has changed: it is swh:1:dir:"),
    "environment": (
        add("environment/cpu/pylock.toml"),
        "environment cpu has changed: environment/cpu/pylock.toml is another",
    ),
    "launcher": (
        add("launchers/main.sh"),
        "launcher main has changed: launchers/main.sh is another",
    ),
    "data": (add("data/wine.csv"), "data wine has changed: data/wine.csv is another"),
    "beside a launcher": (add("launchers/common.sh"), "launchers: other files have changed"),
    "claim": (claim, "the definition of an environment, a launcher or an outcome has changed"),
}


@pytest.mark.parametrize("name", [*CHANGES])
def test_what_changed_is_named(name: str, tmp_path: Path) -> None:
    change, message = CHANGES[name]
    root = locked(tmp_path)
    assert found(root) == []
    change(root)
    assert len(found(root)) == 1
    assert found(root)[0].startswith(message)
    notes = audit_artifact(load_artifact(root), Options(rerun=False)).notes
    assert notes[0].startswith(f"rra.lock is out of date: {message}")
    lock(root, keep=True)
    assert found(root) == []
    assert audit_artifact(load_artifact(root), Options(rerun=False)).notes == []


def test_prose_does_not_count(tmp_path: Path) -> None:
    root = locked(tmp_path)
    add("README.md")(root)
    assert found(root) == []


def test_an_audit_says_that_there_is_no_lock(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES})
    notes = audit_artifact(artifact, Options(rerun=False)).notes
    assert notes == ["there is no rra.lock to compare the files with; run: rra lock --keep"]
