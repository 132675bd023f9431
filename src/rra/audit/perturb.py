"""Writing decoys into the files of a place, everything else byte for byte as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from rra._base.files import atomic_write
from rra.audit.containers import open_container
from rra.audit.suspects import Suspect
from rra.errors import InternalError

Change = tuple[tuple[str, ...], int, int, bytes]
"""Way into containers, start, end, and the new bytes."""


def perturbed(root: Path, changes: Mapping[Suspect, bytes]) -> dict[PurePosixPath, bytes]:
    """Return the new content of every file that changes.

    Args:
        root: The place.
        changes: New bytes for each suspect number.
    """
    by_file: dict[PurePosixPath, list[Change]] = {}
    for suspect, content in changes.items():
        spot = suspect.spot
        change = (suspect.members, spot.start, spot.end, content)
        by_file.setdefault(suspect.path, []).append(change)
    return rewritten(root, by_file)


def rewritten(
    root: Path, changes: Mapping[PurePosixPath, list[Change]]
) -> dict[PurePosixPath, bytes]:
    """Return the new content of every file, by its changes; changes of a file do not overlap."""
    return {path: _rewrite((root / path).read_bytes(), changes[path]) for path in changes}


def _rewrite(data: bytes, changes: list[Change]) -> bytes:
    inner: dict[str, list[Change]] = {}
    for members, start, end, content in changes:
        if members:
            inner.setdefault(members[0], []).append((members[1:], start, end, content))
    if inner:
        container = open_container(data)
        if container is None:
            raise InternalError("a file that was opened as a container no longer is one")
        return container.rebuild(
            {name: _rewrite(container.parts[name], parts) for name, parts in inner.items()}
        )
    for _, start, end, content in sorted(changes, key=lambda change: change[1], reverse=True):
        data = data[:start] + content + data[end:]
    return data


@contextlib.contextmanager
def files_changed(root: Path, contents: Mapping[PurePosixPath, bytes | None]) -> Iterator[None]:
    """Give files of a place other content while the block runs; None takes a file away."""
    originals = {path: ((root / path).read_bytes(), _mode(root / path)) for path in contents}
    try:
        for path, content in contents.items():
            if content is None:
                (root / path).unlink()
            else:
                atomic_write(root / path, content, mode=originals[path][1])
        yield
    finally:
        for path, (content, mode) in originals.items():
            atomic_write(root / path, content, mode=mode)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777
