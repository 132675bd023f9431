"""Locks of other tools: what a project needs, at the versions and digests that they name."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from rra.environment import detect_requirements
from rra.environment.lockfiles import LOCK_READERS
from rra.environment.requirement_files import Requirements
from rra.environment.uvtool import find_uv
from tests.unit.environment.toy_index import ToyIndex

A, B, C = "a" * 64, "b" * 64, "c" * 64

NAMES = {
    "uv.lock": "uv.lock",
    "poetry.lock": "poetry.lock",
    "pdm.lock": "pdm.lock",
    "Pipfile.lock": "Pipfile.lock",
    "Pipfile": "Pipfile",
    "pylock": "pylock.toml",
    "pixi.lock": "pixi.lock",
    "conda-lock": "conda-lock.yml",
    "conda-explicit": "conda-linux-64.lock",
}


def read(root: Path, kind: str, text: str, pyproject: str = "") -> Requirements:
    path = root / NAMES[kind]
    path.write_text(text)
    if pyproject:
        (root / "pyproject.toml").write_text(pyproject)
    return LOCK_READERS[kind](path, path.name)


def names(found: Requirements) -> list[str]:
    return [text for text, _ in found.found]


def said(found: Requirements) -> str:
    return "\n".join(str(problem) for problem in found.problems)


def test_a_lock_of_uv_gives_what_uv_exports(tmp_path: Path, index: ToyIndex) -> None:
    """The lock is made by uv, and uv says itself what it means."""
    index.add_wheel("gamma", "1.0", "2020-01-01", requires=['colour; sys_platform == "win32"'])
    index.add_wheel("colour", "3.0", "2020-01-01", requires=["alpha", "shade; os_name == 'nt'"])
    index.add_wheel("shade", "3.0", "2020-01-01")
    index.add_wheel("checker", "9.0", "2020-01-01")
    index.add_wheel("unasked", "9.0", "2020-01-01")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "study"\nversion = "1"\nrequires-python = ">=3.10"\n'
        'dependencies = ["gamma", "beta<2; python_version < \'3.12\'", '
        "\"beta>=2; python_version >= '3.12'\"]\n"
        '[project.optional-dependencies]\nmore = ["unasked"]\n'
        '[dependency-groups]\ndev = ["checker"]\n'
    )
    subprocess.run([find_uv(), "lock", "-q"], cwd=tmp_path, check=True)
    options = ["--frozen", "--no-dev", "--no-emit-project", "--no-hashes", "--no-annotate"]
    exported = subprocess.run(
        [find_uv(), "export", "-q", "--no-header", *options],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = LOCK_READERS["uv.lock"](tmp_path / "uv.lock", "uv.lock")
    ours = {text.replace('"', "'") for text in names(found)}
    assert {"gamma==1.0", "shade==3.0 ; os_name == 'nt' and sys_platform == 'win32'"} <= ours
    for python, system in (("3.11", "linux"), ("3.12", "linux"), ("3.12", "win32")):
        environment = {
            "python_version": python,
            "python_full_version": f"{python}.1",
            "sys_platform": system,
            "os_name": "nt" if system == "win32" else "posix",
        }
        assert chosen(ours, environment) == chosen(set(exported.splitlines()), environment)
    assert found.python == ">=3.10"
    assert found.problems == []
    assert set(found.hashes) >= {"alpha", "beta", "gamma"}
    assert all(len(digest) == 64 for digests in found.hashes.values() for digest in digests)


def chosen(texts: set[str], environment: dict[str, str]) -> set[str]:
    parsed = [Requirement(text) for text in texts]
    return {
        f"{r.name}{r.specifier}"
        for r in parsed
        if r.marker is None or r.marker.evaluate(environment)
    }


UV_MORE = f"""
version = 1
requires-python = "==3.11.*"
[[package]]
name = "study"
version = "0"
source = {{ virtual = "." }}
dependencies = [
  {{ name = "tool", extra = ["fast"] }}, {{ name = "lib" }}, {{ name = "forked" }},
]
[[package]]
name = "tool"
version = "1.0"
source = {{ registry = "https://somebody:s3cret@host.example/simple" }}
sdist = {{ url = "https://host.example/tool.tar.gz", hash = "sha256:{A}" }}
[package.optional-dependencies]
fast = [{{ name = "speed" }}]
slow = [{{ name = "never" }}]
[[package]]
name = "speed"
version = "2.0"
source = {{ registry = "https://host.example/simple" }}
[[package]]
name = "never"
version = "2.0"
source = {{ registry = "https://host.example/simple" }}
[[package]]
name = "lib"
version = "0.1"
source = {{ directory = "../lib" }}
[[package]]
name = "forked"
version = "0.1"
source = {{ git = "https://somebody:s3cret@git.example/forked?rev=main#0123456789abcdef" }}
"""


def test_extras_folders_and_repositories_in_a_lock_of_uv(tmp_path: Path) -> None:
    found = read(tmp_path, "uv.lock", UV_MORE)
    assert names(found) == [
        "tool==1.0",
        "speed==2.0",
        "forked @ git+https://git.example/forked@0123456789abcdef",
    ]
    assert found.hashes["tool"] == (A,)
    assert "folders of the author's machine: lib" in said(found)
    assert "s3cret" not in repr(found)


POETRY_OLD = f"""
[[package]]
name = "NumPy"
version = "1.21.0"
category = "main"
optional = false
[[package]]
name = "pytest"
version = "6.0"
category = "dev"
[[package]]
name = "private"
version = "0.3"
category = "main"
[package.source]
type = "git"
url = "https://token:s3cret@git.example/private.git"
reference = "main"
resolved_reference = "fedcba9876543210"
[metadata]
python-versions = ">=3.7,<3.10"
[metadata.files]
numpy = []
NumPy = [{{file = "numpy-1.21.0.zip", hash = "sha256:{A}"}}]
"""


def test_an_old_lock_of_poetry_has_categories(tmp_path: Path) -> None:
    found = read(tmp_path, "poetry.lock", POETRY_OLD)
    private = "private @ git+https://git.example/private.git@fedcba9876543210"
    assert names(found) == ["numpy==1.21.0", private]
    assert found.hashes == {"numpy": (A,)}
    assert found.python == ">=3.7,<3.10"
    assert "s3cret" not in repr(found)


POETRY = f"""
[[package]]
name = "pandas"
version = "2.0.0"
files = [{{file = "p.whl", hash = "sha256:{B}"}}, {{file = "p.zip", hash = "md5:abc"}}]
[package.dependencies]
numpy = [
  {{version = ">=1.20", markers = "python_version < \\"3.11\\""}},
  {{version = ">=1.23", markers = "python_version >= \\"3.11\\""}},
]
fsspec = {{version = "*", optional = true}}
[package.extras]
remote = ["fsspec (>=1.0) ; sys_platform == \\"linux\\""]
[[package]]
name = "numpy"
version = "1.26.0"
[[package]]
name = "fsspec"
version = "2023.1"
[[package]]
name = "black"
version = "23.1"
[metadata]
python-versions = "^3.9"
"""


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ('pandas = "^2.0"', ["pandas==2.0.0", "numpy==1.26.0"]),
        (
            'pandas = {version = "^2.0", extras = ["remote"]}',
            ["pandas==2.0.0", "numpy==1.26.0", "fsspec==2023.1"],
        ),
    ],
)
def test_the_project_file_says_what_a_lock_of_poetry_is_for(
    tmp_path: Path, asked: str, expected: list[str]
) -> None:
    project = f'[tool.poetry.dependencies]\npython = "^3.9"\n{asked}\n'
    project += '[tool.poetry.group.dev.dependencies]\nblack = "*"\n'
    found = read(tmp_path, "poetry.lock", POETRY, project)
    parts = [Requirement(text) for text in names(found)]
    assert [f"{part.name}{part.specifier}" for part in parts] == expected
    for version in ("3.10.1", "3.12.0"):
        here = {"python_version": version.rpartition(".")[0], "python_full_version": version}
        assert parts[1].marker is not None
        assert parts[1].marker.evaluate(here)
    assert found.hashes["pandas"] == (B,)


def test_a_newer_lock_of_poetry_has_groups(tmp_path: Path) -> None:
    text = (
        '[[package]]\nname = "a"\nversion = "1"\ngroups = ["main", "dev"]\n'
        'markers = {main = "os_name == \\"posix\\"", dev = "os_name == \\"nt\\""}\n'
        '[[package]]\nname = "b"\nversion = "1"\ngroups = ["dev"]\n'
    )
    assert names(read(tmp_path, "poetry.lock", text)) == ['a==1 ; os_name == "posix"']


PDM = f"""
[metadata]
groups = ["default", "test"]
strategy = ["inherit_metadata"]
[[metadata.targets]]
requires_python = ">=3.9"
[[package]]
name = "httpx"
version = "0.27"
groups = ["default"]
marker = "python_version >= '3.9'"
files = [{{file = "httpx.whl", hash = "sha256:{C}"}}]
[[package]]
name = "httpx"
version = "0.27"
extras = ["http2"]
groups = ["default"]
dependencies = ["h2<5"]
[[package]]
name = "h2"
version = "4.1"
groups = ["default"]
[[package]]
name = "pytest"
version = "8"
groups = ["test"]
"""


def test_a_lock_of_pdm(tmp_path: Path) -> None:
    found = read(tmp_path, "pdm.lock", PDM)
    assert names(found) == ['httpx==0.27 ; python_version >= "3.9"', "h2==4.1"]
    assert found.python == ">=3.9"
    assert found.hashes == {"httpx": (C,)}


def test_a_lock_of_pdm_without_groups_follows_the_project_file(tmp_path: Path) -> None:
    lock = "".join(line for line in PDM.splitlines(keepends=True) if "groups" not in line)
    project = '[project]\nname = "s"\ndependencies = ["httpx[http2]"]\n'
    found = read(tmp_path, "pdm.lock", lock, project)
    assert [Requirement(text).name for text in names(found)] == ["httpx", "h2"]


def test_a_lock_of_pipenv(tmp_path: Path) -> None:
    data = {
        "_meta": {
            "requires": {"python_version": "3.8"},
            "sources": [{"url": "https://somebody:s3cret@packages.example/simple", "name": "own"}],
        },
        "default": {
            "Django": {"version": "==3.2", "hashes": [f"sha256:{A}", f"sha256:{B}"]},
            "uvloop": {"version": "==0.17", "markers": "sys_platform != 'win32'"},
            "mine": {"path": ".", "editable": True},
            "forked": {"git": "https://x:s3cret@git.example/f.git", "ref": "abcdef0"},
        },
        "develop": {"pytest": {"version": "==7.0"}},
    }
    found = read(tmp_path, "Pipfile.lock", json.dumps(data))
    assert names(found) == [
        "django==3.2",
        'uvloop==0.17 ; sys_platform != "win32"',
        "forked @ git+https://git.example/f.git@abcdef0",
    ]
    assert found.python == "3.8"
    assert found.hashes == {"django": (A, B)}
    assert "1 package index(es) of its own" in said(found)
    assert "s3cret" not in repr(found)


def test_a_pipfile(tmp_path: Path) -> None:
    text = (
        '[[source]]\nurl = "https://index.example/simple"\nname = "pypi"\n'
        '[packages]\nnumpy = "*"\npandas = ">=1.0,<2"\n'
        'requests = {version = "==2.28", extras = ["socks"], sys_platform = "== \'linux\'"}\n'
        'own = {path = "./own", editable = true}\n'
        '[dev-packages]\npytest = "*"\n[requires]\npython_version = "3.10"\n'
    )
    found = read(tmp_path, "Pipfile", text)
    assert names(found) == [
        "numpy",
        "pandas>=1.0,<2",
        'requests[socks]==2.28 ; sys_platform == "linux"',
    ]
    assert found.found[0][1] == "Pipfile:5"
    assert found.python == "3.10"
    assert "own is a folder" in said(found)
    assert "index" not in said(found)


PIXI = f"""
version: 6
environments:
  default:
    channels:
    - url: https://t:s3cret@channel.example/
    packages:
      linux-64:
      - conda: https://channel.example/linux-64/python-3.11.4-hab00c5b_0_cpython.conda
      - conda: https://channel.example/linux-64/pytorch-2.1.0-cpu_py311_0.conda
      - conda: https://channel.example/linux-64/openssl-3.1.0-hd590300_0.tar.bz2
      - conda: https://channel.example/linux-64/samtools-1.17-h00cdaf9_0.tar.bz2
      - pypi: https://files.example/einops-0.6.1-py3-none-any.whl
      - pypi: ./
      - pypi: git+https://t:s3cret@git.example/fork.git?rev=main#0123abc
      osx-64:
      - conda: https://channel.example/osx-64/pytorch-9.9.9-cpu_py311_0.conda
