"""Launchers that lost their executable bit have it again in the bundle (B13)."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from rra import api
from rra.artifact import load_artifact
from rra.lint import lint_artifact
from tests.support.bundles import locked_artifact, pack, unpack

if TYPE_CHECKING:
    import pytest

HELPER = "#!/usr/bin/env python3\nprint(7)\n"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_b13_the_bundle_has_launchers_that_can_be_started(tmp_path: Path) -> None:
    """As from a web form: no file has the bit; what only looks like a program gets none."""
    files = {
        "launchers/deep/helper": HELPER,
        "launchers/lib.sh": "echo no program of its own\n",
        "launchers/private.sh": "#!/bin/sh\n",
        "launchers/empty": "",
    }
    locked_artifact(tmp_path / "a", files)
    for path in (tmp_path / "a/launchers").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (tmp_path / "a/launchers/private.sh").chmod(0o600)
    findings = lint_artifact(tmp_path / "a", select=["RRA301"]).findings
    assert [(one.severity, one.message) for one in findings] == [("note", "is not executable")]

    done = api.lock(tmp_path / "a", keep=True)
    made = [note for note in done.notes if "made executable" in note]
    assert [note.partition(":")[0] for note in made] == [
        "launchers/deep/helper",
        "launchers/main.sh",
        "launchers/private.sh",
    ]
    artifact = load_artifact(tmp_path / "a")
    pack(artifact, tmp_path / "bundle")
    unpack(tmp_path / "bundle", tmp_path / "there")
    found = {path.name: mode(path) for path in (tmp_path / "there/launchers").rglob("*.sh")}
    assert found["main.sh"] == found["private.sh"] == 0o755
    assert found["lib.sh"] == 0o644
    assert mode(tmp_path / "a/launchers/private.sh") == 0o700, "who may not read it may not run it"
    helper = tmp_path / "there/launchers/deep/helper"
    ran = subprocess.run([helper], capture_output=True, check=True)
    assert ran.stdout == b"7\n"
    assert lint_artifact(tmp_path / "there", select=["RRA301"]).findings == ()


def test_b13_the_bit_is_lost_after_locking_and_comes_back_as_it_was(tmp_path: Path) -> None:
    artifact = locked_artifact(tmp_path / "a")
    before = (tmp_path / "a/rra.lock").read_bytes()
    again = api.lock(artifact.root, keep=True)
    assert not again.changed
    assert not any("executable" in note for note in again.notes), "once is enough"
    (tmp_path / "a/launchers/main.sh").chmod(0o644)
    refused = api.pack(artifact.root, f"oci-layout:{tmp_path / 'bundle'}")
    assert refused.exit_code == 1
    assert "rra lock" in " ".join(problem.hint for problem in refused.problems)
    assert not (tmp_path / "bundle").exists()
    api.lock(artifact.root, keep=True)
    assert (tmp_path / "a/rra.lock").read_bytes() == before
    assert api.pack(artifact.root, f"oci-layout:{tmp_path / 'bundle'}").ok


def test_b13_where_no_file_can_be_executable_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk of another system: the mode is taken and forgotten."""
    artifact = locked_artifact(tmp_path / "a")
    (tmp_path / "a/launchers/main.sh").chmod(0o644)
    monkeypatch.setattr(Path, "chmod", lambda path, mode: None)
    done = api.lock(artifact.root, keep=True)
    (note,) = (one for one in done.notes if "executable" in one)
    assert note.startswith("launchers/main.sh: begins with #!, and this file system keeps no")
