"""Environments of kind container, built by podman, and launchers run in them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.api import lock
from rra.artifact import load_artifact
from rra.audit import Budget
from rra.environment import Built
from rra.environment.kinds import BuildRequest, find_kind
from rra.errors import CorruptError, EnvironmentBuildError, UsageError
from rra.evidence import EVENTS
from rra.verify import Options, verify_artifact
from tests.support.artifacts import COMPUTES, make_artifact
from tests.support.images import HOSTILE, artifact, check_hostile
from tests.support.needs import needs

pytestmark = [needs("podman"), needs("runc")]

CONF = """\
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
netns = "none"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
"""


@pytest.fixture(scope="module")
def store() -> Iterator[Path]:
    """A store of images of our own, in a short folder.

    podman waits 20 seconds for the end of each container whose folder has a long path.
    """
    place = Path(tempfile.mkdtemp(prefix="rra-p"))
    (place / "containers.conf").write_text(CONF)
    storage = f'[storage]\ndriver = "vfs"\ngraphroot = "{place}/graph"\n'
    (place / "storage.conf").write_text(f'{storage}runroot = "{place}/run"\n')
    yield place
    shutil.rmtree(place)


@pytest.fixture(autouse=True)
def podman(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings with which podman works inside a container."""
    monkeypatch.setenv("CONTAINERS_CONF", str(store / "containers.conf"))
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(store / "storage.conf"))
    monkeypatch.setenv("RRA_STATE", str(tmp_path / "rra-state"))


