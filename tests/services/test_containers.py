"""Environments of kind container, built and entered with podman."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

from rra.api import lock
from rra.artifact import load_artifact
from rra.environment import Built
from rra.environment.kinds import BuildRequest, find_kind
from rra.errors import CorruptError, EnvironmentBuildError
from tests.support.artifacts import COMPUTES, make_artifact
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


@pytest.fixture(autouse=True)
def podman(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings with which podman works inside a container, and a store of its own."""
    (tmp_path / "containers.conf").write_text(CONF)
    storage = f'[storage]\ndriver = "vfs"\ngraphroot = "{tmp_path}/graph"\n'
    (tmp_path / "storage.conf").write_text(f'{storage}runroot = "{tmp_path}/run"\n')
    monkeypatch.setenv("CONTAINERS_CONF", str(tmp_path / "containers.conf"))
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(tmp_path / "storage.conf"))


def small_system(place: Path) -> None:
    """Write the system files of a machine that has a shell and nothing else."""
    libraries = subprocess.run(["ldd", "/bin/sh"], capture_output=True, text=True, check=True)
    paths = ["/bin/sh", *re.findall(r"(/\S+) \(0x", libraries.stdout)]
    with tarfile.open(place, "w") as archive:
        for path in paths:
            data = Path(path).read_bytes()
            member = tarfile.TarInfo(path.lstrip("/"))
            member.size, member.mode = len(data), 0o755
            archive.addfile(member, io.BytesIO(data))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "tiny"
    env = {
        "kind": "container",
        "lock": "environment/cpu/Containerfile",
        "rootfs": "environment/cpu/rootfs.tar",
        "variables": {"GREETING": "from $inside"},
    }
    make_artifact(place, {"main.py": COMPUTES}, environments={"cpu": env})
    (place / "environment/cpu").mkdir(parents=True, exist_ok=True)
    small_system(place / "environment/cpu/rootfs.tar")
    lock(place)
    return place


def build(root: Path, said: list[str] | None = None) -> Built:
    said = said if said is not None else []
    request = BuildRequest(artifact=load_artifact(root), id="cpu", progress=said.append)
    return find_kind("container").build(request)


def test_an_image_is_built_once_and_holds_what_the_artifact_says(root: Path) -> None:
    said: list[str] = []
    built = build(root, said)
    assert said == ["building environment cpu with podman"]
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", built.installed_digest)
    script = 'echo "$GREETING"; for i in /proc/sys/net/ipv4/conf/*; do echo "${i##*/}"; done'
    command = ["podman", "run", "--rm", "--network=none", str(built.image), "/bin/sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["from $inside", "all", "default", "lo"], done.stderr
    again = build(root, said)
    assert (again.installed_digest, len(said)) == (built.installed_digest, 1)
    (root / "environment/cpu/Containerfile").write_text("FROM scratch\n")
    with pytest.raises(CorruptError, match=r"Containerfile is not the one"):
        build(root)


def test_system_files_that_are_none_give_no_image(root: Path) -> None:
    (root / "environment/cpu/Containerfile").write_text('FROM scratch\nADD ["absent", "/"]\n')
    lock(root, keep=True)
    with pytest.raises(EnvironmentBuildError, match="podman cannot build environment cpu"):
        build(root)
    listed = subprocess.run(["podman", "images", "-q"], capture_output=True, text=True, check=True)
    assert listed.stdout == ""
