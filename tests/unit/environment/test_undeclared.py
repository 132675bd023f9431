"""Builds that import what they have not declared: found by the failure, in a reviewed name only."""

from __future__ import annotations

import io
import tarfile
import tomllib
from pathlib import Path

import pytest

from rra.environment import lock_environment
from rra.environment.undeclared import declare, missing_distribution
from rra.errors import LockError, NoSolutionError
from rra.model import Environment
from tests.unit.environment.conftest import PYTHON
from tests.unit.environment.toy_index import ToyIndex, make_sdist

ENV = Environment(kind="pylock", python=PYTHON, platforms=["linux-x86_64"])
LEGACY = {"requires": ["numpy==1.13.3", "setuptools>=40.8.0"]} | {
    "build-backend": "setuptools.build_meta:__legacy__"
}


def offer_numpy(index: ToyIndex) -> None:
    index.add_wheel("numpy", "1.0", "2020-01-01")
    index.add_wheel("numpy", "2.0", "2021-01-01")


@pytest.mark.parametrize("static", [True, False])
def test_a_build_gets_what_it_imports_in_the_version_that_is_locked(
    index: ToyIndex, root: Path, *, static: bool
) -> None:
    offer_numpy(index)
    needs = f"import numpy; assert not {static} or numpy.VERSION == '1.0', numpy.VERSION"
    sdist = make_sdist("gamma", "1.0", before=needs, static=static)
    index.add("gamma", "gamma-1.0.tar.gz", sdist, "2020-01-01")
    locked = lock_environment(root, "cpu", ENV, ["gamma", "numpy<2"], as_of="2024-01-01")
    assert [(one.name, one.version) for one in locked.packages] == [
        ("gamma", "1.0"),
        ("numpy", "1.0"),
    ]
    assert locked.built == ("gamma-1.0-py3-none-any.whl",)


def test_a_module_of_a_name_that_is_not_known_is_never_fetched(index: ToyIndex, root: Path) -> None:
    index.add_wheel("nunpy", "1.0", "2020-01-01")
    sdist = make_sdist("gamma", "1.0", before="import nunpy")
    index.add("gamma", "gamma-1.0.tar.gz", sdist, "2020-01-01")
    with pytest.raises(LockError, match=r"gamma 1\.0 has no wheel .* No module named 'nunpy'"):
        lock_environment(root, "cpu", ENV, ["gamma"], as_of="2024-01-01", trial=root / "kept")
    assert "nunpy-1.0-py3-none-any.whl" not in index.fetched


def test_a_module_that_stays_missing_ends_the_tries(index: ToyIndex, root: Path) -> None:
    offer_numpy(index)
    sdist = make_sdist("gamma", "1.0", before="import numpy.lost", static=False)
    index.add("gamma", "gamma-1.0.tar.gz", sdist, "2020-01-01")
    with pytest.raises(NoSolutionError, match=r"No module named 'numpy\.lost'"):
        lock_environment(root, "cpu", ENV, ["gamma"], as_of="2024-01-01", trial=root / "kept")


@pytest.mark.parametrize(
    ("log", "name"),
    [
        ("ModuleNotFoundError: No module named 'numpy'", "numpy"),
        ("ModuleNotFoundError: No module named 'Cython.Build'", "cython"),
        ("ModuleNotFoundError: No module named 'a'\n…No module named 'b'", None),
        ("ModuleNotFoundError: No module named 'distutils'", None),
        ("fatal error: Python.h: No such file or directory", None),
    ],
)
def test_the_distribution_of_a_module_that_a_build_did_not_find(log: str, name: str | None) -> None:
    assert missing_distribution(log) == name


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, LEGACY),
        ("[tool.black]\nline-length = 79\n", LEGACY),
        (
            '[build-system] # ours\nbuild-backend = "b"\nrequires = [\n  "x",\n]\n[tool.a]\n',
            {"requires": ["numpy==1.13.3", "x"], "build-backend": "b"},
        ),
        ("[build-system]\nrequires = []\n", {"requires": ["numpy==1.13.3"]}),
    ],
)
def test_what_a_source_declares_is_added_to(
    tmp_path: Path, before: str | None, after: dict[str, object]
) -> None:
    files = {"setup.py": b"import numpy\n"}
    if before is not None:
        files["pyproject.toml"] = before.encode()
    source = tmp_path / "old-1.0.tar.gz"
    with tarfile.open(source, "w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"old-1.0/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    tree = declare(source, ["numpy==1.13.3"], tmp_path / "tree")
    text = (tree / "pyproject.toml").read_text()
    assert tomllib.loads(text)["build-system"] == after
    assert text.count("[tool.") == (before or "").count("[tool.")
    assert (tree / "setup.py").read_text() == "import numpy\n"


@pytest.mark.parametrize(
    "text", ["[build-system\n", 'build-system = {requires = ["x"]}\n', "[build-system]\na = 1\n"]
)
def test_a_source_that_cannot_be_added_to_is_said_to_be(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(LockError, match=r"pyproject\.toml"):
        declare(tmp_path, ["numpy"], tmp_path / "unused")
    assert (tmp_path / "pyproject.toml").read_text() == text