def images() -> set[str]:
    done = subprocess.run(["podman", "images", "-q"], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return artifact(tmp_path / "tiny")


def build(root: Path, said: list[str] | None = None) -> Built:
    said = said if said is not None else []
    request = BuildRequest(artifact=load_artifact(root), id="cpu", progress=said.append)
    return find_kind("container").build(request)


def test_an_image_is_built_once_and_holds_what_the_artifact_says(root: Path) -> None:
    said: list[str] = []
    built = build(root, said)
    assert said in (["building environment cpu with podman"], [])
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", built.installed_digest)
    assert (built.variables["GREETING"], built.python, built.packages) == ("from $inside", None, ())
    again = build(root, said)
    assert (again.installed_digest, again.reused) == (built.installed_digest, True)
    assert len(said) <= 1
    (one,) = api.env_build(root).environments
    assert (one.kind, one.level, one.reused) == ("container", "rebuilt offline", True)
    assert (one.image, one.interpreter, one.place) == (built.image, "image", None)
    with pytest.raises(UsageError, match="of kind container"):
        api.env_build(root, into=root.parent / "place")
    (root / "environment/cpu/Containerfile").write_text("FROM scratch\n")
    with pytest.raises(CorruptError, match=r"Containerfile is not the one"):
        build(root)


def test_system_files_that_are_none_give_no_image(root: Path) -> None:
    (root / "environment/cpu/Containerfile").write_text('FROM scratch\nADD ["absent", "/"]\n')
    lock(root, keep=True)
    before = images()
    with pytest.raises(EnvironmentBuildError, match="podman cannot build environment cpu"):
        build(root)
    assert images() == before


def test_a_launcher_in_an_image_sees_its_inputs_and_nothing_else(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "of the caller")
    (root.parent / "references.yaml").write_text("accuracy: 0.989\n")
    for folder in ("outputs/main", "evidence"):
        (root / folder).mkdir(parents=True)
        (root / folder / "of an earlier run").touch()
    done = api.run(root)
    (run,) = done.runs
    assert run.ok, run.message
    assert (run.sandbox, run.recorder) == ("container", "tree")
    lines = (root / "outputs/main/stdout.txt").read_text().splitlines()
    cards = [line for line in lines if line.startswith("card ")]
    assert cards == ["card all", "card default", "card lo"]
    own = ".rra-staging-"  # where its own output directory is mounted
    others = [line for line in lines if line not in cards and not line.startswith(own)]
    assert others == ["from $inside no-secret", "changed-in-the-copy", "main.py"]
    assert (root / "outputs/main/before.txt").read_text() == "\n"
    assert not (root / "code/changed-in-the-copy").exists()
    record = json.loads((root / run.evidence / "record.json").read_text())
    assert (record["sandbox"]["level"], record["sandbox"]["gaps"]) == ("container", [])
    assert record["sandbox"]["limits"]["processes"] >= 4096
    assert record["environment"]["installed"] == build(root).installed_digest
    measured = "the memory is that of all processes together, file caches included"
    assert [gap for gap in record["recorder"]["gaps"] if "memory" in gap] == [measured]
    assert 0 <= record["resources"]["cpu"] < 20
    assert record["resources"]["max_rss"] > 4096
    assert record["other_writes"] == []
    assert [str(one.value) for one in done.values] == ["98.9"]


def test_an_image_is_verified_as_a_stranger(root: Path, tmp_path: Path) -> None:
    options = Options(budget=Budget(runs=0))
    found = verify_artifact(load_artifact(root), tmp_path / "v", options)
    assert found.plan.sandbox == "container"
    assert [(one.id, one.ok) for one in found.environments] == [("cpu", True)]
    assert [run.sandbox for run in found.runs] == ["container"]
    assert [run.ok for run in found.runs] == [True]
    assert [str(value) for one in found.outcomes for value in one.values] == ["98.9"]


def test_a_launcher_that_does_not_end_leaves_no_container(tmp_path: Path) -> None:
    main = {"entry": "launchers/main.sh", "environment": "cpu", "outputs": ["metrics.json"]}
    launchers = {"main": {**main, "limits": {"wall": 1}}}
    root = artifact(tmp_path / "slow", "trap '' TERM\nsleep 1000\n", launchers=launchers)
    (run,) = api.run(root).runs
    record = json.loads((root / run.evidence / "record.json").read_text())
    assert (run.ok, record["termination"]) == (False, "timeout")
    assert "its limit of time, and was ended" in run.message
    left = subprocess.run(["podman", "ps", "-aq"], capture_output=True, text=True, check=True)
    assert left.stdout == ""


def test_a_container_whose_rra_was_killed_is_ended_by_the_next_call(tmp_path: Path) -> None:
    root = artifact(tmp_path / "cut", "echo begun\nsleep 1000\n")
    started = subprocess.Popen([sys.executable, "-m", "rra", "run"], cwd=root)
    try:
        said = "outputs/.rra-staging-*/record/stdout.txt"
        while not any(file.read_bytes() for file in root.glob(said)) and started.poll() is None:
            time.sleep(0.05)
    finally:
        started.kill()
        started.wait()
    assert containers() != ""
    (run,) = api.evidence_list(root).runs
    assert (run.record.launcher.id, run.record.termination) == ("main", "infrastructure")
    (ended,) = (event for event in events(root / run.place) if event["kind"] == "ended")
    assert ended["left_behind"] >= 1
    assert containers() == ""


def containers() -> str:
    """Return the containers that podman has, running or not."""
    done = subprocess.run(["podman", "ps", "-aq"], capture_output=True, text=True, check=True)
    return done.stdout


def events(folder: Path) -> list[dict[str, Any]]:
    """Return the events beside a record."""
    return [json.loads(line) for line in (folder / EVENTS).read_text().splitlines()]


@pytest.mark.parametrize(("script", "word"), [("exit 7\n", "exit"), ("kill -9 $$\n", "signal")])
def test_the_end_of_a_launcher_comes_through(tmp_path: Path, script: str, word: str) -> None:
    root = artifact(tmp_path / "ends", script)
    (run,) = api.run(root).runs
    record = json.loads((root / run.evidence / "record.json").read_text())
    assert record["termination"] == word


@needs("control-groups")
def test_a_launcher_in_an_image_has_the_memory_that_it_declares(tmp_path: Path) -> None:
    main = {"entry": "launchers/main.sh", "environment": "cpu", "outputs": ["metrics.json"]}
    launchers = {"main": {**main, "resources": {"memory": "24 MiB"}}}
    script = "(a=xxxxxxxxxxxxxxxx; while :; do a=$a$a; done); exit 4\n"
    root = artifact(tmp_path / "greedy", script, launchers=launchers)
    (run,) = api.run(root).runs
    record = json.loads((root / run.evidence / "record.json").read_text())
    assert (record["termination"], record["exit_code"]) == ("memory", 4)
    assert record["sandbox"]["limits"]["memory"] == 24 << 20
    assert record["sandbox"]["reached"] == ["memory"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_launcher_in_an_image_that_misbehaves_is_held_and_named(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_hostile(tmp_path, name, monkeypatch, processes=24)
    left = subprocess.run(["podman", "ps", "-aq"], capture_output=True, text=True, check=True)
    assert left.stdout == ""


PYTHON = """\
import json, os, pathlib, random, sys
random.seed(7)
data = json.loads(pathlib.Path(os.environ["RRA_DATA_DIR"], "d.json").read_text())
out = pathlib.Path(os.environ["RRA_OUTPUT_DIR"])
(out / "metrics.json").write_text(json.dumps({"accuracy": 100 * data["right"] / data["all"]}))
print(sys.version.split()[0], sys.prefix)
"""


@pytest.mark.slow
@needs("mmdebstrap")
def test_python_of_a_debian_image_is_used_and_watched(tmp_path: Path) -> None:
    """The base comes from Debian's own archive, by its own tool; no registry of images."""
    place = tmp_path / "debian"
    env = {
        "kind": "container",
        "lock": "environment/cpu/Containerfile",
        "rootfs": "environment/cpu/rootfs.tar",
    }
    main = {"entry": "launchers/main.py", "environment": "cpu", "outputs": ["metrics.json"]}
    make_artifact(place, {"main.py": COMPUTES}, environments={"cpu": env}, launchers={"main": main})
    for folder in ("environment/cpu", "data"):
        (place / folder).mkdir(parents=True, exist_ok=True)
    (place / "data/d.json").write_text('{"right": 88, "all": 89}')
    (place / "launchers/main.py").write_text(PYTHON)
    archive = place / "environment/cpu/rootfs.tar"
    options = ["--variant=extract", "--include=dash,python3", "--skip=output/dev"]
    subprocess.run(["mmdebstrap", "--quiet", *options, "bookworm", archive], check=True)
    lock(place)
    (one,) = api.env_build(place).environments
    assert (one.level, one.interpreter) == ("rebuilt offline", "image")
    assert str(one.python).startswith("3.11.")
    (run,) = api.run(place).runs
    assert run.ok, run.message
    assert (run.sandbox, run.recorder) == ("container", "audit-hook")
    record = json.loads((place / run.evidence / "record.json").read_text())
    assert record["platform"]["python"] == one.python
    assert record["seed"]["observed"] == [7]
    assert '"path":"data/d.json"' in (place / run.evidence / EVENTS).read_text()
    printed = (place / "outputs/main/stdout.txt").read_text()
    assert printed == f"{one.python} /usr\n"
