"""Faults that users reported of neighbouring tools, for environments; ids as in the test names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rra import api
from rra.artifact import Artifact
from rra.environment import detect_requirements
from tests.acceptance.command import rra
from tests.unit.environment.toy_index import ToyIndex, ToyServer, make_wheel

SECRET = "s3cret-pass"


def said(root: Path) -> str:
    return "\n".join(f"{one} | {one.hint}" for one in detect_requirements(root, []).findings)


def written(*places: Path) -> bytes:
    """Everything in some folders: names and contents."""
    found = [path for place in places for path in place.rglob("*")]
    return b"\n".join([str(p).encode() + (p.read_bytes() if p.is_file() else b"") for p in found])


def test_b12_two_files_that_disagree_are_named_with_both_values(tmp_path: Path) -> None:
    (tmp_path / "environment.yml").write_text("dependencies:\n  - numpy=1.26\n  - scipy=1.11\n")
    (tmp_path / "requirements.txt").write_text("numpy==2.0\n")
    found = detect_requirements(tmp_path, [])
    assert found.requirements == ["numpy==2.0"]
    assert found.why.startswith("requirements.txt: it comes first of the files that name packages")
    report = said(tmp_path)
    assert (
        "environment.yml:2: numpy==1.26.* contradicts numpy==2.0 of requirements.txt, "
        "which is followed" in report
    )
    assert "environment.yml: names packages that requirements.txt does not: scipy" in report
    answer = rra("init", cwd=tmp_path).expect(0)
    assert "numpy==1.26.* contradicts numpy==2.0 of requirements.txt" in answer.said


def test_b19_a_wheel_of_a_folder_travels_along_and_the_folder_is_not_named(
    index: ToyIndex,
    root: Path,
    artifact: Callable[..., Artifact],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wheels = tmp_path / "wh"
    wheels.mkdir()
    name = "six-1.16.0-py3-none-any.whl"
    (wheels / name).write_bytes(make_wheel("six", "1.16.0"))
    monkeypatch.setenv("UV_FIND_LINKS", str(wheels))
    (root / "code" / "requirements.txt").write_text("--find-links ../../wh\nsix==1.16.0\nalpha\n")
    artifact()
    api.lock(root)
    place = root / "environment" / "cpu"
    assert (place / "wheels" / name).read_bytes() == (wheels / name).read_bytes()
    assert f'path = "wheels/{name}"' in (place / "pylock.toml").read_text()
    assert [path.name for path in (place / "wheels").iterdir()] == [name]
    for trace in (b"file:", str(tmp_path).encode()):
        assert trace not in b"".join(p.read_bytes() for p in place.rglob("*") if p.is_file())
    # Elsewhere, where that folder is not, it installs as it was locked.
    monkeypatch.delenv("UV_FIND_LINKS")
    (wheels / name).unlink()
    (built,) = api.env_build(root).environments
    assert "six 1.16.0" in built.packages


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> ToyServer:
    """An index of one's own with builds for one kind of machine, entered by a password."""
    server = ToyServer()
    server.index.add_wheel("torch", "1.9.0+cpu", "2021-06-15")
    server.index.add_wheel("torch", "1.9.0+cu111", "2021-06-15")
    address = server.index.url.replace("http://", f"http://me:{SECRET}@")
    monkeypatch.setenv("UV_INDEX", f"cpu-builds={address}")
    return server


def test_b21_the_index_is_kept_per_package_by_name_and_the_password_nowhere(
    index: ToyIndex,
    root: Path,
    artifact: Callable[..., Artifact],
    builds: ToyServer,
    tmp_path: Path,
) -> None:
    index.add_wheel("torch", "1.9.0", "2021-06-15")
    (root / "code" / "requirements.txt").write_text(
        f"--extra-index-url https://me:{SECRET}@builds.example.org/cpu\ntorch==1.9.0+cpu\nalpha\n"
    )
    artifact('as_of: "2022-01-01"')
    locked = rra("lock", root, "--wheels").expect(0)
    assert "torch 1.9.0+cpu comes from an index of your settings (cpu-builds)" in locked.said
    facts = (root / "environment/cpu/pylock.toml").read_text()
    assert 'requirement = "torch==1.9.0+cpu"' in facts
    assert facts.count('index = "cpu-builds"') == 1
    digest = builds.index.sha256("torch-1.9.0+cpu-py3-none-any.whl")
    assert digest in facts
    readme = (root / "environment/cpu/README.md").read_text()
    assert "configure cpu-builds" in readme
    explained = rra("env", "explain", "torch", root, "--json").expect(0)
    assert explained.result["environments"][0]["index"] == "cpu-builds"
    checked = rra("env", "check", root, "--available").expect(0)
    built = rra("env", "build", root).expect(0)
    # No password, no address: in no file, no name, no cache and no message.
    for answer in (locked, explained, checked, built):
        for trace in (SECRET, "127.0.0.1", "example.org"):
            assert trace not in answer.out + answer.err
    ours = written(root / "environment", tmp_path / "rra-cache", root / "launchers")
    ours += (root / "rra.yaml").read_bytes() + (root / "rra.lock").read_bytes()
    for trace in (SECRET, "127.0.0.1", "example.org"):
        assert trace.encode() not in ours
    assert SECRET.encode() not in written(tmp_path / "uv-cache")
    builds.close()


