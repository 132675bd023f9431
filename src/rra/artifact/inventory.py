"""Which files belong to which element of an artifact."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath

from rra._base.files import STAGING_PREFIX, walk_names
from rra.artifact import layout
from rra.model import Manifest


def code_files(root: Path, manifest: Manifest) -> tuple[PurePosixPath, ...]:
    """Return the files of the code, relative to the code's root, byte-sorted.

    In place (``code.root: .``) that is every file under the root that no other element
    owns. Caches, virtual environments and the like are passed over unless a pattern of
    ``code.exclude`` that starts with ``!`` takes them back; other patterns, and those of
    ``.rraignore``, drop files. Declared data that is not bundled is no code, wherever it lies.
    What is code depends on the files and the manifest alone, never on a ``.git`` beside them.
    """
    return tuple(map(PurePosixPath, _code_names(root, manifest)))


def _code_names(root: Path, manifest: Manifest) -> Iterator[str]:
    """Yield the files of the code as text: there may be many, and a path object takes long."""
    in_place = manifest.code.root == "."
    base = root if in_place else root / manifest.code.root
    if not base.is_dir():
        return
    prefix = "" if in_place else f"{PurePosixPath(manifest.code.root)}/"
    owned = _owned(manifest) if in_place else _elsewhere(manifest)
    is_ignored = ignored_by(root)
    dropped = [p for p in manifest.code.exclude if not p.startswith("!")]
    taken = [p[1:] for p in manifest.code.exclude if p.startswith("!")]
    for name in walk_names(base):
        whole = prefix + name
        if lies_in(whole, owned) or is_ignored(whole):
            continue
        if _matches(name, taken) or not (is_skipped(name) or _matches(name, dropped)):
            yield name


def element_files(root: Path, manifest: Manifest, element: str) -> tuple[PurePosixPath, ...]:
    """Return the files of an element, relative to the artifact's root, byte-sorted."""
    return tuple(map(PurePosixPath, _element_names(root, manifest, element)))


def _element_names(root: Path, manifest: Manifest, element: str) -> Iterator[str]:
    if element == "code":
        code = PurePosixPath(manifest.code.root)
        prefix = f"{code}/" if code.parts else ""
        yield from (prefix + name for name in _code_names(root, manifest))
        return
    if element == "meta":
        yield from (name for name in layout.META_FILES if (root / name).is_file())
        return
    is_ignored = ignored_by(root)
    for name in _names_in(root, _names_of(manifest, element)):
        # The records of evidence say which files there are, and data is declared file by file.
        if element == "evidence" or not (
            is_ignored(name) or (element != "data" and is_skipped(name))
        ):
            yield name


def packed_files(root: Path, manifest: Manifest, element: str) -> tuple[PurePosixPath, ...]:
    """Return the files of an element that travel, relative to the artifact's root.

    Those are its files without data that is declared as fetched, gated or private: that may be
    on this machine, and is not on others.
    """
    return tuple(map(PurePosixPath, packed_names(root, manifest, element)))


def packed_names(root: Path, manifest: Manifest, element: str) -> Iterator[str]:
    """Yield what `packed_files` returns as text: there may be many files."""
    elsewhere = _elsewhere(manifest)
    for name in _element_names(root, manifest, element):
        if not lies_in(name, elsewhere):
            yield name


def left_behind(root: Path, manifest: Manifest) -> tuple[PurePosixPath, ...]:
    """Return the files that belong to no element, so that they do not travel; byte-sorted.

    Passed over are outputs, what `element_files` passes over or ``.rraignore`` drops, data that
    is declared, wherever it is to be had, and what is hidden (its name begins with a dot).
    """
    if manifest.code.root == ".":
        return ()  # the code is all that no other element owns
    claimed = {*layout.OWNED_DIRS, *layout.OWNED_FILES, *layout.META_FILES, manifest.code.root}
    claimed |= {item.path for item in manifest.data.values()}
    for element in ("guide", "environment", "launchers"):
        claimed |= set(_names_of(manifest, element))
    places = frozenset(str(PurePosixPath(name)) for name in claimed)
    is_ignored = ignored_by(root)
    return tuple(
        path
        for path in _walk_outside(root, places)
        if not (is_ignored(path) or is_skipped(path) or path.name.startswith("."))
    )


