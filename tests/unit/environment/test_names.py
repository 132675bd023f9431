"""The reviewed tables of names."""

from __future__ import annotations

import pytest
from packaging.utils import canonicalize_name

from rra.environment import names
from rra.environment.conda_specs import python_of_spec, read_conda_spec, translate_version


@pytest.mark.parametrize(
    ("module", "distribution"),
    [
        ("sklearn", "scikit-learn"),
        ("cv2", "opencv-python"),
        ("PIL", "pillow"),
        ("yaml", "pyyaml"),
        ("bs4", "beautifulsoup4"),
        ("skimage", "scikit-image"),
        ("typing_extensions", "typing-extensions"),
        ("numpy", "numpy"),
        ("requestes", None),
        ("my_lab_utils", None),
    ],
)
def test_imports(module: str, distribution: str | None) -> None:
    assert names.distribution_of_import(module) == distribution


def test_tables_are_consistent() -> None:
    for name in (*names.IMPORTS.values(), *names.CONDA.values(), *names.ALIASES.values()):
        assert name == canonicalize_name(name) or name == "ruamel.yaml"
    assert not set(names.CONDA) & names.CONDA_SYSTEM
    assert not any(names.is_standard(module) for module in names.IMPORTS)


@pytest.mark.parametrize(
    ("version", "specifier"),
    [
        ("", ""),
        ("*", ""),
        ("=1.19", "==1.19.*"),
        ("1.19", "==1.19.*"),
        ("=1.19.2", "==1.19.2"),
        ("==1.19", "==1.19"),
        ("=1.19.2=py37h54aff64_0", "==1.19.2"),
        ("=1=0", "==1"),
        ("1.19.*", "==1.19.*"),
        ("=1.19*", "==1.19.*"),
        (">=1.1, <2", ">=1.1,<2"),
        ("!=1.5", "!=1.5"),
        (">=1.8|<1.2", None),
    ],
)
def test_versions_of_conda(version: str, specifier: str | None) -> None:
    assert translate_version(version) == specifier


@pytest.mark.parametrize(
    ("spec", "requirement", "remark"),
    [
        ("pytorch=1.4", "torch==1.4.*", ""),
        ("conda-forge::opencv", "opencv-python", ""),
        ("numpy[version='>=1.2']", "numpy", ""),
        ("graphviz", None, ""),
        ("libpng=1.6", None, ""),
        ("r-ggplot2", None, ""),
        ("bioconductor-limma", None, "no reviewed distribution"),
        ("numpy >=1.8|<1.2", "numpy", "cannot be translated"),
    ],
)
def test_specifications_of_conda(spec: str, requirement: str | None, remark: str) -> None:
    found, said = read_conda_spec(spec)
    assert found == requirement
    assert remark in said
    assert bool(remark) == bool(said)


def test_python_of_conda() -> None:
    assert python_of_spec("python=3.7.3=h1") == "3.7"
    assert python_of_spec("python>=3.6") is None
    assert python_of_spec("numpy=1.2") is None


@pytest.mark.parametrize("module", ["os", "distutils", "imp", "cPickle", "urllib2", "setuptools"])
def test_modules_of_any_python_are_no_packages(module: str) -> None:
    assert names.is_standard(module)