def test_b21_a_build_that_no_index_has_is_said_and_any_build_is_taken(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    index.add_wheel("torch", "1.9.0", "2021-06-15")
    wrong = "a" * 64  # the digest of the build that is not to be had
    (root / "code" / "requirements.txt").write_text(f"torch==1.9.0+cpu --hash=sha256:{wrong}\n")
    artifact('as_of: "2022-01-01"')
    result = api.lock(root)
    assert result.environments[0].packages == ("torch 1.9.0",)
    (note,) = [note for note in result.notes if "one build" in note]
    assert note.startswith("cpu: torch==1.9.0+cpu names one build, which no index of your settings")
    checked = api.env_check(root)
    assert checked.ok
    (problem,) = checked.problems
    assert problem.message == (
        "torch==1.9.0+cpu names one build; another of that version is locked: 1.9.0"
    )


def test_b21_a_build_from_nobody_knows_where_is_a_finding(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    index.add_wheel("torch", "1.9.0+cpu", "2021-06-15")
    artifact('as_of: "2022-01-01", requirements: ["torch==1.9.0+cpu"]')
    api.lock(root)
    (problem,) = api.env_check(root).problems
    assert problem.message == "torch 1.9.0+cpu is one build, which no public index has"
    assert problem.hint.endswith("rra lock --keep --wheels")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_b30_lists_of_powershell_are_read_and_locked_as_utf_8(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact], encoding: str
) -> None:
    text = "alpha==1.0\r\nbeta==1.0 ; python_version >= '3'\r\n"
    (root / "code" / "requirements.txt").write_bytes(text.encode(encoding))
    artifact()
    result = api.lock(root)
    assert result.environments[0].packages == ("alpha 1.0", "beta 1.0")
    remarked = [note for note in result.notes if "not UTF-8" in note]
    assert len(remarked) == (0 if encoding == "utf-8-sig" else 1)
    plain = (root / "environment/cpu/requirements.txt").read_bytes()
    assert plain.decode("utf-8").startswith("alpha==1.0 \\\n")
    assert b"\r" not in plain
    assert b"\0" not in plain


def test_b32_what_holds_for_the_authors_machine_alone_is_said_and_not_used(tmp_path: Path) -> None:
    text = (
        "name: x\ndependencies:\n  - python=3.11.5=h7a1cb2a_0\n"
        "  - numpy=1.26.4=py311h64a7726_0\n  - scipy=1.11\nprefix: /home/alice/miniconda3/envs/x\n"
    )
    (tmp_path / "environment.yml").write_text(text)
    found = detect_requirements(tmp_path, [])
    assert (found.requirements, found.python) == (["numpy==1.26.4", "scipy==1.11.*"], "3.11")
    report = said(tmp_path)
    assert (
        "environment.yml:3: 2 packages are pinned to a build for one platform, such as "
        "python=3.11.5=h7a1cb2a_0; the version is taken" in report
    )
    assert "environment.yml:6: prefix names a folder of the author's machine" in report
    assert "alice" not in report
    (tmp_path / "main.py").write_text("import numpy\n")
    rra("init", cwd=tmp_path).expect(0)
    drafted = [
        path for path in tmp_path.rglob("*") if path.is_file() and path.name != "environment.yml"
    ]
    naming = [path.relative_to(tmp_path) for path in drafted if b"alice" in path.read_bytes()]
    assert naming == [Path("guide/GUIDE.md")]  # which says that the path is another machine's
    guide = (tmp_path / "guide/GUIDE.md").read_text()
    assert "environment.yml:6: path of another machine: /home/alice/miniconda3/envs/x" in guide


BAD = {
    "requirements.txt": (
        "-r base.txt\r\n--index-url https://me:s3cret-pass@index.example.org/simple\r\n"
        "alpha==1.0 ; sys_platform == 'linux'\r\nbeta==1.0 ; sys_platform == 'win32'\r\n"
    ),
    "base.txt": "-r requirements.txt\r\n",
    "pyproject.toml": "[project\nname = 'x'\n",
    "environment.yml": "dependencies:\n  - alpha=1.0=py311_0\nprefix: /home/alice/x\n",
    "setup.py": "import shutil\nprint 'python 2'\nshutil.rmtree('.')\n",
    "old.py": "print 'python 2'\nexec 'x = 1'\n",
}


def test_bad_input_of_every_kind_is_locked_or_said_and_never_run(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    for name, text in BAD.items():
        (root / "code" / name).write_bytes(text.encode())
    before = {name: (root / "code" / name).read_bytes() for name in BAD}
    artifact()
    answer = rra("lock", root, "--json").expect(0)
    result = json.loads(answer.out)["result"]
    assert result["environments"][0]["packages"] == ["alpha 1.0", "beta 2.0"]
    notes = "\n".join(result["notes"])
    for expected in (
        "requirements.txt:2: --index-url names a source of packages",
        "pyproject.toml: not valid TOML",
        "environment.yml:3: prefix names a folder",
        "setup.py:2: not Python 3",
    ):
        assert expected in notes
    assert {name: (root / "code" / name).read_bytes() for name in BAD} == before
    assert SECRET not in answer.out + answer.err
    assert SECRET.encode() not in written(root / "environment")
