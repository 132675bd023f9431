"""The folder of outputs, which several runs may share: each run's are replaced as a whole.

``outputs/<launcher>/`` holds what the launcher's only or usual run left, and
``outputs/<launcher>/<instance>/`` what a named instance left. A file in the latter tells the two
apart, so that new outputs of the usual run do not take those of the instances with them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from rra._base import clock
from rra._base.files import STAGING_PREFIX, remove_tree, storage_errors, walk_files
from rra.errors import UsageError
from rra.evidence import EvidenceStore, printable
from rra.launch.place import link_or_copy

INSTANCE_MARK = ".rra-instance"
"""File in the published outputs of a named instance; holds the digest of its record."""

KEPT = ".rra-kept"
"""Folder beside the outputs for files that somebody had put among them."""

_LOCK = ".rra-lock"
_NO_LOCKS = {errno.EBADF, errno.EINVAL, errno.ENOTSUP, errno.ENOLCK, errno.EISDIR}


@contextlib.contextmanager
def sole_owner(outputs_root: Path) -> Iterator[None]:
    """Wait until no other run, also of another process, reads or replaces outputs there.

    The lock goes with the process. Where a folder cannot be locked, as on some network file
    systems, a file in it is.

    Raises:
        StorageError: The folder cannot be written.
    """
    with storage_errors(outputs_root), contextlib.ExitStack() as stack:
        outputs_root.mkdir(parents=True, exist_ok=True)
        number = os.open(outputs_root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, number)
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            file = stack.enter_context((outputs_root / _LOCK).open("ab"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def provide_outputs(
    outputs_root: Path, needs: Mapping[str, str], target: Path, launcher: str
) -> None:
    """Put the outputs of other runs where a launcher looks for them, each as one run left it.

    Files are linked where the file system allows it; a sandbox shows them read-only.

    Args:
        outputs_root: Where outputs are published.
        needs: Place below it of what is read, by the place below `target` where it is put.
        target: The launcher's own ``RRA_OUTPUTS_ROOT``.
        launcher: Its id, for messages.

    Raises:
        UsageError: A run that is needed has left no outputs.
        StorageError: The disk is full or refuses.
    """
    if not needs:
        return
    with sole_owner(outputs_root), storage_errors(target):
        for place, source in needs.items():
            if not (outputs_root / source).is_dir():
                message = f"{launcher} needs the outputs of {source}, and there are none"
                raise UsageError(message, hint=f"run {source.partition('/')[0]} first")
            shutil.copytree(
                outputs_root / source,
                target / place,
                ignore=_not_of_the_run,
                copy_function=link_or_copy,
                symlinks=True,
                dirs_exist_ok=True,
            )


def _not_of_the_run(folder: str, names: Collection[str]) -> set[str]:
    """Return what of a folder is no output of the run it belongs to."""
    return {
        name
        for name in names
        if name == INSTANCE_MARK
        or name.startswith(STAGING_PREFIX)
        or (Path(folder) / name / INSTANCE_MARK).is_file()
    }


def publish_outputs(
    source: Path, outputs_root: Path, place: Path, *, record: str, evidence: EvidenceStore | None
) -> list[Path]:
    """Replace the outputs of an earlier run by a copy of those of this one, as a whole.

    A file there that no run is known to have left is somebody's own: it is set aside first.

    Args:
        source: What the run left.
        outputs_root: Where outputs are published.
        place: Place below it: the launcher, and the instance where it is named.
        record: Digest of the run's record.
        evidence: Where records are kept, which say what runs have left; None sets nothing aside.

    Returns:
        Where files were set aside.

    Raises:
        StorageError: The disk is full or refuses; the earlier outputs are as they were.
    """
    target = outputs_root / place
    spared: list[Path] = []
    staging, aside = (_staging(outputs_root) for _ in range(2))
    with storage_errors(target):
        outputs_root.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copytree(source, staging, symlinks=True)
            if len(place.parts) > 1:
                (staging / INSTANCE_MARK).write_text(f"{record}\n", "ascii")
            with sole_owner(outputs_root):
                target.parent.mkdir(exist_ok=True)
                if target.is_symlink() or target.exists():
                    if evidence is not None and not target.is_symlink():
                        spared = _set_aside(target, source, outputs_root, place, evidence)
                    if len(place.parts) == 1:
                        _keep_instances(target, staging)
                    target.rename(aside)
                staging.rename(target)
        finally:
            for left in (staging, aside):
                if left.is_symlink() or left.exists():
                    remove_tree(left)
    return spared


def _set_aside(
    target: Path, source: Path, outputs_root: Path, place: Path, evidence: EvidenceStore
) -> list[Path]:
    """Move what no run left in a folder of outputs to a folder beside it; return the new places."""
    ours = {printable(path) for path in walk_files(source)} | {INSTANCE_MARK}
    for stored in evidence.intact(place.parts[0]):
        ours |= {one.path for one in stored.record.outputs}
    stamp = clock.now().strftime("%Y%m%dT%H%M%S%f")
    kept = outputs_root / KEPT / f"{'-'.join(place.parts)}-{stamp}"
    moved = []
    for path in list(walk_files(target)):
        inside = (target / folder for folder in path.parents if folder.parts)
        if printable(path) in ours or any((one / INSTANCE_MARK).is_file() for one in inside):
            continue
        (kept / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).rename(kept / path)
        moved.append(kept / path)
    return moved


def _keep_instances(old: Path, new: Path) -> None:
    """Link the outputs of the launcher's instances into its new folder."""
    for mark in old.glob(f"*/{INSTANCE_MARK}"):
        kept = new / mark.parent.name
        if not kept.exists():
            shutil.copytree(mark.parent, kept, copy_function=link_or_copy, symlinks=True)


def _staging(folder: Path) -> Path:
    return folder / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
