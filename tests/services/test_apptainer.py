"""Launchers isolated by Apptainer: in an image of one file, and among this machine's programs."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rra import api
from rra.artifact import load_artifact
from rra.environment import Built
from rra.environment.kinds import BuildRequest, find_kind
from rra.environment.kinds.sif import SifSource, written_source
from rra.errors import EnvironmentBuildError
from rra.sandbox import Apptainer, best_sandbox
from rra.sandbox.apptainer import try_apptainer
from tests.adversarial.hostile_launchers import run as run_hostile
from tests.support.debian13 import APPTAINER
from tests.support.images import HOSTILE, artifact, check_hostile
from tests.support.needs import needs

pytestmark = needs("apptainer")


@pytest.fixture(scope="module")
def cache() -> Iterator[Path]:
    """A cache of images of our own: each takes seconds to make."""
    with tempfile.TemporaryDirectory(prefix="rra-sif-") as place:
        yield Path(place)


@pytest.fixture(autouse=True)
def apptainer(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Apptainer in the place of podman."""
    monkeypatch.setenv("PATH", f"{APPTAINER.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("RRA_CONTAINER_ENGINE", "apptainer")
    monkeypatch.setenv("RRA_CACHE", str(cache))
    monkeypatch.setenv("RRA_STATE", str(tmp_path / "rra-state"))


def build(root: Path) -> Built:
    request = BuildRequest(artifact=load_artifact(root), id="cpu")
    return find_kind("container").build(request)


def test_it_works_and_says_which_version_it_is() -> None:
    found = try_apptainer()
    assert found.works, found.why
    assert found.why.startswith("apptainer version 1.")


def test_an_image_is_made_once_and_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "of the caller")
    monkeypatch.setenv("APPTAINER_BIND", "/etc:/mnt")
    monkeypatch.setenv("APPTAINERENV_SECRET", "of the caller")
    root = artifact(tmp_path / "tiny")
    (root.parent / "references.yaml").write_text("accuracy: 0.989\n")
    for folder in ("outputs/main", "evidence"):
        (root / folder).mkdir(parents=True)
        (root / folder / "of an earlier run").touch()
    (run,) = api.run(root).runs
    assert run.ok, run.message
    assert (run.sandbox, run.recorder) == ("container", "tree")
    lines = (root / "outputs/main/stdout.txt").read_text().splitlines()
    cards = [line for line in lines if line.startswith("card ")]
    assert cards == ["card all", "card default", "card lo"]
    own = ".rra-staging-"  # where its own output directory is mounted
    others = [line for line in lines if line not in cards and not line.startswith(own)]
    assert others == ["from $inside no-secret", "changed-in-the-copy", "main.py"]
    assert (root / "outputs/main/stderr.txt").read_text() == ""
    record = json.loads((root / run.evidence / "record.json").read_text())
    assert (record["sandbox"]["level"], record["termination"]) == ("container", "ok")
    built = build(root)
    assert (built.reused, built.python, built.kind) == (True, None, "container")
    assert record["environment"]["installed"] == built.installed_digest
    assert Path(str(built.image)).suffix == ".sif"
    assert "PATH" in built.variables
    assert not {name for name in built.variables if name.startswith(("APPTAINER", "SINGULARITY"))}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_launcher_that_misbehaves_is_held_and_named(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its own threads count, too.
    check_hostile(tmp_path, name, monkeypatch, processes=64)


@needs("control-groups")
@pytest.mark.parametrize(
    ("script", "word", "status"),
    [
        ("trap '' TERM; echo deaf; while :; do sleep 600; done\n", "timeout", 137),
        ("trap 'echo saved; exit 0' TERM; while :; do sleep 0.1; done\n", "timeout", 0),
        ("kill -9 $$\n", "signal", 137),
        ("exit 255\n", "exit", 255),
    ],
    ids=["deaf", "well", "signal", "255"],
)
def test_programs_of_this_machine_end_as_they_do_elsewhere(
    tmp_path: Path, script: str, word: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rra._base.process.GRACE_SECONDS", 0.5)
    wall = 2.0 if word == "timeout" else None
    result = run_hostile(tmp_path / "a", script, best_sandbox("apptainer"), wall_seconds=wall)
    assert result.record.termination == word
    if word == "timeout":
        said = "saved\n" if "saved" in script else "deaf\n"
        assert (result.outputs_dir / "stdout.txt").read_text() == said
    else:
        assert result.record.exit_code == status


def test_an_image_that_is_gone_is_no_fault_of_the_launcher(tmp_path: Path) -> None:
    from rra.sandbox import image_sandbox

    box = image_sandbox(str(tmp_path / "gone.sif"))
    result = run_hostile(tmp_path / "a", "true\n", box)
    assert (result.record.termination, result.record.exit_code) == ("infrastructure", 255)


def test_a_containerfile_of_somebody_else_is_refused(tmp_path: Path) -> None:
    root = artifact(tmp_path / "tiny")
    (root / "environment/cpu/Containerfile").write_text("FROM scratch\nRUN true\n")
    api.lock(root, keep=True)
    with pytest.raises(EnvironmentBuildError, match="Apptainer reads no Containerfile"):
        build(root)


def test_what_comes_from_a_registry_is_asked_for_by_digest(tmp_path: Path) -> None:
    digest = "sha256:" + "0" * 64
    base = SifSource(base=f"debian@{digest}")
    assert written_source(base, tmp_path) == f"docker://debian@{digest}"
    more = SifSource(base=f"debian@{digest}", packages=("bc", "r-base=4.2"))
    text = Path(written_source(more, tmp_path)).read_text()
    assert text.splitlines()[:2] == ["Bootstrap: docker", f"From: debian@{digest}"]
    assert "install -y --no-install-recommends \\\n      bc r-base=4.2\n" in text
    assert isinstance(best_sandbox("apptainer"), object)
    assert Apptainer("apptainer", APPTAINER).image(str(tmp_path / "absent.sif")) is None
