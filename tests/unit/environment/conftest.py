"""A toy index, and an artifact whose environment is resolved from it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rra.artifact import Artifact, load_artifact
from tests.unit.environment.toy_index import ToyIndex, ToyServer

PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
INTERPRETER = f"cp{sys.version_info[0]}{sys.version_info[1]}"

MANIFEST = """\
rra: "1.0"
name: toy
version: 1.0.0
license: MIT
environments:
  cpu: {{kind: pylock, python: "{python}", lock: environment/cpu/pylock.toml{more}}}
launchers:
  main: {{entry: launchers/main.sh, environment: cpu, outputs: [m.json]}}
experiments:
  e:
    outcomes:
      o: {{type: number, reported: "1", selector: {{launcher: main, file: m.json, json: /o}}}}
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ToyServer]:
    running = ToyServer()
    monkeypatch.setenv("UV_DEFAULT_INDEX", running.index.url)
    for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "rra-cache"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    yield running
    running.close()


@pytest.fixture
def index(server: ToyServer) -> ToyIndex:
    """Two packages, each in two versions.

    alpha 1.0 (2020-01-01) needs beta; alpha 2.0 (2023-01-01) needs beta>=2;
    beta 1.0 (2020-02-01), beta 2.0 (2022-06-01).
    """
    offered = server.index
    offered.add_wheel("alpha", "1.0", "2020-01-01", requires=["beta"])
    offered.add_wheel("alpha", "2.0", "2023-01-01", requires=["beta>=2"])
    offered.add_wheel("beta", "1.0", "2020-02-01")
    offered.add_wheel("beta", "2.0", "2022-06-01")
    return offered


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "artifact"
    (place / "launchers").mkdir(parents=True)
    (place / "code").mkdir()
    (place / "launchers" / "main.sh").write_text("true\n")
    return place


@pytest.fixture
def artifact(root: Path) -> Callable[..., Artifact]:
    """Make an artifact; `more` goes into its environment."""

    def make(more: str = "", python: str = PYTHON) -> Artifact:
        text = MANIFEST.format(python=python, more=f", {more}" if more else "")
        (root / "rra.yaml").write_text(text)
        return load_artifact(root)

    return make
