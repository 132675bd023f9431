"""Which files changed during a run."""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from rra._base.deep import is_too_deep

Signature = tuple[int, int, int, int]
"""Inode, size, time of change of content, time of change of anything, both in ns."""

_CACHES = {"__pycache__", ".ipynb_checkpoints"}


class TreeSnapshot:
    """The files of a directory at one moment, to tell later which were written."""

    def __init__(self, root: Path, *, skip: Collection[str] = ()) -> None:
        """Look at every file below `root` but those in folders of its top that are named."""
        self.root = root
        self._skip = frozenset(skip)
        self._deep: list[PurePosixPath] = []
        self.files = dict(self._look())

    def _look(self) -> Iterator[tuple[PurePosixPath, Signature]]:
        for path, status in regular_files(self.root, skip=self._skip, deep=self._deep):
            yield path, (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def changes(self) -> TreeChanges:
        """Return what has been created, modified and removed since."""
        self._deep.clear()
        now = dict(self._look())
        return TreeChanges(
            created=sorted(now.keys() - self.files.keys()),
            modified=sorted(p for p, one in now.items() if self.files.get(p, one) != one),
            removed=sorted(self.files.keys() - now.keys()),
            deep=sorted(self._deep),
        )


@dataclasses.dataclass(frozen=True, slots=True)
class TreeChanges:
    """Files that a run created, wrote to or removed, relative to the tree's root.

    Attributes:
        deep: Folders that lie too deep to be looked at.
    """

    created: list[PurePosixPath]
    modified: list[PurePosixPath]
    removed: list[PurePosixPath]
    deep: list[PurePosixPath] = dataclasses.field(default_factory=list)

    @property
    def written(self) -> list[PurePosixPath]:
        """Files with content that the run made, without compiled Python and the like."""
        found = sorted([*self.created, *self.modified])
        return [path for path in found if not _CACHES.intersection(path.parts)]


def regular_files(
    root: Path, *, skip: Collection[str] = (), deep: list[PurePosixPath] | None = None
) -> Iterator[tuple[PurePosixPath, os.stat_result]]:
    """Yield the regular files below a directory with their status, links never followed.

    Folders that forbid to be read are opened to their owner first: what a launcher leaves is
    looked at, whatever mode it gave it. Folders that lie deeper than a path can name are passed
    over, and added to `deep`.
    """
    if root.is_symlink() or not root.is_dir():
        return
    pending = [PurePosixPath()]
    while pending:
        inside = pending.pop()
        for entry in _entries(root / inside):
            if entry.is_dir(follow_symlinks=False):
                if is_too_deep(inside / entry.name):
                    if deep is not None:
                        deep.append(inside / entry.name)
                elif inside.parts or entry.name not in skip:
                    pending.append(inside / entry.name)
            elif entry.is_file(follow_symlinks=False):
                yield inside / entry.name, entry.stat(follow_symlinks=False)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except PermissionError:
        folder.chmod(stat.S_IRWXU)
        with os.scandir(folder) as entries:
            return list(entries)
