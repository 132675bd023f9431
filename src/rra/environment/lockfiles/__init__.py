"""Reading the lock files of other tools into exact requirements with digests; nothing runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from rra.environment.lockfiles.conda import read_conda_explicit, read_conda_lock, read_pixi_lock
from rra.environment.lockfiles.pdm import read_pdm_lock
from rra.environment.lockfiles.pipenv import read_pipfile, read_pipfile_lock
from rra.environment.lockfiles.poetry import read_poetry_lock
from rra.environment.lockfiles.pylocks import read_foreign_pylock
from rra.environment.lockfiles.uv import read_uv_lock
from rra.environment.requirement_files import Requirements

__all__ = ["LOCK_FILES", "LOCK_READERS", "LOOSE_FILES"]

LOCK_FILES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^uv\.lock$"), "uv.lock"),
    (re.compile(r"^poetry\.lock$"), "poetry.lock"),
    (re.compile(r"^pdm\.lock$"), "pdm.lock"),
    (re.compile(r"^Pipfile\.lock$"), "Pipfile.lock"),
    (re.compile(r"^pylock(?:\.[^.]+)?\.toml$"), "pylock"),
    (re.compile(r"^pixi\.lock$"), "pixi.lock"),
    (re.compile(r"^(?:[\w.-]*\.)?conda-lock\.ya?ml$"), "conda-lock"),
    (re.compile(r"^conda-[\w-]+\.lock$"), "conda-explicit"),
)
"""Names of lock files and the kind of each, in the order in which they are followed."""

LOOSE_FILES: tuple[tuple[re.Pattern[str], str], ...] = ((re.compile(r"^Pipfile$"), "Pipfile"),)
"""Files that other tools lock, and that name packages loosely."""

LOCK_READERS: dict[str, Callable[[Path, str], Requirements]] = {
    "uv.lock": read_uv_lock,
    "poetry.lock": read_poetry_lock,
    "pdm.lock": read_pdm_lock,
    "Pipfile.lock": read_pipfile_lock,
    "Pipfile": read_pipfile,
    "pylock": read_foreign_pylock,
    "pixi.lock": read_pixi_lock,
    "conda-lock": read_conda_lock,
    "conda-explicit": read_conda_explicit,
}
"""What reads a file of each kind: its path and its name in the repository."""