packages:
- pypi: https://files.example/einops-0.6.1-py3-none-any.whl
  name: einops
  version: 0.6.1
  sha256: {A}
- pypi: git+https://t:s3cret@git.example/fork.git?rev=main#0123abc
  name: fork
  version: 1.0
- pypi: ./
  name: study
  version: 0.0.1
  sha256: {B}
  editable: true
"""


def test_a_lock_of_pixi(tmp_path: Path) -> None:
    found = read(tmp_path, "pixi.lock", PIXI)
    assert names(found) == [
        "torch==2.1.0",
        "einops==0.6.1",
        "fork @ git+https://git.example/fork.git@0123abc",
    ]
    assert found.python == "3.11"
    assert found.hashes == {"einops": (A,)}
    assert "without a reviewed distribution: samtools" in said(found)
    assert "study is a folder" in said(found)
    assert "s3cret" not in repr(found)


CONDA_LOCK = f"""
version: 1
package:
- {{name: python, version: 3.9.18, manager: conda, platform: linux-64, category: main}}
- {{name: numpy, version: 1.22.4, manager: conda, platform: linux-64, category: main}}
- {{name: numpy, version: 1.0.0, manager: conda, platform: osx-64, category: main}}
- {{name: pytest, version: 7.0.0, manager: conda, platform: linux-64, category: dev}}
- {{name: bedtools, version: 2.31.0, manager: conda, platform: linux-64, category: main}}
- name: einops
  version: 0.6.1
  manager: pip
  platform: linux-64
  hash: {{sha256: {A}}}
