"""What the build of a package imports without having said so.

A ``setup.py`` of before 2018 often imports numpy, since whoever installed a package had it. A
build of today has only what ``build-system.requires`` names, and fails. Which module is missing
the failed build says itself; the reviewed table of imports names its distribution, and a module
that the table does not know is not guessed.

The table here only spares tries that are known to fail. Each row was seen to fail without and to
build with what it names: cvxcanon 0.1.1, ecos 2.0.4, scs 1.2.7 and osqp 0.2.1, on Python 3.6.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from rra._base.unarchive import is_archive, unarchive
from rra.environment.names import distribution_of_import
from rra.errors import LockError, RraError

Needs = Mapping[str, Sequence[str]]
"""For each package (normalised name) what its build needs besides what it declares."""

KNOWN: Needs = {
    "cvxcanon": ("numpy",),
    "ecos": ("numpy",),
    "osqp": ("numpy",),
    "scs": ("numpy",),
}

MOST = 6
"""Modules that are looked for one after the other, for one build or one resolution."""

_ABSENT = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_TABLE = re.compile(r"^\[build-system\][ \t]*(?:#.*)?$", re.MULTILINE)
_REQUIRES = re.compile(r"^requires[ \t]*=[ \t]*\[", re.MULTILINE)
_USUAL = (
    '[build-system]\nrequires = ["setuptools>=40.8.0"]\n'
    'build-backend = "setuptools.build_meta:__legacy__"\n'
)
"""What a build without a ``build-system`` table has (PEP 517)."""


def missing_distribution(log: str) -> str | None:
    """Return the distribution whose module a failed build did not find; None where unknown."""
    absent = _ABSENT.findall(log)
    return distribution_of_import(absent[-1].split(".")[0]) if absent else None


def declare(source: Path, needs: Sequence[str], place: Path) -> Path:
    """Return a source tree whose build also declares some requirements.

    Args:
        source: Source distribution, or source tree; the tree is changed.
        needs: The requirements (PEP 508).
        place: Empty or new folder, into which a source distribution is unpacked.

    Raises:
        LockError: The source cannot be read, or its ``pyproject.toml`` cannot be added to.
    """
    tree = source
    if source.is_file():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        tree = place
        try:
            if not is_archive(source):
                raise _unreadable(source.name, "it is no archive")
            unarchive(source, tree)
        except RraError as error:
            raise _unreadable(source.name, error.message) from error
    path = tree / "pyproject.toml"
    text = path.read_text("utf-8") if path.is_file() else ""
    path.write_text(_added(text, needs, source.name), "utf-8")
    return tree


def _added(text: str, needs: Sequence[str], name: str) -> str:
    """Return a ``pyproject.toml`` whose ``build-system.requires`` begins with some more."""
    try:
        before = tomllib.loads(text).get("build-system", {}).get("requires", [])
        header = _TABLE.search(text)
        if header is None:
            text = f"{text.rstrip()}\n\n{_USUAL}".lstrip()
            before = tomllib.loads(text)["build-system"]["requires"]
            header = _TABLE.search(text)
        start = _REQUIRES.search(text, header.end() if header else 0)
        if start is not None:
            listed = "".join(f'"{need}", ' for need in needs)
            text = text[: start.end()] + listed + text[start.end() :]
        if tomllib.loads(text)["build-system"]["requires"] == [*needs, *before]:
            return text
    except (tomllib.TOMLDecodeError, KeyError, AttributeError, TypeError) as error:
        raise _unreadable(name, f"pyproject.toml: {error}") from error
    raise _unreadable(name, "pyproject.toml declares its build in an unusual form")


def _unreadable(name: str, why: str) -> LockError:
    message = f"{name} cannot be built with what its build imports without declaring it: {why}"
    hint = "build its wheel yourself and put it into the environment's wheels/ folder"
    return LockError(message, hint=hint)
