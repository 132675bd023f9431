"""`rra lock --wheels` and `--runtime`: what comes beside a lock, and what is said of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra._base.files import sha256_file
from rra.artifact import load_artifact
from rra.bundle.lock_state import changes_since_lock
from rra.environment import lock_environment
from rra.environment.interpreter import Interpreter
from rra.errors import LockError, UsageError
from tests.support.artifacts import COMPUTES, make_artifact
from tests.support.runtimes import ELSEWHERE, FULL, HERE, MINOR, pretend
from tests.unit.environment.toy_index import ToyServer, make_wheel

PLACE = "environment/cpu/interpreter.tar"
WHEELS = "environment/cpu/wheels"
ALPHA, BETA = "alpha-1.0-py3-none-any.whl", "beta-1.0-py3-none-any.whl"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ToyServer]:
    running = ToyServer()
    running.index.add_wheel("alpha", "1.0", "2020-01-01", requires=["beta"])
    running.index.add_wheel("beta", "1.0", "2020-02-01")
    running.index.add_wheel("beta", "2.0", "2022-06-01")
    for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_DEFAULT_INDEX", running.index.url)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    yield running
    running.close()


def artifact(root: Path, **environment: Any) -> Path:
    cpu = {"kind": "pylock", "python": MINOR, "lock": "environment/cpu/pylock.toml"}
    make_artifact(root, {"main.py": COMPUTES}, environments={"cpu": {**cpu, **environment}})
    (root / "environment/cpu/README.md").unlink()
    return root


def with_alpha(root: Path) -> Path:
    env = load_artifact(root).manifest.environments["cpu"]
    lock_environment(root, "cpu", env, ["alpha"], as_of="2021-01-01")
    return root


@pytest.fixture
def packs_nothing_real(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have an interpreter "packed" in a moment; tests of the prefix pack a real one."""
    from rra.environment import prefix
    from rra.environment.runtime import RuntimeDescription
    from tests.support.runtimes import description

    def copy(interpreter: Interpreter, target: Path) -> RuntimeDescription:
        said = RuntimeDescription.model_validate(description(python=interpreter.version))
        (target / "python/bin").mkdir(parents=True)
        (target / "python/bin" / f"python{MINOR}").write_text("")
        (target / "RUNTIME.json").write_bytes(said.content())
        return said

    monkeypatch.setattr(prefix, "copy_interpreter", copy)


def test_all_wheels_of_the_lock_come_beside_it(server: ToyServer, tmp_path: Path) -> None:
    root = with_alpha(artifact(tmp_path / "a"))
    lock = (root / "environment/cpu/pylock.toml").read_bytes()
    result = api.lock(root, keep=True, wheels=True)
    for name in (ALPHA, BETA):
        assert (root / WHEELS / name).read_bytes() == server.index.files[name][2]
    assert sorted(p.name for p in (root / WHEELS).iterdir()) == [ALPHA, BETA]
    assert (root / "environment/cpu/pylock.toml").read_bytes() == lock, "beta 2.0 is not the lock's"
    (one,) = result.carried
    assert (one.wheels, one.interpreter) == (2, None)
    assert one.wheels_bytes == sum(p.stat().st_size for p in (root / WHEELS).iterdir())
    environment = load_artifact(root).manifest.environments["cpu"]
    assert (environment.wheels, environment.interpreter) == (WHEELS, None)
    requirements = (root / "environment/cpu/requirements.txt").read_text()
    assert requirements.startswith("--find-links wheels\nalpha==1.0 \\\n")


def test_what_is_there_already_needs_no_index(server: ToyServer, tmp_path: Path) -> None:
    root = with_alpha(artifact(tmp_path / "a"))
    api.lock(root, keep=True, wheels=True)
    before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    (root / WHEELS / "gamma-1.0-py3-none-any.whl").write_bytes(b"of an earlier lock")
    server.index.files.clear()
    assert api.lock(root, keep=True, wheels=True).changed is False
    assert {p: p.read_bytes() for p in root.rglob("*") if p.is_file()} == before


