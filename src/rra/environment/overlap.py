"""Packages of one environment that bring the same file: the one that is installed last wins.

Which that is depends on the installer, so two installations of one lock may differ, and neither
package is what was tested. Source: the RECORD of installed distributions (PEP 376, PEP 627).
"""

from __future__ import annotations

import csv
import dataclasses
from collections import defaultdict
from pathlib import Path, PurePosixPath

from rra._base.counts import counted

_RECORDS = ("lib/python*/site-packages/*.dist-info/RECORD", "Lib/site-packages/*.dist-info/RECORD")


@dataclasses.dataclass(frozen=True, slots=True)
class SharedFiles:
    """Files with other content that two packages bring to one place.

    Attributes:
        packages: The two, each as ``name version``, sorted.
        files: Their paths below ``site-packages``, sorted.
    """

    packages: tuple[str, str]
    files: tuple[str, ...]

    def __str__(self) -> str:
        """Say it in one line."""
        first, second = self.packages
        more = len(self.files) - 1
        rest = f" and {counted(more, 'other file')}" if more else ""
        return f"{first} and {second} both bring {self.files[0]}{rest}, each its own"


def shared_files(root: Path) -> tuple[SharedFiles, ...]:
    """Return which packages of an installed environment bring different files to one place.

    A file that both bring with the same content, such as that of a shared namespace, is no fault.
    A list that cannot be read names nothing.

    Args:
        root: Folder of the environment.
    """
    owners: dict[str, tuple[str, str]] = {}
    shared: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    records = sorted(path for pattern in _RECORDS for path in root.glob(pattern))
    for record in records:
        name = " ".join(record.parent.name.removesuffix(".dist-info").split("-", 1))
        for path, digest in _entries(record):
            other, theirs = owners.setdefault(path, (name, digest))
            if other != name and theirs != digest:
                shared[min(other, name), max(other, name)].add(path)
    return tuple(SharedFiles(pair, tuple(sorted(files))) for pair, files in sorted(shared.items()))


def _entries(record: Path) -> list[tuple[str, str]]:
    """Return path and digest of the files of a package that have one."""
    try:
        with record.open(encoding="utf-8", newline="") as file:
            rows = [row[:2] for row in csv.reader(file)]
    except (OSError, UnicodeDecodeError, csv.Error):
        return []
    return [
        (path, digest)
        for path, digest in (row for row in rows if len(row) == 2)
        if digest and PurePosixPath(path).suffix != ".pyc" and ".dist-info/" not in path
    ]
