"""Which ways of writing a file each level of the recorder sees, by what the record says."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rra.environment import MaterialisedEnvironment
from rra.environment.materialise import read_installed
from rra.launch import recorder, run_launcher
from rra.launch.recorder import Level
from rra.sandbox import Availability, best_sandbox
from tests.support.needs import needs
from tests.support.runs import host_environment, request, write_artifact
from tests.support.source import ROOT
from tests.support.ways_of_writing import SOURCE, WAYS

PROGRAM = ROOT / "tests" / "support" / "ways_of_writing.py"
HEAVY = ("hdf5", "arrow")
"""Ways that need packages which the tests do not have."""

MISSED_BY_THE_HOOK = {"shell", "static", "hdf5", "arrow", "extension"}
"""What native code opens makes no audit event (PEP 578); sqlite3 makes one of its own."""


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the native writers."""
    folder = tmp_path_factory.mktemp("native")
    (folder / "writer.c").write_text(SOURCE)
    (folder / "source").write_text("7")
    for target, *options in (("static", "-static", "-DPROGRAM"), ("native.so", "-shared", "-fPIC")):
        command = ["cc", *options, "-o", str(folder / target), str(folder / "writer.c")]
        subprocess.run(command, check=True, capture_output=True)
    return folder


def own_environment(python: Path) -> MaterialisedEnvironment:
    """Return a virtual environment that is there as one that launchers run in."""
    place = python.parent.parent
    packages = tuple(sorted(read_installed(place).items()))
    return dataclasses.replace(
        host_environment(), root=place, python=python, bin=python.parent, packages=packages
    )


def seen(place: Path, native: Path, ways: list[str], python: Path, level: Level) -> set[str]:
    """Run a launcher that writes in some ways outside its folders; return those in its record."""
    (place / "elsewhere").mkdir(parents=True)
    command = f'exec python -m ways_of_writing "{place}/elsewhere" "{native}" {" ".join(ways)}\n'
    files: dict[str, str | bytes] = {"launchers/main.sh": command}
    files["code/ways_of_writing.py"] = PROGRAM.read_bytes()
    artifact = write_artifact(place / "a", files, launchers={"main": {}})
    environment = own_environment(python)
    done = run_launcher(request(artifact, environment=environment, sandbox=best_sandbox("none")))
    assert done.ok, done.message
    assert done.record.recorder.level == level
    written = {path.rpartition("/")[2].removesuffix(".npy") for path in done.record.other_writes}
    assert sorted(path.stem for path in (place / "elsewhere").glob("*.npy")) == sorted(ways)
    return written & set(ways)


@pytest.fixture
def without_strace(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = Availability("strace", works=False, why="strace is not on PATH")
    monkeypatch.setattr(recorder, "try_strace", lambda _sandbox: absent)


LIGHT = [way for way in WAYS if way not in HEAVY]


@needs("cc")
@needs("strace")
def test_strace_sees_every_way_of_writing_a_file(tmp_path: Path, native: Path) -> None:
    assert len(WAYS) == 14
    found = seen(tmp_path, native, LIGHT, Path(sys.executable), "strace")
    assert found == set(LIGHT)


@needs("cc")
@pytest.mark.usefixtures("without_strace")
def test_the_audit_hook_sees_what_python_itself_opens(tmp_path: Path, native: Path) -> None:
    found = seen(tmp_path, native, LIGHT, Path(sys.executable), "audit-hook")
    assert set(LIGHT) - found == MISSED_BY_THE_HOOK - set(HEAVY)


@pytest.fixture(scope="module")
def with_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the packages for HDF5 and Arrow."""
    place = tmp_path_factory.mktemp("packages") / "env"
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert uv is not None
    subprocess.run([uv, "venv", "-q", "--python", sys.executable, place], check=True)
    packages = ["numpy", "h5py", "pyarrow"]
    command = [uv, "pip", "install", "-q", "--only-binary", ":all:", "--python", str(place)]
    subprocess.run([*command, *packages], check=True)
    return place / "bin" / "python"


@pytest.mark.slow
@needs("cc")
@needs("strace")
def test_strace_sees_fourteen_of_fourteen(
    tmp_path: Path, native: Path, with_packages: Path
) -> None:
    assert seen(tmp_path, native, list(WAYS), with_packages, "strace") == set(WAYS)


@pytest.mark.slow
@needs("cc")
@pytest.mark.usefixtures("without_strace")
def test_the_audit_hook_sees_nine_of_fourteen(
    tmp_path: Path, native: Path, with_packages: Path
) -> None:
    found = seen(tmp_path, native, list(WAYS), with_packages, "audit-hook")
    assert set(WAYS) - found == MISSED_BY_THE_HOOK
    assert len(found) == 9
