"""Finding out what a repository needs, from files as people write them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rra.environment import Detected, detect_requirements

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def detect(root: Path, files: dict[str, str | bytes], *imports: str) -> Detected:
    write(root, files)
    return detect_requirements(root, imports)


def said(found: Detected) -> str:
    return "\n".join(f"{finding} | {finding.hint}" for finding in found.findings)


def test_requirements_as_people_write_them(tmp_path: Path) -> None:
    text = (
        "# packages\n"
        "numpy==1.21.0   # for arrays\n"
        "\n"
        "pandas>=1.2, <2 ; python_version >= '3.7'\n"
        "scikit-learn == 1.0 \\\n"
        f"    --hash=sha256:{'a' * 64} \\\n"
        f"    --hash=sha256:{'B' * 64}\n"
        "torch[extra]~=1.9\n"
    )
    found = detect(tmp_path, {"requirements.txt": text})
    assert found.requirements == [
        "numpy==1.21.0",
        "pandas>=1.2, <2 ; python_version >= '3.7'",
        "scikit-learn == 1.0",
        "torch[extra]~=1.9",
    ]
    assert found.findings == ()
    assert found.why.startswith("requirements.txt: ")


@pytest.mark.parametrize(
    ("given", "remark"),
    [
        ("sha256:abc", "--hash=sha256:abc is no SHA-256 digest, so it vouches for nothing"),
        ("sha256:" + "g" * 64, "is no SHA-256 digest, so it vouches for nothing"),
        ("sha265:" + "a" * 64, "is no SHA-256 digest, so it vouches for nothing"),
        ("sha512:" + "a" * 128, "--hash=sha512:… is not compared: only SHA-256 is"),
        ("sha256:" + "a" * 64 + " --hash=sha512:" + "a" * 128, ""),
    ],
)
def test_a_digest_that_vouches_for_nothing_is_said(tmp_path: Path, given: str, remark: str) -> None:
    found = detect(tmp_path, {"requirements.txt": f"# one\nnumpy==1.21.0 --hash={given}\n"})
    assert found.requirements == ["numpy==1.21.0"]
    assert len(found.findings) == bool(remark)
    if remark:
        assert said(found).startswith("requirements.txt:2: --hash=")
        assert remark in said(found)
        assert "64 hex digits" in said(found)


@pytest.mark.parametrize(
    ("data", "remark"),
    [
        (b"\xef\xbb\xbfnumpy==1.0\r\nscipy\r\n", ""),
        ("numpy==1.0\r\nscipy\r\n".encode("utf-16"), "the file is utf-16, not UTF-8"),
        ("numpy==1.0\nscipy\n".encode("utf-16-le"), "the file is utf-16-le, not UTF-8"),
        (b"numpy==1.0\rscipy\r", ""),
        (b"numpy==1.0 # caf\xe9\nscipy\n", "the file is not UTF-8; read as Latin-1"),
    ],
    ids=["bom", "utf-16 with mark", "utf-16 without mark", "old mac", "latin-1"],
)
def test_every_encoding_gives_the_same_requirements(
    tmp_path: Path, data: bytes, remark: str
) -> None:
    found = detect(tmp_path, {"requirements.txt": data})
    assert found.requirements == ["numpy==1.0", "scipy"]
    assert [finding.message for finding in found.findings] == ([remark] if remark else [])


def test_includes_are_followed_once_and_stay_inside(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    (tmp_path / "secret.txt").write_text("from-outside\n")
    found = detect(
        root,
        {
            "requirements.txt": "-r reqs/base.txt\n--requirement=../secret.txt\n-r gone.txt\nsix\n",
            "reqs/base.txt": "-r ../requirements.txt\nnumpy\n",
        },
    )
    assert found.requirements == ["numpy", "six"]
    assert "requirements.txt:2: includes ../secret.txt, which is not in the repository" in said(
        found
    )
    assert "requirements.txt:3: includes gone.txt, which is not in the repository" in said(found)


def test_constraints_bound_what_is_required_and_require_nothing(tmp_path: Path) -> None:
    found = detect(
        tmp_path,
        {"requirements.txt": "-c limits.txt\nnumpy>=1.19\n", "limits.txt": "numpy<1.24\nscipy<2\n"},
    )
    assert found.requirements == ["numpy<1.24,>=1.19"]


def test_sources_of_packages_are_the_readers_and_no_secret_is_shown(tmp_path: Path) -> None:
    text = (
        "--extra-index-url https://me:s3cret@pypi.example.org/simple\n"
        "-f https://download.example.org/torch_stable.html\n"
        "torch==1.9.0+cu111\n"
    )
    found = detect(tmp_path, {"requirements.txt": text})
    assert found.requirements == ["torch==1.9.0+cu111"]
    assert "requirements.txt:1: --extra-index-url names a source of packages" in said(found)
    assert "requirements.txt:2: -f names a source" in said(found)
    assert "s3cret" not in said(found)


def test_own_code_addresses_and_leftovers_of_other_tools(tmp_path: Path) -> None:
    text = (
        "-e .\n"
        "./libs/helper\n"
        "git+https://example.org/a/tool.git@v1#egg=mytool\n"
        "git+https://example.org/a/other.git@v1\n"
        "https://example.org/w/toy-1.0-py3-none-any.whl\n"
        "https://example.org/archive/main.zip\n"
        "numpy @ file:///home/conda/feedstock_root/numpy_1\n"
        "pkg-resources==0.0.0\n"
        "sklearn==0.0\n"
        "this is not one\n"
    )
    found = detect(tmp_path, {"requirements.txt": text})
    assert found.requirements == [
        "mytool @ git+https://example.org/a/tool.git@v1",
        "other @ git+https://example.org/a/other.git@v1",
        "toy @ https://example.org/w/toy-1.0-py3-none-any.whl",
        "numpy",
        "scikit-learn",
    ]
    report = said(found)
    for expected in (
        "requirements.txt:1: . is a folder or file of the repository",
        "requirements.txt:2: ./libs/helper is a folder or file of the repository",
        "requirements.txt:4: the name other is that of the repository",
        "requirements.txt:6: https://example.org/archive/main.zip does not say which package",
        "requirements.txt:7: numpy comes from a folder of another machine",
        "requirements.txt:8: pkg-resources is an artefact of pip freeze",
        "requirements.txt:9: sklearn is not the package that is meant; scikit-learn is",
        "requirements.txt:10: 'this is not one' is not a requirement",
    ):
        assert expected in report
    assert "PYTHONPATH" in report


def test_a_conda_list_under_the_name_of_requirements(tmp_path: Path) -> None:
    text = (
        "# $ conda create --name <env> --file <this file>\n"
        "numpy=1.19.2=py37h54aff64_0\n"
        "mkl=2020.2=256\n"
    )
    assert detect(tmp_path, {"requirements.txt": text}).requirements == ["numpy==1.19.2"]


CONDA = """\
name: paper
channels: [pytorch, defaults]
dependencies:
  - python=3.7.3
  - numpy=1.19
  - conda-forge::pandas>=1.1,<1.3
  - pytorch==1.4.0
  - pytables=3.6.1=py37h
  - matplotlib
  - cudatoolkit=10.1
  - bioconductor-limma=3.42
  - pip
  - pip:
    - tqdm==4.50
    - -e .
