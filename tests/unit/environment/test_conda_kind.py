"""Kind conda with py-rattler, on a channel of toy packages in a folder; without it, one message."""

from __future__ import annotations

import datetime as dt
import hashlib
import importlib.util
import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.errors import EnvironmentBuildError, LockError, UnavailableError
from tests.support.artifacts import COMPUTES, make_artifact

LOCK = "environment/cpu/pixi.lock"


def package(channel: Path, name: str, version: str, day: str, depends: list[str]) -> None:
    """Put a package of one file into a channel and its index."""
    body = f"{name} {version}\n".encode()
    file = f"share/{name}.txt"
    digest = hashlib.sha256(body).hexdigest()
    moment = dt.datetime.fromisoformat(day).replace(tzinfo=dt.UTC)
    index = {
        "name": name,
        "version": version,
        "build": "0",
        "build_number": 0,
        "depends": depends,
        "subdir": "noarch",
        "noarch": "generic",
        "timestamp": int(moment.timestamp() * 1000),
    }
    entry = {"_path": file, "path_type": "hardlink", "sha256": digest, "size_in_bytes": len(body)}
    members = {
        "info/index.json": json.dumps(index).encode(),
        "info/files": f"{file}\n".encode(),
        "info/paths.json": json.dumps({"paths_version": 1, "paths": [entry]}).encode(),
        file: body,
    }
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:bz2") as archive:
        for path, data in members.items():
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    data = stream.getvalue()
    (channel / "noarch").mkdir(parents=True, exist_ok=True)
    (channel / "noarch" / f"{name}-{version}-0.tar.bz2").write_bytes(data)
    place = channel / "noarch/repodata.json"
    known: dict[str, Any] = (
        json.loads(place.read_text())
        if place.exists()
        else {"info": {"subdir": "noarch"}, "packages": {}, "packages.conda": {}}
    )
    said = {**index, "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
    known["packages"][f"{name}-{version}-0.tar.bz2"] = said
    place.write_text(json.dumps(known))


@pytest.fixture
def channel(tmp_path: Path) -> Path:
    """alpha 1.0 (2020) needs beta and CUDA 11; alpha 2.0 (2023) needs beta 2 (2022)."""
    place = tmp_path / "channel"
    package(place, "alpha", "1.0", "2020-01-01", ["beta", "__cuda >=11"])
    package(place, "alpha", "2.0", "2023-01-01", ["beta >=2"])
    package(place, "beta", "1.0", "2020-02-01", [])
    package(place, "beta", "2.0", "2022-06-01", [])
    return place


def artifact(tmp_path: Path, channel: Path, **more: Any) -> Path:
    root = tmp_path / "study"
    cpu = {"kind": "conda", "lock": LOCK, **more}
    make_artifact(root, {"main.py": COMPUTES}, environments={"cpu": cpu})
    text = f"channels: ['{channel.as_uri()}']\ndependencies: [alpha]\n"
    (root / "code/environment.yml").write_text(text)
    return root


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RATTLER_CACHE_DIR", str(tmp_path / "rattler-cache"))
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "rra-cache"))


def test_conda_packages_are_solved_as_of_a_day_for_the_declared_cuda(
    tmp_path: Path, channel: Path
) -> None:
    root = artifact(tmp_path, channel, accelerator={"kind": "cuda", "runtime": "11.8"})
    (one,) = api.lock(root).environments
    assert one.packages == ("alpha 2.0", "beta 2.0")
    (root / LOCK).unlink()
    (one,) = api.lock(root, as_of="2021-01-01").environments
    assert one.packages == ("alpha 1.0", "beta 1.0")
    (built,) = api.env_build(root).environments
    assert (built.kind, built.level, built.packages) == ("conda", "locked", one.packages)
    assert built.place is not None
    assert (built.place / "share/alpha.txt").read_text() == "alpha 1.0\n"
    (again,) = api.env_build(root).environments
    assert (again.place, again.reused) == (built.place, True)
    assert api.env_check(root).ok
    assert api.env_explain("beta", root).environments[0].versions == ("1.0",)


def test_without_that_cuda_there_is_no_solution_of_that_day(tmp_path: Path, channel: Path) -> None:
    root = artifact(tmp_path, channel, accelerator={"kind": "none"})
    with pytest.raises(LockError, match="__cuda >=11"):
        api.lock(root, as_of="2021-01-01")
    assert not (root / LOCK).exists()


def test_carried_packages_are_installed_without_the_channel(tmp_path: Path, channel: Path) -> None:
    root = artifact(tmp_path, channel)
    (carried,) = api.lock(root, wheels=True).carried
    assert carried.wheels == 2
    shutil.rmtree(channel)
    shutil.rmtree(tmp_path / "rattler-cache", ignore_errors=True)
    (built,) = api.env_build(root, environments=["cpu"]).environments
    assert (built.level, built.packages) == ("rebuilt offline", ("alpha 2.0", "beta 2.0"))


def test_a_package_that_is_another_one_is_refused(tmp_path: Path, channel: Path) -> None:
    root = artifact(tmp_path, channel)
    api.lock(root)
    (channel / "noarch/beta-2.0-0.tar.bz2").write_bytes(b"another one")
    with pytest.raises(LockError, match=r"beta-2\.0-0\.tar\.bz2 is not the package"):
        api.lock(root, keep=True, wheels=True)
    with pytest.raises(EnvironmentBuildError):
        api.env_build(root)


def test_without_the_extra_one_message_says_so(
    tmp_path: Path, channel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = artifact(tmp_path, channel)
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "rattler" else real(name)
    )
    with pytest.raises(UnavailableError, match="py-rattler is not installed") as caught:
        api.lock(root)
    assert caught.value.hint == "install it: pip install 'rra[conda]'"
