"""The places of a run: a stranger's copy of an artifact, and a private copy of its code."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

from rra._base.files import (
    atomic_write,
    copy_files,
    remove_tree,
    staged_directory,
    storage_errors,
)
from rra.artifact import Artifact, layout, load_artifact

ELEMENTS = ("meta", "guide", "environment", "launchers", "code", "data")
LARGE = 256 * 1024 * 1024
"""Files of data from this size on are linked into a copy of the code, not copied."""


def stage_place(
    artifact: Artifact,
    target: Path,
    *,
    overrides: Mapping[PurePosixPath, bytes] | None = None,
    removed: Collection[PurePosixPath] = (),
) -> Artifact:
    """Copy an artifact as a stranger gets it: its elements, no evidence, no outputs, no history.

    Args:
        artifact: The artifact.
        target: Folder of the copy; what is there is replaced.
        overrides: New content of files, by path in the artifact.
        removed: Files that the copy shall not have.

    Returns:
        The copy, loaded anew.

    Raises:
        StorageError: The disk is full or refuses; the target is as it was.
        FormatError: An override breaks the manifest.
    """
    changed = overrides or {}
    files = [path for path in artifact_files(artifact) if path not in removed]
    with staged_directory(target) as staging:
        copy_files(artifact.root, staging, [path for path in files if path not in changed])
        for path, content in changed.items():
            source = artifact.root / path
            mode = source.stat().st_mode & 0o777 if source.is_file() else 0o644
            atomic_write(staging / path, content, mode=mode)
    return load_artifact(target)


def artifact_files(artifact: Artifact) -> list[PurePosixPath]:
    """Return every file of an artifact's elements, relative to its root, byte-sorted."""
    found = {path for element in ELEMENTS for path in artifact.element_files(element)}
    manifest = artifact.manifest
    named = [launcher.entry for launcher in manifest.launchers.values()]
    named += [env.lock for env in manifest.environments.values() if env.lock]
    found |= {PurePosixPath(name) for name in named if artifact.path(name).is_file()}
    return sorted(found, key=os.fsencode)


def copy_code(artifact: Artifact, target: Path) -> None:
    """Make the private writable copy of the code in which a launcher works.

    Declared data that lies within the code is in the copy too, where the code expects it.

    Raises:
        StorageError: The disk is full or refuses.
    """
    copy_files(artifact.code_root, target, artifact.code_files())
    with storage_errors(target):
        for path in _data_in_code(artifact):
            source = artifact.code_root / path
            destination = target / path
            destination.parent.mkdir(parents=True, exist_ok=True)
            if source.is_symlink() or source.stat().st_size < LARGE:
                shutil.copy2(source, destination, follow_symlinks=False)
            else:
                destination.symlink_to(source)
        _mend_links(artifact, target)


def _data_in_code(artifact: Artifact) -> Iterator[PurePosixPath]:
    inside = PurePosixPath(artifact.manifest.code.root)
    for path in artifact.element_files("data"):
        if path.is_relative_to(inside):
            yield path.relative_to(inside)


def _mend_links(artifact: Artifact, target: Path) -> None:
    """Let links of the code that lead elsewhere in the artifact lead there from the copy."""
    for path in artifact.code_files():
        link = target / path
        if not link.is_symlink() or link.exists():
            continue
        wanted = (artifact.code_root / path).resolve()
        if wanted.is_relative_to(artifact.root) and wanted.exists():
            link.unlink()
            link.symlink_to(wanted)


def link_or_copy(source: str | Path, target: str | Path) -> None:
    """Link a file to a second name, or copy it where that cannot be done."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def hidden_places(artifact: Artifact) -> list[Path]:
    """Return what of an artifact no launcher may see: evidence, outputs, history.

    Each may be a link to another disk, and it is the folder itself that is hidden.
    """
    names = (layout.EVIDENCE_DIR, layout.OUTPUTS_DIR, ".git")
    return [Path(os.path.realpath(artifact.root / name)) for name in names]


def remove_place(place: Path) -> None:
    """Remove a stranger's copy, also one whose parts were made read-only."""
    if place.exists():
        remove_tree(place)
