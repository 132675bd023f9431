"""Environments that are built with the interpreter that an artifact carries."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rra._base.canonical import dumps
from rra._base.files import sha256_file
from rra.artifact import Artifact, load_artifact
from rra.environment.carried import find_carried, refuse_strangers
from rra.errors import (
    ArchiveError,
    CorruptError,
    EnvironmentBuildError,
    FormatError,
    PlatformError,
    RraError,
    UnsafePathError,
    UsageError,
)
from rra.launch import build_environment
from rra.sandbox import best_sandbox
from tests.support.archives import file, folder, link, tar
from tests.support.artifacts import COMPUTES, PYLOCK, make_artifact, record_run
from tests.support.bundles import lock
from tests.support.needs import needs
from tests.support.runtimes import (
    ELSEWHERE,
    FULL,
    HERE,
    MINOR,
    PROGRAM,
    description,
    pack_own,
    pretend,
)
from tests.unit.environment.toy_index import make_wheel

INTERPRETER = "environment/cpu/interpreter.tar"
WHEEL = "alpha-1.0-py3-none-any.whl"
Make = Callable[..., Artifact]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python that runs the tests, packed."""
    return pack_own(tmp_path_factory.mktemp("own") / "interpreter.tar")


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a locked artifact that names an interpreter; `change` happens after its lock."""

    def write(
        archive: Path | None = None,
        *,
        said: dict[str, Any] | None = None,
        change: Callable[[Path], object] | None = None,
        wheel: bytes | None = None,
        pylock: str = PYLOCK,
        **environment: Any,
    ) -> Artifact:
        cpu = {
            "kind": "pylock",
            "python": MINOR,
            "lock": "environment/cpu/pylock.toml",
            "interpreter": INTERPRETER,
            **environment,
        }
        root = tmp_path / "artifact"
        make_artifact(root, {"main.py": COMPUTES}, environments={"cpu": cpu})
        (root / "environment/cpu/pylock.toml").write_text(pylock)
        if archive is None:
            pretend(root / INTERPRETER, said)
        else:
            (root / INTERPRETER).write_bytes(archive.read_bytes())
        if wheel is not None:
            (root / "environment/cpu/wheels").mkdir()
            (root / "environment/cpu/wheels" / WHEEL).write_bytes(wheel)
        lock(root)
        if change is not None:
            change(root)
        return load_artifact(root)

    return write


def with_alpha(wheel: bytes) -> str:
    digest = hashlib.sha256(wheel).hexdigest()
    entry = f'{{ name = "{WHEEL}", path = "wheels/{WHEEL}", hashes = {{ sha256 = "{digest}" }} }}'
    return PYLOCK.replace("packages = []", "") + (
        f'\n[[packages]]\nname = "alpha"\nversion = "1.0"\nwheels = [\n    {entry},\n]\n'
    )


# ------------------------------------------------------------------------------ it is used


@pytest.mark.clause("environment/interpreter-is-used")
def test_the_carried_interpreter_runs_and_the_record_says_so(
    make: Make, own: Path, tmp_path: Path
) -> None:
    wheel = make_wheel("alpha", "1.0")
    artifact = make(own, wheel=wheel, pylock=with_alpha(wheel))
    built = build_environment(artifact, "cpu", target=tmp_path / "built")
    code = "import alpha, json, sys; print(json.dumps([sys.base_prefix, alpha.VERSION]))"
    assert built.python is not None
    argv: list[str | Path] = [built.python, "-I", "-c", code]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, env={})
    assert json.loads(done.stdout) == [str(tmp_path / "built/runtime/python"), "1.0"]
    assert built.base_prefix == tmp_path / "built/runtime/python"
    assert built.version == FULL
    assert built.packages == (("alpha", "1.0"),)
    assert built.interpreter == sha256_file(own)
    compiled = built.base_prefix / "lib" / f"python{MINOR}" / "__pycache__"
    assert any(compiled.glob("os.*.pyc")), "a run cannot write there"

    record = record_run(artifact).record
    assert record.environment.interpreter == sha256_file(own)
    assert record.platform.python == FULL


def test_it_is_built_once_and_used_again(make: Make, own: Path) -> None:
    artifact = make(own)
    steps: list[str] = []
    first = build_environment(artifact, "cpu", progress=steps.append)
    assert build_environment(artifact, "cpu", progress=steps.append) == first
    assert steps == [f"installing environment cpu: Python {FULL} of the artifact, 0 packages"]


def test_without_one_a_python_of_the_machine_is_used_as_before(tmp_path: Path) -> None:
    artifact = make_artifact(tmp_path / "a", {"main.py": COMPUTES})
    built = build_environment(artifact, "cpu")
    assert built.interpreter is None
    assert record_run(artifact).record.environment.interpreter is None


def test_a_machine_that_is_named_too_takes_its_own_python(make: Make) -> None:
    artifact = make(said=description(platform=ELSEWHERE), platforms=[ELSEWHERE, HERE])
    assert find_carried(artifact, "cpu") is None
    assert build_environment(artifact, "cpu").interpreter is None


# --------------------------------------------------------------------------- it is refused


def damaged(root: Path) -> None:
    data = bytearray((root / INTERPRETER).read_bytes())
    data[-2000] ^= 1
    (root / INTERPRETER).write_bytes(data)


def unnamed(root: Path) -> None:
    document = json.loads((root / "rra.lock").read_bytes())
    del document["environments"]["cpu"]["interpreter"]
    (root / "rra.lock").write_bytes(dumps(document) + b"\n")


@pytest.mark.clause("environment/interpreter-is-locked")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (damaged, "is not the interpreter that rra.lock names"),
        (unnamed, "instead of none"),
    ],
)
def test_another_than_the_locked_one_is_refused(
    make: Make, change: Callable[[Path], object], said: str
) -> None:
    with pytest.raises(CorruptError, match=said):
        build_environment(make(change=change), "cpu")


@pytest.mark.parametrize(
    ("facts", "kind", "said"),
    [
        ({"platform": ELSEWHERE}, PlatformError, f"is for {ELSEWHERE}; this machine is {HERE}"),
        ({"glibc": "99.1"}, PlatformError, "needs glibc 99.1 or newer"),
        ({"libraries": ["libfrom-elsewhere.so.3"]}, PlatformError, "libfrom-elsewhere.so.3"),
        ({"python": "3.2.1"}, EnvironmentBuildError, f"is for Python {MINOR} and carries 3.2.1"),
        ({"type": "runtime/v2"}, FormatError, "not a packed interpreter"),
    ],
)
def test_one_that_does_not_fit_is_refused_before_it_is_unpacked(
    make: Make, tmp_path: Path, facts: dict[str, Any], kind: type[RraError], said: str
) -> None:
    artifact = make(said=description(**facts))
    with pytest.raises(kind, match=said):
        build_environment(artifact, "cpu", target=tmp_path / "built")
    assert not (tmp_path / "built").exists()


def test_one_that_is_gone_is_named(make: Make) -> None:
    artifact = make(change=lambda root: (root / INTERPRETER).unlink())
    with pytest.raises(UsageError, match=f"is not there: {INTERPRETER}"):
        build_environment(artifact, "cpu")


def test_wheels_that_are_not_carried_are_not_fetched_into_a_strangers_hands(
    make: Make, tmp_path: Path
) -> None:
    artifact = make(pylock=with_alpha(b"elsewhere"))
    with pytest.raises(EnvironmentBuildError, match=f"carries its Python but not {WHEEL}"):
        build_environment(artifact, "cpu", target=tmp_path / "built")
    assert not (tmp_path / "built").exists()


def test_a_wheel_that_is_another_is_refused(make: Make, own: Path, tmp_path: Path) -> None:
    artifact = make(own, wheel=make_wheel("alpha", "1.0"), pylock=with_alpha(b"another"))
    with pytest.raises(CorruptError, match="is not the one that was locked"):
        build_environment(artifact, "cpu", target=tmp_path / "built")
    assert not (tmp_path / "built").exists()


HEAD = file("RUNTIME.json", json.dumps(description()).encode())
TREE = [folder("python"), folder("python/bin"), file(PROGRAM)]


@pytest.mark.clause("environment/interpreter-archive")
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (tar(HEAD, *TREE)[:-512], ArchiveError),
        (tar(HEAD, *TREE, file("python/bin/../../../outside")), UnsafePathError),
        (tar(HEAD, *TREE, link("python/up", "../../../etc")), UnsafePathError),
        (tar(HEAD, *TREE, file("sitecustomize.py")), ArchiveError),
        (tar(HEAD, folder("python")), CorruptError),
    ],
    ids=["cut-short", "parent-path", "link-out", "file-beside", "no-program"],
)
def test_hostile_archives_leave_nothing(
    make: Make, tmp_path: Path, content: bytes, kind: type[RraError]
) -> None:
    archive = tmp_path / "hostile.tar"
    archive.write_bytes(content)
    artifact = make(archive)
    with pytest.raises(kind):
        build_environment(artifact, "cpu", target=tmp_path / "place" / "built")
    assert not (tmp_path / "place" / "built").exists()
    assert not (tmp_path / "outside").exists()


# --------------------------------------------------------------------- it is a stranger's


@needs("bwrap")
@pytest.mark.clause("environment/interpreter-is-a-strangers")
def test_nothing_of_it_runs_outside_a_sandbox(make: Make, tmp_path: Path) -> None:
    """Its program tries to read and to write, whenever and by whomever it is started."""
    secret, trace = tmp_path / "secret", tmp_path / "trace"
    secret.write_text("s3cret")
    program = f"#!/bin/sh\necho ran >> {trace}\ncat {secret} >&2\nexit 7\n"
    archive = pretend(tmp_path / "hostile.tar", program=program)
    artifact = make(archive)
    with pytest.raises(EnvironmentBuildError) as caught:
        build_environment(artifact, "cpu", target=tmp_path / "built", sandbox=best_sandbox("bwrap"))
    assert "does not start" in caught.value.message
    assert "s3cret" not in caught.value.message
    assert not trace.exists()
    assert not (tmp_path / "built").exists()

    with pytest.raises(EnvironmentBuildError):  # the same without one: the test can fail
        build_environment(artifact, "cpu", target=tmp_path / "built", sandbox=best_sandbox("none"))
    assert trace.exists()


@pytest.mark.parametrize("what", ["bin", "bin/python", "runtime", "runtime/python"])
def test_an_environment_that_leads_elsewhere_is_refused(
    make: Make, tmp_path: Path, what: str
) -> None:
    """What a launcher is shown follows these links; a stranger's program may have put them."""
    carried = find_carried(make(), "cpu")
    assert carried is not None
    place, elsewhere = tmp_path / "built", tmp_path / "private"
    for root in (place, elsewhere):
        (root / "bin").mkdir(parents=True)
        (root / "python/bin").mkdir(parents=True)
        (root / "bin/python").write_text("")
    (place / "runtime/python/bin").mkdir(parents=True)
    refuse_strangers(carried, place)
    target = elsewhere / ("bin/python" if what == "bin/python" else "bin")
    (place / what).rename(tmp_path / "aside")
    (place / what).symlink_to(target)
    with pytest.raises(CorruptError, match="leads to"):
        refuse_strangers(carried, place)