def test_a_wheel_that_is_another_is_fetched_again_or_refused(
    server: ToyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = with_alpha(artifact(tmp_path / "a"))
    api.lock(root, keep=True, wheels=True)
    right = (root / WHEELS / BETA).read_bytes()
    (root / WHEELS / BETA).write_bytes(b"another")
    api.lock(root, keep=True, wheels=True)
    assert (root / WHEELS / BETA).read_bytes() == right

    (root / WHEELS / BETA).unlink()
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "of another machine"))
    changed = make_wheel("beta", "1.0", requires=["gamma"])
    assert hashlib.sha256(changed).digest() != hashlib.sha256(right).digest()
    server.index.files.clear()
    server.index.add_wheel("beta", "1.0", "2020-02-01", requires=["gamma"])
    with pytest.raises(LockError, match=f"no index has {BETA} with the digest that is locked"):
        api.lock(root, keep=True, wheels=True)
    assert not (root / WHEELS / BETA).exists()
    assert (root / WHEELS / ALPHA).is_file(), "nothing is half-done"


@pytest.mark.usefixtures("packs_nothing_real")
def test_the_interpreter_comes_beside_the_lock_and_everything_says_so(tmp_path: Path) -> None:
    root = artifact(tmp_path / "a")
    comment = "# how it was run\n"
    (root / "rra.yaml").write_text(comment + (root / "rra.yaml").read_text())
    result = api.lock(root, keep=True, runtime=True)
    (one,) = result.carried
    assert (one.interpreter, one.platform, one.libraries) == (PLACE, HERE, ("libc.so.6",))
    assert one.python is not None
    assert one.python.startswith(f"{MINOR}.")
    assert one.interpreter_bytes == (root / PLACE).stat().st_size
    text = (root / "rra.yaml").read_text()
    assert text.startswith(comment)
    assert load_artifact(root).manifest.environments["cpu"].interpreter == PLACE
    known = json.loads((root / "rra.lock").read_bytes())["environments"]["cpu"]
    assert known["interpreter"] == sha256_file(root / PLACE)
    readme = (root / "environment/cpu/README.md").read_text()
    assert f"tar -xf {PLACE} -C runtime" in readme
    assert "the GNU C library 2.2 or newer" in readme
    before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    assert api.lock(root, keep=True, runtime=True).changed is False
    assert {p: p.read_bytes() for p in root.rglob("*") if p.is_file()} == before

    api.lock(root)
    assert f"tar -xf {PLACE}" in (root / "environment/cpu/README.md").read_text()
    assert (root / PLACE).is_file()


@pytest.mark.usefixtures("packs_nothing_real")
def test_a_carried_interpreter_is_part_of_the_core_and_noticed_when_it_changes(
    tmp_path: Path,
) -> None:
    root = artifact(tmp_path / "a")
    without = api.lock(root, keep=True).core
    assert api.lock(root, keep=True, runtime=True).core != without
    assert changes_since_lock(load_artifact(root)) == []
    pretend(root / PLACE, program="#!/bin/sh\nanother\n")
    what = "environment cpu has changed: the interpreter it carries is another"
    assert what in changes_since_lock(load_artifact(root))
    (root / PLACE).unlink()
    what = "environment cpu has changed: the interpreter it carries is gone"
    assert what in changes_since_lock(load_artifact(root))


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"platforms": [ELSEWHERE]}, f"is for {ELSEWHERE}; this machine is {HERE}"),
        ({"interpreter": "environment/python.tar"}, "has its interpreter at environment/python"),
        ({"wheels": "environment/wheels"}, "has its wheels at environment/wheels, not at"),
    ],
)
@pytest.mark.usefixtures("packs_nothing_real")
def test_what_cannot_be_carried_is_said_and_nothing_changes(
    tmp_path: Path, environment: dict[str, Any], said: str
) -> None:
    root = artifact(tmp_path / "a", **environment)
    before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    with pytest.raises(UsageError, match=said):
        api.lock(root, keep=True, runtime=True)
    assert {p: p.read_bytes() for p in root.rglob("*") if p.is_file()} == before


def test_the_python_of_the_environment_is_the_one_that_is_packed(tmp_path: Path) -> None:
    from rra.environment.carry import interpreter_to_carry

    root = artifact(tmp_path / "a", python=FULL)
    env = load_artifact(root).manifest.environments["cpu"]
    assert interpreter_to_carry("cpu", env).version == FULL