"""


def test_a_lock_of_conda_lock(tmp_path: Path) -> None:
    found = read(tmp_path, "conda-lock", CONDA_LOCK)
    assert names(found) == ["numpy==1.22.4", "einops==0.6.1"]
    assert (found.python, found.hashes) == ("3.9", {"einops": (A,)})
    assert "bedtools; not rebuilt without conda" in said(found)


def test_an_explicit_list_of_conda_packages(tmp_path: Path) -> None:
    text = (
        "# platform: linux-64\n@EXPLICIT\n"
        "https://c.example/linux-64/python-3.8.5-h7579374_1.conda#0123\n"
        "https://c.example/linux-64/scikit-learn-0.23.2-py38h0573a6f_0.conda\n"
    )
    found = read(tmp_path, "conda-explicit", text)
    assert (names(found), found.python) == (["scikit-learn==0.23.2"], "3.8")


def test_a_pylock_of_another_tool(tmp_path: Path) -> None:
    text = (
        'lock-version = "1.0"\nrequires-python = ">=3.10"\n'
        '[[packages]]\nname = "attrs"\nversion = "23.1"\nmarker = "os_name == \'posix\'"\n'
        f'wheels = [{{name = "attrs.whl", hashes = {{sha256 = "{A}"}}}}]\n'
        '[[packages]]\nname = "extra"\nversion = "1"\nmarker = "\'docs\' in extras"\n'
        '[[packages]]\nname = "own"\ndirectory = {path = "."}\n'
    )
    found = read(tmp_path, "pylock", text)
    assert names(found) == ['attrs==23.1 ; os_name == "posix"']
    assert (found.python, found.hashes) == (">=3.10", {"attrs": (A,)})


DAMAGED = {
    "empty": b"",
    "binary": bytes(range(256)) * 8,
    "cut off": b'[[package]]\nname = "a',
    "other types": b'package = 3\npackages = "x"\nenvironments = []\n',
    "types in JSON": b'{"default": [1], "_meta": "x", "package": {"a": null}}',
    "types in YAML": b"package: [1, {name: [x]}]\npackages: 3\nenvironments: {default: 4}\n",
    "deep": b"a = " + b"[" * 5000 + b"]" * 5000,
    "deep YAML": b"{a: " * 200 + b"}" * 200,
    "odd names": b'[[package]]\nname = "../etc"\nversion = "x y"\nsource = {registry = "http://["}\n',
    "odd source": b'[[package]]\nname = "a"\nversion = "1"\nsource = {git = "http://[#1"}\n',
}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("kind", LOCK_READERS)
def test_a_damaged_lock_is_said_and_names_nothing(tmp_path: Path, kind: str, damage: str) -> None:
    path = tmp_path / NAMES[kind]
    path.write_bytes(DAMAGED[damage])
    found = LOCK_READERS[kind](path, path.name)
    for text in names(found):
        assert Requirement(text).name == "a"
    if damage in {"binary", "cut off"}:
        assert found.problems


def test_needs_that_form_a_ring_end(tmp_path: Path) -> None:
    ring = "".join(
        f'[[package]]\nname = "p{n}"\nversion = "1"\n[package.dependencies]\n'
        f"p{(n + 1) % 40} = {{markers = \"os_name == '{n}'\"}}\n"
        f"p{(n + 7) % 40} = {{markers = \"os_name != '{n}'\"}}\n"
        for n in range(40)
    )
    found = read(tmp_path, "poetry.lock", ring)
    assert sorted(names(found)) == sorted(f"p{n}==1" for n in range(40))


def test_a_lock_comes_before_the_files_it_was_made_from(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.poetry.dependencies]\npandas = "^2.0"\n')
    (tmp_path / "requirements.txt").write_text("pandas\n")
    (tmp_path / "poetry.lock").write_text(POETRY)
    found = detect_requirements(tmp_path, ["pandas"])
    assert found.why.startswith("poetry.lock: it comes first of the files that name packages")
    assert found.why.endswith("and pins every version")
    assert [Requirement(text).name for text in found.requirements] == ["pandas", "numpy"]
    assert found.manifests[0].kind == "poetry.lock"
