"""The private folders of one run, removed when it ends.

Those of a run that was killed stay until its record is made from them (`rra.launch.recovery`);
where no evidence of it is kept, the next run there removes them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rra._base.files import STAGING_PREFIX, remove_tree, storage_errors
from rra.evidence.store import remove_if_stale

JOURNAL = "journal.jsonl"
"""File in the folder of a run with what is known of it while it goes on."""

_OWNER = ".owner"
_RESERVE, _RESERVE_PART = 4 << 20, 16
_NEW = ".new"
"""End of the name of a folder whose lock is not held yet."""

_LONGEST_TEMPORARY = 60
"""Sockets of multiprocessing live below TMPDIR and may have 107 bytes in all."""


@dataclasses.dataclass(frozen=True, slots=True)
class Workspace:
    """The folders of a run.

    Attributes:
        root: All of them but `temporary`, on the file system of the outputs.
        temporary: Folder for temporary files, with a short path.
    """

    root: Path
    temporary: Path

    @property
    def code(self) -> Path:
        """The private copy of the code; the working directory."""
        return self.root / "code"

    @property
    def outputs(self) -> Path:
        """What `RRA_OUTPUTS_ROOT` names."""
        return self.root / "outputs"

    @property
    def home(self) -> Path:
        """An empty home."""
        return self.root / "home"

    @property
    def given(self) -> Path:
        """Files that the launcher reads and we wrote: parameters, the observer."""
        return self.root / "given"

    @property
    def seen(self) -> Path:
        """Where the observer writes."""
        return self.root / "seen"

    @property
    def record(self) -> Path:
        """The evidence as it is put together."""
        return self.root / "record"

    @property
    def trace(self) -> Path:
        """The named pipe of strace, out of the launcher's reach in a sandbox."""
        return self.root / "trace"

    @property
    def reserve(self) -> Path:
        """Room on the disk that is kept for the record of a run that fills it."""
        return self.root / ".reserve"

    @property
    def journal(self) -> Path:
        """What is known of the run while it goes on."""
        return self.root / JOURNAL

    def give_sign(self) -> None:
        """Note that the run goes on, for whoever finds it cut off."""
        with contextlib.suppress(OSError):
            os.utime(self.journal)

    def free_reserve(self) -> None:
        """Give the room back: now the record is written."""
        self.reserve.unlink(missing_ok=True)

    def settle(self) -> None:
        """Note that nothing of the run has to be kept here any more."""
        self.journal.unlink(missing_ok=True)


@contextlib.contextmanager
def workspace(outputs_root: Path) -> Iterator[Workspace]:
    """Make the folders of a run below the outputs, and remove them when the block ends.

    A process that is killed leaves them. The next run there removes them, since the lock that
    says that they are in use went with the process; but not those with a journal, which also an
    error in the block leaves: what they hold is not in the evidence yet.

    Raises:
        StorageError: The disk is full or refuses.
    """
    with contextlib.ExitStack() as stack:
        with storage_errors(outputs_root):
            outputs_root.mkdir(parents=True, exist_ok=True)
            _sweep(outputs_root)
            root = outputs_root.resolve() / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
            stack.enter_context(_owned(root))
            temporary = root / "tmp"
            if len(str(temporary)) > _LONGEST_TEMPORARY:
                temporary = Path(tempfile.mkdtemp(prefix="rra-"))
                stack.callback(remove_tree, temporary)
            space = Workspace(root, temporary)
            places = (space.code, space.outputs, space.home, space.given, space.seen, space.record)
            for place in (*places, temporary):
                place.mkdir(exist_ok=True)
            _keep_room(space.reserve)
        yield space


def _keep_room(file: Path) -> None:
    """Take some of what is free, where the file system can promise it."""
    status = os.statvfs(file.parent)
    size = min(_RESERVE, status.f_bavail * status.f_frsize // _RESERVE_PART)
    with contextlib.suppress(OSError), file.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, max(size, 1))


@contextlib.contextmanager
def _owned(root: Path) -> Iterator[None]:
    """Make a folder that nobody sees before its lock is held, and remove it at the end."""
    new = root.with_name(f"{root.name}{_NEW}")
    new.mkdir()
    with (new / _OWNER).open("wb") as owner:
        fcntl.flock(owner, fcntl.LOCK_EX)
        new.rename(root)
        try:
            yield
        finally:
            if not (root / JOURNAL).exists():
                remove_tree(root)


@contextlib.contextmanager
def abandoned(folder: Path) -> Iterator[bool]:
    """Hold the folder of a run that nobody holds any more; tell whether that is so."""
    if folder.name.endswith(_NEW):
        yield False
        return
    with contextlib.ExitStack() as stack:
        held = False
        with contextlib.suppress(FileNotFoundError, BlockingIOError, NotADirectoryError):
            owner = stack.enter_context((folder / _OWNER).open("rb"))
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = os.fstat(owner.fileno()).st_nlink > 0  # else another one has just removed it
        yield held


def _sweep(folder: Path) -> None:
    """Remove what killed runs left and nothing is to be made of; other leftovers after a day."""
    for leftover in folder.glob(f"{STAGING_PREFIX}*"):
        with contextlib.suppress(FileNotFoundError):  # its own process removes it just now
            if leftover.name.endswith(_NEW) or not (leftover / _OWNER).is_file():
                remove_if_stale(leftover)
                continue
            with abandoned(leftover) as ours:
                if ours and not (leftover / JOURNAL).exists():
                    remove_tree(leftover)
