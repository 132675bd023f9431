"""The private folders of one run, removed when it ends and swept when it was killed."""

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

    def free_reserve(self) -> None:
        """Give the room back: now the record is written."""
        self.reserve.unlink(missing_ok=True)


@contextlib.contextmanager
def workspace(outputs_root: Path) -> Iterator[Workspace]:
    """Make the folders of a run below the outputs, and remove them when the block ends.

    A process that is killed leaves them; the next run there removes them, since the lock that
    says that they are in use went with the process.

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
            remove_tree(root)


def _sweep(folder: Path) -> None:
    """Remove what killed runs left: folders that nobody holds, and other leftovers of a day ago."""
    for leftover in folder.glob(f"{STAGING_PREFIX}*"):
        with contextlib.suppress(FileNotFoundError):  # its own process removes it just now
            if leftover.name.endswith(_NEW) or not (leftover / _OWNER).is_file():
                remove_if_stale(leftover)
                continue
            owner = (leftover / _OWNER).open("rb")
            with owner, contextlib.suppress(BlockingIOError):  # in use
                fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(leftover)
