"""Folders of campaigns: the plan that was last carried out on an artifact, kept to be resumed.

They lie beside the outputs, which are never packed. A folder whose client lives is locked; of
those that nobody holds only the newest is kept, and any of whose tasks a cluster may still hold.
"""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from rra._base import clock
from rra._base.files import remove_tree, storage_errors
from rra.errors import CorruptError, StorageError
from rra.launch.claims import forget_old
from rra.launch.execute import has_ended
from rra.launch.tasks import PLAN, Plan, read_plan

FOLDER = ".rra-runs"
LOCAL = "local"

_OWNER = "owner"


@contextlib.contextmanager
def campaign_folder(
    outputs_root: Path, plan: Plan, *, taken_up: Path | None = None
) -> Iterator[Path]:
    """Make, or take up, the folder of a campaign, and hold it until the block ends.

    Args:
        outputs_root: Where outputs are published.
        plan: The plan; it is written into a new folder.
        taken_up: Folder of a campaign that goes on.

    Raises:
        StorageError: The disk is full or refuses.
    """
    base = outputs_root / FOLDER
    stamp = clock.now().strftime("%Y%m%dT%H%M%S%f")
    folder = taken_up or base / f"{stamp}-{plan.nonce[:8]}"
    with storage_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        owner = (folder / _OWNER).open("ab")
    with owner:
        fcntl.flock(owner, fcntl.LOCK_EX)
        if taken_up is None:
            try:
                plan.write(folder / PLAN)
            except StorageError:
                _undo(folder)
                raise
            _prune(base, keep=folder)
            forget_old(outputs_root)
        yield folder


def _undo(folder: Path) -> None:
    """Remove a folder that got no plan, and those above it that were made for it alone."""
    remove_tree(folder)
    with contextlib.suppress(OSError):
        folder.parent.rmdir()
        folder.parent.parent.rmdir()


def latest_campaign(outputs_root: Path) -> tuple[Path, Plan] | None:
    """Return folder and plan of the newest campaign whose plan can be read, or None."""
    for folder in sorted((outputs_root / FOLDER).glob("*"), reverse=True):
        with contextlib.suppress(CorruptError):
            return folder, read_plan(folder / PLAN)
    return None


def _prune(base: Path, *, keep: Path) -> None:
    for folder in base.iterdir():
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            if folder == keep:
                continue
            with (folder / _OWNER).open("ab") as owner:
                fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not _is_held_elsewhere(folder):
                    remove_tree(folder)


def _is_held_elsewhere(folder: Path) -> bool:
    try:
        plan = read_plan(folder / PLAN)
    except CorruptError:
        return False
    return plan.backend != LOCAL and not all(has_ended(folder, task) for task in plan)
