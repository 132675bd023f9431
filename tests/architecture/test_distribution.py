"""What is shipped: exactly the files that are meant to be, with the metadata that is promised."""

from __future__ import annotations

import email
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from rra import __version__
from tests.support.source import ROOT, tracked_files

NAME = f"rra-{__version__}"
#: The files and folders of the repository's top level that the source distribution carries.
SDIST = {
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "schemas",
    "spec",
    "src",
    "templates",
}
#: The files and folders that only a checkout has.
CHECKOUT_ONLY = {
    ".ci",
    ".gitignore",
    ".pre-commit-config.yaml",
    "AGENTS.md",
    "CONTRIBUTING.md",
    "Makefile",
    "SECURITY.md",
    "benchmarks",
    "changelog.d",
    "docs",
    "examples",
    "requirements",
    "tests",
    "tools",
}
#: Where the wheel puts what lies outside src/.
FORCED = {
    "schemas": "rra/_data/schemas",
    "spec": "rra/_data/spec",
    "templates": "rra/_data/templates",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel built from it, without any network."""
    checkout = tmp_path_factory.mktemp("checkout")
    for name in tracked_files():
        target = checkout / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)
    dist = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(dist)]
    run = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return dist


def test_each_top_level_entry_is_accounted_for() -> None:
    assert {name.parts[0] for name in tracked_files()} == SDIST | CHECKOUT_ONLY


def test_two_files_are_built(built: Path) -> None:
    names = sorted(path.name for path in built.iterdir())
    assert names == [f"{NAME}-py3-none-any.whl", f"{NAME}.tar.gz"]


def test_the_sdist_has_exactly_the_listed_files(built: Path) -> None:
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        members = archive.getmembers()
    assert all(member.isfile() for member in members)
    expected = {f"{NAME}/{name}" for name in tracked_files() if name.parts[0] in SDIST}
    # hatchling adds the metadata and the ignore file that decided what else stays out
    expected |= {f"{NAME}/PKG-INFO", f"{NAME}/.gitignore"}
    assert {member.name for member in members} == expected


def test_the_wheel_has_exactly_the_package_and_its_data(built: Path) -> None:
    expected = set()
    for name in tracked_files():
        if name.parts[:2] == ("src", "rra"):
            expected.add(str(PurePosixPath(*name.parts[1:])))
        elif name.parts[0] in FORCED:
            expected.add(str(PurePosixPath(FORCED[name.parts[0]], *name.parts[1:])))
    info = f"{NAME}.dist-info"
    kept = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    expected |= {f"{info}/{name}" for name in kept}
    with zipfile.ZipFile(built / f"{NAME}-py3-none-any.whl") as archive:
        assert set(archive.namelist()) == expected


def test_the_metadata_says_version_licence_and_python(built: Path) -> None:
    with zipfile.ZipFile(built / f"{NAME}-py3-none-any.whl") as archive:
        info = email.message_from_bytes(archive.read(f"{NAME}.dist-info/METADATA"))
        entry_points = archive.read(f"{NAME}.dist-info/entry_points.txt").decode()
    assert info["Version"] == __version__
    assert info["License-Expression"] == "Apache-2.0"
    assert info["Requires-Python"] == ">=3.11"
    assert "rra = rra.cli.main:main" in entry_points


def test_the_wheel_runs_from_its_zip_without_the_checkout(built: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(built / f"{NAME}-py3-none-any.whl") as archive:
        archive.extractall(tmp_path)
    probe = (
        "import pathlib, rra, rra._base.resources as r; "
        "print(pathlib.Path(rra.__file__).parent); print(r.schema_path('manifest').is_file()); "
        "print(*r.templates()); "
        "from rra.lint.conformance import read_cases; print(len(read_cases()))"
    )
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {probe}",
    ]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    package, schema, templates, cases = run.stdout.splitlines()
    assert package == str(tmp_path / "rra")
    assert schema == "True"
    assert templates.split() == sorted(
        path.parent.name for path in ROOT.glob("templates/*/cookiecutter.json")
    )
    assert int(cases) == len(list(ROOT.glob("schemas/conformance/v1/*/*/*/expect.yaml")))
