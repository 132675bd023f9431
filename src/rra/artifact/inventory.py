"""Which files belong to which element of an artifact."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from rra._base.files import STAGING_PREFIX, walk_files
from rra.artifact import layout
from rra.model import Manifest


def code_files(root: Path, manifest: Manifest) -> tuple[PurePosixPath, ...]:
    """Return the files of the code, relative to the code's root, byte-sorted.

    In place (``code.root: .``) that is every file under the root that no other element
    owns. Caches, virtual environments and the like are passed over unless a pattern of
    ``code.exclude`` that starts with ``!`` takes them back; other patterns drop files. What
    is code depends on the files and the manifest alone, never on a ``.git`` beside them.
    """
    base = root if manifest.code.root == "." else root / manifest.code.root
    if not base.is_dir():
        return ()
    in_place = manifest.code.root == "."
    owned = _owned(manifest) if in_place else frozenset()
    dropped = [p for p in manifest.code.exclude if not p.startswith("!")]
    taken = [p[1:] for p in manifest.code.exclude if p.startswith("!")]
    kept = (
        path
        for path in walk_files(base)
        if not _is_owned(path, owned)
        if _matches(path, taken) or not (is_skipped(path) or _matches(path, dropped))
    )
    return tuple(kept)


def element_files(root: Path, manifest: Manifest, element: str) -> tuple[PurePosixPath, ...]:
    """Return the files of an element, relative to the artifact's root, byte-sorted."""
    if element == "code":
        prefix = PurePosixPath(manifest.code.root)
        return tuple(prefix / path for path in code_files(root, manifest))
    if element == "meta":
        return tuple(PurePosixPath(n) for n in layout.META_FILES if (root / n).is_file())
    if element == "data":
        return tuple(_files_of(root, (item.path for item in manifest.data.values())))
    folder = {"guide": layout.GUIDE_DIR, "environment": layout.ENVIRONMENT_DIR}
    names: list[str] = [folder.get(element, layout.LAUNCHERS_DIR)]
    if element == "guide":
        names += layout.HANDOFF_FILES
    return tuple(path for path in _files_of(root, names) if not is_skipped(path))


def _files_of(root: Path, names: Iterable[str]) -> Iterator[PurePosixPath]:
    found: set[PurePosixPath] = set()
    for name in names:
        place = root / name
        if place.is_dir() and not place.is_symlink():
            found.update(PurePosixPath(name) / path for path in walk_files(place))
        elif place.exists() or place.is_symlink():
            found.add(PurePosixPath(name))
    yield from sorted(found, key=lambda path: os.fsencode(str(path)))


def _owned(manifest: Manifest) -> frozenset[PurePosixPath]:
    names = [*layout.OWNED_DIRS, *layout.OWNED_FILES]
    names += [item.path for item in manifest.data.values()]
    names += [launcher.entry for launcher in manifest.launchers.values()]
    return frozenset(PurePosixPath(name) for name in names)


def _is_owned(path: PurePosixPath, owned: frozenset[PurePosixPath]) -> bool:
    return path in owned or any(parent in owned for parent in path.parents)


def is_skipped(path: PurePosixPath) -> bool:
    """Tell whether a file is passed over by default: caches, virtual environments, leftovers."""
    if path.name.startswith(STAGING_PREFIX) or path.suffix == ".pyc":
        return True
    return any(part in layout.SKIPPED_DIRS for part in path.parts[:-1])


def _matches(path: PurePosixPath, patterns: Iterable[str]) -> bool:
    text = str(path)
    for pattern in patterns:
        trimmed = pattern.rstrip("/")
        if fnmatch.fnmatchcase(text, trimmed) or fnmatch.fnmatchcase(text, trimmed + "/*"):
            return True
    return False