def _walk_outside(root: Path, places: frozenset[str]) -> Iterator[PurePosixPath]:
    """Yield the files below a folder that lie in none of some places, which are not entered."""
    found: list[str] = []
    for folder, folders, files in os.walk(root):
        inside = os.path.relpath(folder, root)
        prefix = "" if inside == "." else f"{inside}/"
        folders[:] = [
            name
            for name in folders
            if prefix + name not in places
            and name not in layout.SKIPPED_DIRS
            and not name.startswith(".")
        ]
        found += [prefix + name for name in files if prefix + name not in places]
    yield from map(PurePosixPath, sorted(found, key=os.fsencode))


def _nothing(path: PurePosixPath | str) -> bool:
    del path
    return False


def ignored_by(root: Path) -> Callable[[PurePosixPath | str], bool]:
    """Return what tells whether the artifact's ``.rraignore`` drops a file.

    The file has the syntax of ``.gitignore``. Meta files and evidence are never dropped.
    """
    rules = root / layout.IGNORE
    if not rules.is_file():
        return _nothing
    from pathspec import GitIgnoreSpec

    spec = GitIgnoreSpec.from_lines(rules.read_text("utf-8-sig", "replace").splitlines())
    return lambda path: spec.match_file(str(path))


def _names_of(manifest: Manifest, element: str) -> list[str]:
    """Return the files and folders that an element is made of."""
    if element == "data":
        return [item.path for item in manifest.data.values()]
    environments = manifest.environments.values()
    places: dict[str, list[str | None]] = {
        "guide": [manifest.guide],
        "environment": [name for e in environments for name in (e.lock, e.wheels)],
        "launchers": [launcher.entry for launcher in manifest.launchers.values()],
    }
    folders: dict[str, list[str]] = {
        "guide": [layout.GUIDE_DIR, *layout.HANDOFF_FILES],
        "environment": [layout.ENVIRONMENT_DIR],
        "launchers": [layout.LAUNCHERS_DIR],
        "evidence": [layout.EVIDENCE_DIR],
    }
    code = PurePosixPath(manifest.code.root)
    named = [name for name in places.get(element, []) if name]
    if element == "launchers" and manifest.code.root == ".":
        return folders[element] + named
    return folders[element] + [n for n in named if not PurePosixPath(n).is_relative_to(code)]


def _names_in(root: Path, names: Iterable[str]) -> list[str]:
    """Return the files that some names stand for, or that lie in folders of these names."""
    found: set[str] = set()
    for name in map(str, map(PurePosixPath, names)):
        place = root / name
        if place.is_dir() and not place.is_symlink():
            prefix = "" if name == "." else f"{name}/"
            found.update(prefix + inside for inside in walk_names(place))
        elif place.exists() or place.is_symlink():
            found.add(name)
    return sorted(found, key=os.fsencode)


def _owned(manifest: Manifest) -> frozenset[str]:
    names = [*layout.OWNED_DIRS, *layout.OWNED_FILES]
    names += [item.path for item in manifest.data.values()]
    names += [launcher.entry for launcher in manifest.launchers.values()]
    return frozenset(str(PurePosixPath(name)) for name in names)


def _elsewhere(manifest: Manifest) -> frozenset[str]:
    """Return where data lies that is not bundled."""
    items = manifest.data.values()
    return frozenset(str(PurePosixPath(i.path)) for i in items if i.access != "bundled")


def lies_in(path: PurePosixPath | str, places: Collection[str]) -> bool:
    """Tell whether a path is one of some files and folders, or lies in one of them."""
    if not places:
        return False
    text = str(path)
    end = text.find("/")
    while end >= 0:
        if text[:end] in places:
            return True
        end = text.find("/", end + 1)
    return text in places


def is_skipped(path: PurePosixPath | str) -> bool:
    """Tell whether a file is passed over by default: caches, virtual environments, leftovers."""
    *folders, name = str(path).split("/")
    if name.startswith(STAGING_PREFIX) or name == ".git" or name.endswith(".pyc"):
        return True
    return not layout.SKIPPED_DIRS.isdisjoint(folders)


def _matches(text: str, patterns: Iterable[str]) -> bool:
    for pattern in patterns:
        trimmed = pattern.rstrip("/")
        if fnmatch.fnmatchcase(text, trimmed) or fnmatch.fnmatchcase(text, trimmed + "/*"):
            return True
    return False
