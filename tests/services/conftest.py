"""A running registry, a bundle to send there, and a home without credentials."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rra.api import lock, pack
from tests.services.registry import PASSWORD, USER, Registry, running
from tests.support.artifacts import COMPUTES, make_artifact

LICENCE = "MIT\n"
#: Enough that no buffer of a socket holds it.
BIG = 48 << 20


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own: what another test fetched of the same blob is not found there."""
    monkeypatch.setenv("RRA_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    for name in ("REGISTRY_AUTH_FILE", "DOCKER_CONFIG", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return place


@pytest.fixture(scope="session")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny artifact that is locked."""
    root = tmp_path_factory.mktemp("artifact") / "tiny"
    guide = "# Guide\n\nOne launcher.\n"
    files = {"main.py": COMPUTES, "guide/GUIDE.md": guide, "LICENSE": LICENCE}
    make_artifact(root, files)
    lock(root, keep=True)
    return root


@pytest.fixture(scope="session")
def layout(artifact: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of the artifact in a folder."""
    place = tmp_path_factory.mktemp("layout") / "bundles"
    made = pack(artifact, f"oci-layout:{place}")
    assert made.ok, made.problems
    return place


@pytest.fixture(scope="session")
def digest(layout: Path) -> str:
    """Digest of the bundle's manifest, as the index of the folder has it."""
    index = json.loads((layout / "index.json").read_text())
    found: str = index["manifests"][0]["digest"]
    return found


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with running(tmp_path / "registry") as server:
        yield server


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Registry]:
    """A registry that wants a login."""
    with running(tmp_path / "guarded", login=True) as server:
        yield server


@pytest.fixture
def log_in(home: Path) -> Callable[..., Path]:
    """Keeps a login for a registry where docker keeps it."""

    def keep(server: Registry, password: str = PASSWORD) -> Path:
        path = home / ".docker/config.json"
        path.parent.mkdir(exist_ok=True)
        packed = base64.b64encode(f"{USER}:{password}".encode()).decode()
        path.write_text(json.dumps({"auths": {server.host: {"auth": packed}}}))
        return path

    return keep
