"""Identifiers of trees as git computes them (also SWHID ``swh:1:dir``)."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

_PREFIX = "swh:1:dir:"


def tree_id(root: Path, files: Iterable[PurePosixPath]) -> str:
    """Return ``swh:1:dir:<hex>`` of the tree that the named files make.

    The number is the one that ``git write-tree`` gives for the same files: SHA-1 over
    entries (mode, name, object), folders without files left out. Pipes, sockets and devices have
    no place in it, as in git's.

    Args:
        root: Folder that the files lie in.
        files: Paths relative to it; symbolic links are entries of their own.

    Source: git-scm.com, Git Internals - Git Objects; SWHID specification 1.2, §5.
    """
    tree: dict[str, object] = {}
    for path in files:
        entry = _blob_entry(root / path)
        if entry is None:
            continue
        folder = tree
        for part in path.parts[:-1]:
            inner = folder.setdefault(part, {})
            assert isinstance(inner, dict)  # noqa: S101 - a file is never also a folder
            folder = inner
        folder[path.name] = entry
    return _PREFIX + _hash_tree(tree).hex()


def tree_entries(root: Path, files: Iterable[PurePosixPath]) -> dict[str, tuple[str, str]]:
    """Return git's mode and object (40 hex digits) of each of the named files, by its path."""
    found = ((path, _blob_entry(root / path)) for path in files)
    return {str(path): (one[0].decode(), one[1].hex()) for path, one in found if one is not None}


def _blob_entry(path: Path) -> tuple[bytes, bytes] | None:
    """Return git's mode and object id of a file or a symbolic link; None of anything else."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return b"120000", _hash_object(b"blob", str(path.readlink()).encode())
    if not stat.S_ISREG(status.st_mode):
        return None
    mode = b"100755" if status.st_mode & stat.S_IXUSR else b"100644"
    return mode, _hash_file(path, status.st_size)


def _hash_file(path: Path, size: int) -> bytes:
    state = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            state.update(chunk)
    return state.digest()


def _hash_object(kind: bytes, content: bytes) -> bytes:
    header = kind + b" %d\0" % len(content)
    return hashlib.sha1(header + content, usedforsecurity=False).digest()


def _hash_tree(tree: dict[str, object]) -> bytes:
    entries: list[tuple[bytes, bytes]] = []
    for name, value in tree.items():
        encoded = name.encode("utf-8", "surrogateescape")
        if isinstance(value, dict):
            entries.append((encoded + b"/", b"40000 " + encoded + b"\0" + _hash_tree(value)))
        else:
            assert isinstance(value, tuple)  # noqa: S101 - built above
            mode, digest = value
            entries.append((encoded, mode + b" " + encoded + b"\0" + digest))
    return _hash_object(b"tree", b"".join(entry for _, entry in sorted(entries)))
