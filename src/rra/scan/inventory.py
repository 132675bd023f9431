"""Listing a repository within bounds: no links followed, no environments, no caches."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from rra._base.files import STAGING_PREFIX
from rra.artifact import layout

MAX_FILES = 50_000
"""More files than these are not listed; the scan says so."""

SKIPPED_FOLDERS = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".tox",
        ".nox",
        ".venv",
        ".eggs",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".ipynb_checkpoints",
        "__pycache__",
        "node_modules",
        "site-packages",
    }
)
"""Folders that tools make and nobody writes by hand."""

_OWN = frozenset(
    name.partition("/")[0]
    for name in (*layout.OWNED_DIRS, *layout.OWNED_FILES)
    if not name.startswith(".agents")
)


@dataclasses.dataclass(frozen=True, slots=True)
class Inventory:
    """The files of a repository.

    Attributes:
        files: Regular files with their sizes in bytes, sorted.
        links: Symbolic links; those that lead to files inside are listed as files too.
        truncated: Whether there were more than `MAX_FILES`.
    """

    files: dict[PurePosixPath, int]
    links: tuple[PurePosixPath, ...]
    truncated: bool


def take_inventory(root: Path) -> Inventory:
    """List the regular files below a directory, at most `MAX_FILES` of them.

    The other elements of an artifact that is already there (launchers, evidence, handoff, …)
    are passed over.
    """
    files: dict[PurePosixPath, int] = {}
    links: list[PurePosixPath] = []
    inside = root.resolve()
    for relative, is_link in _walk(root):
        if is_link:
            links.append(relative)
            target = Path(os.path.realpath(root / relative))  # a loop of links is no error here
            if target.is_symlink() or not (target.is_file() and target.is_relative_to(inside)):
                continue
        if len(files) >= MAX_FILES:
            return Inventory(dict(sorted(files.items())), tuple(links), truncated=True)
        files[relative] = _size(root / relative)
    return Inventory(dict(sorted(files.items())), tuple(links), truncated=False)


def _walk(root: Path) -> Iterator[tuple[PurePosixPath, bool]]:
    own = _OWN if (root / "rra.yaml").is_file() else frozenset()
    pending = [PurePosixPath()]
    while pending:
        folder = pending.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError:
            continue
        folders = []
        for entry in entries:
            is_own = folder == PurePosixPath() and entry.name in own
            if entry.name.startswith(STAGING_PREFIX) or is_own:
                continue
            if entry.is_symlink():
                yield folder / entry.name, True
            elif entry.is_dir(follow_symlinks=False):
                if not _skipped(entry):
                    folders.append(folder / entry.name)
            elif entry.is_file(follow_symlinks=False):
                yield folder / entry.name, False
        pending.extend(reversed(folders))


def _skipped(entry: os.DirEntry[str]) -> bool:
    if entry.name in SKIPPED_FOLDERS or entry.name.endswith(".egg-info"):
        return True
    return Path(entry.path, "pyvenv.cfg").is_file() or Path(entry.path, "conda-meta").is_dir()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