"""


def test_conda_environments_by_the_reviewed_table(tmp_path: Path) -> None:
    found = detect(tmp_path, {"environment.yml": CONDA})
    assert found.requirements == [
        "numpy==1.19.*",
        "pandas>=1.1,<1.3",
        "torch==1.4.0",
        "tables==3.6.1",
        "matplotlib",
        "tqdm==4.50",
    ]
    assert found.python == "3.7"
    report = said(found)
    assert "environment.yml:11: conda package bioconductor-limma has no reviewed" in report
    assert "system packages of conda are left out, wheels bring their own: cudatoolkit" in report


def test_no_wheel_brings_r(tmp_path: Path) -> None:
    text = "dependencies: [r-base=4.0, numpy, cudatoolkit]\n"
    report = said(detect(tmp_path, {"environment.yml": text}))
    assert "packages of R are not rebuilt without conda, nothing replaces them: r-base" in report
    assert "wheels bring their own: cudatoolkit" in report


def test_pyproject_setup_cfg_and_poetry(tmp_path: Path) -> None:
    project = '[project]\nname = "x"\nrequires-python = ">=3.8,<3.10"\ndependencies = ["numpy>1"]\n'
    found = detect(tmp_path / "a", {"pyproject.toml": project})
    assert (found.requirements, found.python) == (["numpy>1"], "3.9")
    poetry = (
        '[tool.poetry.dependencies]\npython = "^3.7"\nnumpy = "^1.19.2"\nscipy = "~1.5"\n'
        'six = "*"\npandas = "1.1.0"\ntorch = {version = ">=1.7", optional = true}\n'
        'flask = "^0.2.3"\n'
    )
    found = detect(tmp_path / "b", {"pyproject.toml": poetry})
    assert found.requirements == [
        "numpy>=1.19.2,<2",
        "scipy>=1.5,<1.6",
        "six",
        "pandas==1.1.0",
        "flask>=0.2.3,<0.3",
    ]
    assert found.python == HERE
    config = "[options]\npython_requires = >=3.6\ninstall_requires =\n    numpy\n    scipy>=1 # x\n"
    found = detect(tmp_path / "c", {"setup.cfg": config})
    assert found.requirements == ["numpy", "scipy>=1"]


def test_setup_py_is_read_and_never_run(tmp_path: Path) -> None:
    text = (
        "import os\n"
        "from setuptools import setup\n"
        "open('ran.txt', 'w')\n"
        "base = ['numpy>=1.10', 'six']\n"
        "setup(name='x', install_requires=base + ['scipy'], python_requires='>=3.6')\n"
    )
    found = detect(tmp_path, {"setup.py": text})
    assert found.requirements == ["numpy>=1.10", "six", "scipy"]
    assert not (tmp_path / "ran.txt").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "from setuptools import setup\nsetup(install_requires=open('r').read().split())\n",
            "setup.py:2: install_requires is computed; setup.py is not run",
        ),
        ("print 'python 2'\n", "setup.py:1: not Python 3"),
    ],
)
def test_what_setup_py_does_not_say_plainly_is_reported(
    tmp_path: Path, text: str, message: str
) -> None:
    found = detect(tmp_path, {"setup.py": text})
    assert found.requirements == []
    assert message in said(found)


def test_the_order_in_which_files_are_followed(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "setup.py": "from setuptools import setup\nsetup(install_requires=['six'])\n",
        "environment.yml": "dependencies:\n  - scipy=1.5\n  - numpy=1.19.2\n",
        "requirements-dev.txt": "pytest\n",
        "requirements.txt": "numpy==1.18.0\n",
        "code/requirements.txt": "pandas\n",
    }
    found = detect(tmp_path, files)
    assert found.requirements == ["numpy==1.18.0"]
    assert [manifest.path for manifest in found.manifests] == [
        "requirements.txt",
        "environment.yml",
        "setup.py",
        "code/requirements.txt",
        "requirements-dev.txt",
    ]
    report = said(found)
    assert (
        "environment.yml:3: numpy==1.19.2 contradicts numpy==1.18.0 of requirements.txt" in report
    )
    assert "environment.yml: names packages that requirements.txt does not: scipy==1.5.*" in report
    assert "setup.py: names packages that requirements.txt does not: six" in report


def test_a_package_that_is_pinned_twice_is_reported(tmp_path: Path) -> None:
    found = detect(tmp_path, {"requirements.txt": "numpy==1.0\nNumPy==1.1\nsix\nsix\n"})
    assert found.requirements == ["numpy==1.0", "six"]
    assert "requirements.txt:2: NumPy==1.1 contradicts numpy==1.0" in said(found)


def test_without_files_the_imports_are_followed(tmp_path: Path) -> None:
    write(tmp_path, {"main.py": "", "helpers/__init__.py": "", "src/deep/tool.py": ""})
    found = detect_requirements(
        tmp_path,
        ["os", "sklearn.svm", "cv2", "PIL", "yaml", "numpy", "helpers", "tool", "deep", "mystery"],
    )
    assert found.requirements == ["pillow", "opencv-python", "numpy", "scikit-learn", "pyyaml"]
    assert "imports whose package is not known: mystery" in said(found)
    assert "helpers" not in said(found)
    assert found.why == "the imports, since no file names packages"


@pytest.mark.parametrize(
    ("requirements", "said"),
    [
        ("numpy==1.21.0\nscipy===1.7\n", "it alone names packages, and pins every version"),
        ("numpy==1.21.0\nscipy>=1\n", "it alone names packages, and pins 1 of 2 versions"),
        ("numpy\nscipy==1.*\n", "it alone names packages, and pins no version"),
    ],
)
def test_what_is_said_of_a_file_is_true(tmp_path: Path, requirements: str, said: str) -> None:
    found = detect(tmp_path, {"requirements.txt": requirements})
    assert found.why == f"requirements.txt: {said}"
    more: dict[str, str | bytes] = {"setup.cfg": "[options]\ninstall_requires = numpy\n"}
    first = said.replace("alone names packages", "comes first of the files that name packages")
    assert detect(tmp_path, more).why == f"requirements.txt: {first}"


def test_imports_that_no_file_names_are_added(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"requirements.txt": "numpy\nopencv-python-headless\nmystery\n"}
    found = detect(tmp_path, files, "numpy", "matplotlib", "cv2", "mystery")
    assert found.requirements == ["numpy", "opencv-python-headless", "mystery", "matplotlib"]
    assert "imported but named in no requirement, added: matplotlib" in said(found)
    assert "not known" not in said(found)


def test_a_lock_of_ours_is_not_a_manifest(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "environment/cpu/pylock.toml": "",
        "environment/cpu/requirements.txt": "numpy==9\n",
        "venv/lib/requirements.txt": "scipy\n",
    }
    found = detect(tmp_path, files)
    assert (found.manifests, found.requirements) == ((), [])


@pytest.mark.parametrize(
    ("files", "python"),
    [
        ({".python-version": "3.8.18\n"}, "3.8"),
        ({"runtime.txt": "python-3.7.10\n"}, "3.7"),
        ({"setup.cfg": "[options]\npython_requires = ==3.6.*\n"}, "3.6"),
        ({"setup.cfg": "[options]\npython_requires = >=3.6\n"}, HERE),
        ({"setup.cfg": "[options]\npython_requires = ~=2.7\n"}, None),
        ({"README.md": "Python 3.8"}, None),
    ],
)
def test_the_python_that_files_name(
    tmp_path: Path, files: dict[str, str | bytes], python: str | None
) -> None:
    assert detect(tmp_path, files).python == python


def test_files_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    found = detect(
        tmp_path,
        {"pyproject.toml": "[project\n", "environment.yml": "a: [\n", "setup.cfg": "nonsense\n"},
    )
    report = said(found)
    assert "pyproject.toml: not valid TOML" in report
    assert "environment.yml:2: not valid YAML" in report
    assert "setup.cfg: cannot be read" in report
    assert all(finding.severity == "warning" for finding in found.findings)
