"""Building locked environments: whole, exact, or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rra._base import canonical
from rra._base.files import sha256_file
from rra.artifact import Artifact, load_artifact
from rra.environment import lock_environment, materialise
from rra.environment.materialise import BUILDING, can_compile, clear_place
from rra.errors import (
    CorruptError,
    EnvironmentBuildError,
    RraError,
    ToolMissingError,
    UsageError,
)
from tests.unit.environment.conftest import INTERPRETER, PYTHON
from tests.unit.environment.toy_index import ToyIndex, make_wheel

MakeArtifact = Callable[..., Artifact]
ALPHA, BETA = "alpha-1.0-py3-none-any.whl", "beta-1.0-py3-none-any.whl"
CHILD = """
import sys
from pathlib import Path
from rra.artifact import load_artifact
from rra.environment import materialise
print(materialise(load_artifact(Path(sys.argv[1])), "cpu").root)
"""


@pytest.fixture
def locked(index: ToyIndex, artifact: MakeArtifact) -> Artifact:
    """An artifact locked to alpha 1.0 and beta 1.0."""
    made = artifact()
    env = made.manifest.environments["cpu"]
    lock_environment(made.root, "cpu", env, ["alpha"], as_of="2021-01-01")
    return made


def environments(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "rra-cache" / "environments"
    return sorted(folder.iterdir()) if folder.is_dir() else []


def imported(python: Path) -> str:
    code = "import alpha, beta; print(alpha.VERSION, beta.VERSION)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.clause("environment/installs-what-is-locked")
def test_exactly_the_lock_is_installed(locked: Artifact) -> None:
    built = materialise(locked, "cpu")
    assert imported(built.python) == "1.0 1.0"
    assert built.packages == (("alpha", "1.0"), ("beta", "1.0"))
    by_hand = hashlib.sha256(b'[["alpha","1.0"],["beta","1.0"]]').hexdigest()
    assert built.installed_digest == "sha256:" + by_hand
    assert built.lock_digest == sha256_file(locked.root / "environment/cpu/pylock.toml")
    assert built.version.startswith(PYTHON + ".")
    assert built.python == built.bin / "python"
    assert (built.base_prefix / "lib" / f"python{PYTHON}" / "os.py").is_file()


def test_variables_of_the_manifest_come_with_it(index: ToyIndex, artifact: MakeArtifact) -> None:
    made = artifact('variables: {OMP_NUM_THREADS: "1"}')
    env = made.manifest.environments["cpu"]
    lock_environment(made.root, "cpu", env, [], as_of=None)
    assert materialise(made, "cpu").variables == {"OMP_NUM_THREADS": "1"}


def test_a_whole_environment_is_used_again(locked: Artifact, index: ToyIndex) -> None:
    steps: list[str] = []
    first = materialise(locked, "cpu", progress=steps.append)
    index.files.clear()
    assert materialise(locked, "cpu", progress=steps.append) == first
    assert steps == [f"installing environment cpu: Python {first.version}, 2 packages"]


def test_an_environment_that_was_changed_is_built_anew(locked: Artifact) -> None:
    first = materialise(locked, "cpu")
    (site,) = first.root.glob("lib/python*/site-packages")
    shutil.rmtree(site / "beta-1.0.dist-info")
    assert materialise(locked, "cpu").packages == first.packages
    assert (site / "beta-1.0.dist-info").is_dir()


def test_a_place_of_its_own_is_built_anew_and_leaves_nothing_beside_it(
    locked: Artifact, tmp_path: Path
) -> None:
    place = tmp_path / "place" / "environment"
    first = materialise(locked, "cpu", target=place)
    (place / "added.txt").write_text("by a run\n")
    second = materialise(locked, "cpu", target=place)
    assert second == first
    assert second.root == place
    assert not (place / "added.txt").exists()
    assert [p.name for p in place.parent.iterdir()] == ["environment"]


def test_a_folder_with_other_things_in_it_is_not_touched(locked: Artifact, tmp_path: Path) -> None:
    place = tmp_path / "mine"
    place.mkdir()
    (place / "thesis.tex").write_text("…")
    with pytest.raises(UsageError, match="is in use"):
        materialise(locked, "cpu", target=place)
    assert (place / "thesis.tex").read_text() == "…"


def test_changing_an_installed_file_does_not_reach_the_next_environment(
    locked: Artifact, tmp_path: Path
) -> None:
    first = materialise(locked, "cpu", target=tmp_path / "one")
    (module,) = first.root.glob("lib/python*/site-packages/alpha.py")
    module.write_text("VERSION = 'changed by a run'\n")
    second = materialise(locked, "cpu", target=tmp_path / "two")
    assert imported(second.python) == "1.0 1.0"


@pytest.mark.clause("environment/wheels-beside-the-lock")
def test_wheels_beside_the_lock_are_enough(
    locked: Artifact, index: ToyIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = locked.root / "environment" / "cpu" / "wheels"
    wheels.mkdir()
    for name in (ALPHA, BETA):
        (wheels / name).write_bytes(index.files[name][2])
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    assert imported(materialise(locked, "cpu").python) == "1.0 1.0"


def test_one_wheel_beside_the_lock_is_taken_and_the_rest_comes_from_the_index(
    locked: Artifact, index: ToyIndex
) -> None:
    wheels = locked.root / "environment" / "cpu" / "wheels"
    wheels.mkdir()
    (wheels / ALPHA).write_bytes(index.files.pop(ALPHA)[2])
    assert imported(materialise(locked, "cpu").python) == "1.0 1.0"
    assert index.fetched == [BETA]


def test_a_wheel_with_other_bytes_is_refused(
    locked: Artifact, index: ToyIndex, tmp_path: Path
) -> None:
    wheels = locked.root / "environment" / "cpu" / "wheels"
    wheels.mkdir()
    (wheels / ALPHA).write_bytes(make_wheel("alpha", "1.0", requires=["omega"]))
    (wheels / BETA).write_bytes(index.files[BETA][2])
    with pytest.raises(CorruptError, match="not the one that was locked") as caught:
        materialise(locked, "cpu")
    assert caught.value.exit_code == 4
    assert environments(tmp_path) == []


@pytest.mark.clause("environment/installs-what-is-locked")
def test_an_index_that_offers_other_bytes_under_the_name_is_refused(
    locked: Artifact, index: ToyIndex, tmp_path: Path
) -> None:
    index.add_wheel("alpha", "1.0", "2020-01-01", requires=["omega"])
    with pytest.raises(CorruptError, match="not the one that was locked"):
        materialise(locked, "cpu")
    assert environments(tmp_path) == []


def test_of_two_wheels_that_fit_the_locked_one_is_installed(
    index: ToyIndex, artifact: MakeArtifact
) -> None:
    made = artifact()
    env = made.manifest.environments["cpu"]
    tag = f"{INTERPRETER}-{INTERPRETER}-manylinux_2_17_x86_64"
    index.add_wheel("native", "1.0", "2020-01-01", tag="py3-none-any")
    lock_environment(made.root, "cpu", env, ["native"], as_of="2021-01-01")
    index.add_wheel("native", "1.0", "2021-06-01", tag=tag)  # a better one, added later
    python = materialise(made, "cpu").python
    code = "import native; print(native.TAG)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "py3-none-any\n"


def test_a_version_that_the_index_dropped_is_named(
    locked: Artifact, index: ToyIndex, tmp_path: Path
) -> None:
    del index.files[ALPHA]
    with pytest.raises(EnvironmentBuildError, match=r"alpha==1\.0") as caught:
        materialise(locked, "cpu")
    assert caught.value.exit_code == 3
    assert environments(tmp_path) == []


def test_an_index_that_is_not_there_is_said(
    locked: Artifact, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty-cache"))
    with pytest.raises(EnvironmentBuildError, match="without its index"):
        materialise(locked, "cpu")


def test_a_lock_that_rra_lock_does_not_name_is_refused(locked: Artifact) -> None:
    path = locked.root / "environment" / "cpu" / "pylock.toml"
    digest = sha256_file(path)
    zeros = "sha256:" + "0" * 64
    element = {"diff_id": zeros, "files": 1, "size": 2048}
    lock = {
        "rra": "1.0",
        "core": zeros,
        "code": {"tree": "swh:1:dir:" + "0" * 40},
        "elements": dict.fromkeys(("code", "environment", "launchers", "data", "guide"), element),
        "environments": {
            "cpu": {"lock": digest, "requirements": zeros, "python": PYTHON, "packages": 2}
        },
        "launchers": {},
        "data": {},
    }
    (locked.root / "rra.lock").write_bytes(canonical.dumps(lock) + b"\n")
    materialise(load_artifact(locked.root), "cpu")
    path.write_text(path.read_text() + "\n")
    with pytest.raises(CorruptError, match=r"not the one that rra\.lock names") as caught:
        materialise(load_artifact(locked.root), "cpu")
    assert digest in caught.value.message


def test_without_a_lock_the_next_step_is_named(artifact: MakeArtifact) -> None:
    with pytest.raises(UsageError, match=r"no environment/cpu/pylock\.toml") as caught:
        materialise(artifact(), "cpu")
    assert caught.value.hint.startswith("lock it with: rra lock")
    with pytest.raises(UsageError, match="no environment is called gpu"):
        materialise(artifact(), "gpu")


def test_a_lock_for_another_python_is_not_installed(locked: Artifact) -> None:
    path = locked.root / "environment" / "cpu" / "pylock.toml"
    path.write_text(path.read_text().replace(f"=={PYTHON}.*", "==3.99.*"))
    with pytest.raises(EnvironmentBuildError, match="the lock is not for Python"):
        materialise(locked, "cpu")


def test_a_lock_for_another_platform_is_not_installed(locked: Artifact) -> None:
    path = locked.root / "environment" / "cpu" / "pylock.toml"
    path.write_text(path.read_text().replace("'linux'", "'win32'"))
    with pytest.raises(EnvironmentBuildError, match="the lock is not for Python"):
        materialise(locked, "cpu")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("lock-version", "lock_version"),
        ('version = "1.0"\nwheels', 'version = "one"\nwheels'),
        ("[[packages]]", "[[packages"),
    ],
)
def test_a_lock_that_cannot_be_read_is_a_format_error(locked: Artifact, old: str, new: str) -> None:
    path = locked.root / "environment" / "cpu" / "pylock.toml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(RraError, match=r"cpu/pylock\.toml: not a lock of this format") as caught:
        materialise(locked, "cpu")
    assert caught.value.exit_code == 4


def test_a_python_that_is_not_installed_is_named(index: ToyIndex, artifact: MakeArtifact) -> None:
    made = artifact(python="3.5")
    env = made.manifest.environments["cpu"]
    lock_environment(made.root, "cpu", env, [], as_of=None)
    with pytest.raises(ToolMissingError, match=r"Python 3\.5 is not installed here") as caught:
        materialise(made, "cpu")
    assert "apt-get install python3.5" in caught.value.hint


def test_a_build_that_is_killed_leaves_nothing_that_counts(
    locked: Artifact, index: ToyIndex, tmp_path: Path
) -> None:
    index.held = threading.Event()
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, locked.root],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert index.asked.wait(60)
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()
    index.held.set()
    (leftover,) = environments(tmp_path)
    assert not (leftover / ".rra-environment.json").exists()
    built = materialise(locked, "cpu")
    assert built.root == leftover
    assert imported(built.python) == "1.0 1.0"


def test_two_builds_at_once_make_one_environment(
    locked: Artifact, index: ToyIndex, tmp_path: Path
) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, locked.root],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    results = [child.communicate() for child in children]
    (built,) = environments(tmp_path)
    assert [result[0].strip() for result in results] == [str(built)] * 3, results
    assert sorted(index.fetched) == [ALPHA, BETA]
    mark = json.loads((built / ".rra-environment.json").read_text())
    assert mark["lock"] == sha256_file(locked.root / "environment/cpu/pylock.toml")


@pytest.mark.parametrize(("version", "able"), [("3.6.15", False), ("3.7.0", True), ("3.11", True)])
def test_python_3_6_is_not_asked_to_compile_with_a_program_that_it_cannot_run(
    version: str, *, able: bool
) -> None:
    # uv's program uses py_compile.PycInvalidationMode, which is new in Python 3.7.
    assert can_compile(version) is able


def test_a_build_that_is_still_written_to_is_removed_all_the_same(tmp_path: Path) -> None:
    """The installer of a rra that was killed goes on for a moment."""
    place = tmp_path / "env"
    (place / "lib").mkdir(parents=True)
    (place / BUILDING).touch()
    writing = threading.Event()

    def install() -> None:
        for number in range(200):
            with contextlib.suppress(OSError):
                (place / "lib" / f"{number}").mkdir(parents=True)
            writing.set()
            time.sleep(0.002)

    installer = threading.Thread(target=install)
    installer.start()
    writing.wait()
    clear_place(place, ours=True)
    installer.join()
    clear_place(place, ours=True)
    assert not place.exists()
