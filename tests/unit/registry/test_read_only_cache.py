"""A cache that cannot be written: verbs that can do without it do, the others say what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rra import api
from rra.api._result import VerbResult
from rra.errors import StorageError
from tests.support.bundles import locked_artifact
from tests.support.disks import mounted_disk
from tests.support.http_registry import HttpRegistry
from tests.support.needs import needs

pytestmark = needs("tmpfs")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return locked_artifact(tmp_path / "tiny").root


@pytest.fixture
def reference(registry: HttpRegistry, study: Path) -> str:
    """The artifact in a registry; what is in the cache of the test before it is read-only."""
    pushed = api.push(str(study), f"{registry.host}/team/tiny")
    assert pushed.pushed is not None
    return f"{registry.host}/team/tiny:1.0.0"


@pytest.fixture
def read_only(reference: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    del reference
    with mounted_disk(tmp_path / "disk", "4m") as disk:
        (disk / "bundles").mkdir()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        monkeypatch.setenv("RRA_CACHE", str(disk))
        temporary = tmp_path / "temporary"
        temporary.mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(temporary))
        yield disk
        assert list(temporary.iterdir()) == []


Call = Callable[[str, Path, Path], VerbResult]


@pytest.mark.parametrize(
    "call",
    [
        lambda ref, tiny, out: api.push(str(tiny), ref),
        lambda ref, tiny, out: api.pack(tiny, f"oci-archive:{out}/x.tar"),
        lambda ref, tiny, out: api.pack(tiny, f"oci-layout:{out}/x", check=True),
        lambda ref, tiny, out: api.pull(ref, str(out / "x")),
        lambda ref, tiny, out: api.pull(ref, f"oci-layout:{out}/x"),
        lambda ref, tiny, out: api.copy(ref, f"oci-archive:{out}/x.tar"),
        lambda ref, tiny, out: api.unpack(ref, out / "x"),
        lambda ref, tiny, out: api.inspect(ref),
        lambda ref, tiny, out: api.lint(ref),
        lambda ref, tiny, out: api.diff(ref, str(tiny)),
        lambda ref, tiny, out: api.next(ref),
        lambda ref, tiny, out: api.verify(ref),
        lambda ref, tiny, out: api.verify(str(tiny)),
        lambda ref, tiny, out: api.lock(tiny),
    ],
)
def test_verbs_that_do_without(
    read_only: Path, reference: str, study: Path, tmp_path: Path, call: Call
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    assert call(reference, study, out).exit_code == 0
    assert [path.name for path in read_only.iterdir()] == ["bundles"]


def test_a_run_says_what_to_do(read_only: Path, study: Path) -> None:
    """Its environment has to be kept somewhere."""
    with pytest.raises(StorageError, match=f"no environment can be built in {read_only}") as caught:
        api.run(study, launchers=["main"])
    assert caught.value.exit_code == 3
    assert caught.value.hint == "set RRA_CACHE to a folder that can be written"


def test_an_environment_that_is_there_is_used(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with mounted_disk(tmp_path / "disk", "64m") as disk:
        monkeypatch.setenv("RRA_CACHE", str(disk))
        assert api.run(study, launchers=["main"]).exit_code == 0
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        assert api.run(study, launchers=["main"]).exit_code == 0


@needs("setpriv")
@pytest.mark.parametrize("verb", ["pull", "unpack"])
def test_a_cache_of_somebody_else(reference: str, tmp_path: Path, verb: str) -> None:
    """Mode and owner keep it from being written, not the mount."""
    cache, own = tmp_path / "cache", tmp_path / "own"
    (cache / "partial").mkdir(parents=True)
    own.mkdir()
    os.chown(own, 65534, 65534)
    ids = ["--reuid=65534", "--regid=65534", "--clear-groups"]
    reads = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    done = subprocess.run(
        ["setpriv", *ids, *reads, sys.executable, "-m", "rra", verb, reference, str(own / "study")],
        env={**os.environ, "RRA_CACHE": str(cache), "TMPDIR": str(own), "HOME": str(own)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (own / "study/rra.yaml").stat().st_uid == 65534
    assert [path.name for path in own.iterdir()] == ["study"]
    assert list((cache / "partial").iterdir()) == []


def test_a_cache_that_fills_up_keeps_nothing_that_is_half_made(
    registry: HttpRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = {"noise.bin": os.urandom(3 << 20)}
    big = locked_artifact(tmp_path / "big", noise).root
    reference = f"{registry.host}/team/big:1.0.0"
    api.push(str(big), reference)
    with mounted_disk(tmp_path / "disk", "2m") as disk:
        monkeypatch.setenv("RRA_CACHE", str(disk))
        for call in (
            lambda: api.lint(reference),
            lambda: api.pull(reference, str(tmp_path / "study")),
            lambda: api.pull(reference, f"oci-layout:{tmp_path / 'layout'}"),
        ):
            with pytest.raises(StorageError, match="no space left"):
                call()
            assert [path for path in disk.rglob("*") if path.is_file()] == []
        assert not (tmp_path / "study").exists()
        assert not (tmp_path / "layout").exists()
        assert api.push(str(big), f"{registry.host}/team/other").ok  # it needs no cache
        assert [path for path in disk.rglob("*") if path.is_file()] == []
