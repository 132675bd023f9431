"""Content that a clone may lack: Git LFS pointers and submodules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from rra.scan.text import read_text
from rra.scan.traits.objects import LfsPointer, Submodule

_START = b"version https://git-lfs.github.com/spec/v1"
_POINTER_SIZES = range(len(_START), 1025)
"""A pointer is smaller than 1,024 bytes (specification of Git LFS, "The Pointer")."""


def find_pointers(root: Path, files: Mapping[PurePosixPath, int]) -> tuple[LfsPointer, ...]:
    """Return the files that are Git LFS pointers, whatever their names.

    Args:
        root: The repository.
        files: Its files with their sizes.
    """
    found = []
    for path, size in files.items():
        if size in _POINTER_SIZES:
            data = _head(root / path)
            if data.startswith(_START):
                oid = re.search(rb"^oid (sha256:[0-9a-f]{64})\r?$", data, re.MULTILINE)
                length = re.search(rb"^size (\d{1,18})\r?$", data, re.MULTILINE)
                digest = oid[1].decode("ascii") if oid else ""
                found.append(LfsPointer(path, digest, int(length[1]) if length else 0))
    return tuple(found)


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(1024)
    except OSError:
        return b""


def find_submodules(root: Path, files: Mapping[PurePosixPath, int]) -> tuple[Submodule, ...]:
    """Return the submodules that ``.gitmodules`` names, and whether their folders hold anything.

    The file is read as gitmodules(5) describes it; nothing is asked of git.

    Args:
        root: The repository.
        files: Its files.
    """
    text = read_text(root / ".gitmodules") or ""
    found = []
    for section in re.split(r"(?m)^\s*\[submodule\s", text)[1:]:
        values = dict(re.findall(r"(?m)^\s*(path|url)\s*=\s*\"?(.*?)\"?\s*$", section))
        if values.get("path"):
            path = PurePosixPath(values["path"])
            inside = not path.is_absolute() and ".." not in path.parts
            present = inside and any(path in file.parents for file in files)
            url = re.sub(r"(?<=://)[^/@\s]+@", "", values.get("url", ""))
            found.append(Submodule(path, url, present))
    return tuple(found)
