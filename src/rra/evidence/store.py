"""Records of runs on disk, one folder each, named by the digest of the record.

``evidence/<launcher>/<first 16 hex digits>/{record.json, events.jsonl, stdout.txt, stderr.txt,
outputs/…}``. A folder appears by one rename, complete; it is never changed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import shutil
from collections.abc import Iterator
from pathlib import Path

from rra._base import canonical, clock
from rra._base.files import (
    STAGING_PREFIX,
    atomic_write,
    remove_tree,
    sha256_bytes,
    staged_directory,
    storage_errors,
    sync_folder,
    sync_tree,
)
from rra.artifact import read_document
from rra.errors import CorruptError, FormatError
from rra.model import ExecutionRecord

RECORD = "record.json"
EVENTS = "events.jsonl"
STDOUT = "stdout.txt"
STDERR = "stderr.txt"
OUTPUTS = "outputs"

_SHORT, _FULL = 16, 64
_STALE_SECONDS = 86_400.0


def sweep_stale(folder: Path) -> None:
    """Remove what writers that were killed a day ago or earlier left in a folder."""
    for leftover in folder.glob(f"{STAGING_PREFIX}*"):
        remove_if_stale(leftover)


def remove_if_stale(leftover: Path) -> None:
    """Remove what nobody has changed for a day."""
    with contextlib.suppress(FileNotFoundError):  # removed by somebody else meanwhile
        if clock.now().timestamp() - leftover.lstat().st_mtime > _STALE_SECONDS:
            remove_tree(leftover)


@dataclasses.dataclass(frozen=True, slots=True)
class StoredRecord:
    """One execution record and where it lies.

    Attributes:
        record: The record.
        digest: Digest of its bytes without the last line feed; its folder is named after it.
        directory: Its folder.
    """

    record: ExecutionRecord
    digest: str
    directory: Path

    @property
    def outputs(self) -> Path:
        """Folder of what the run left, ``stdout.txt`` included."""
        return self.directory / OUTPUTS


def when(stored: StoredRecord) -> tuple[str, int, str]:
    """Return what records are ordered by: their ends, then the moments they were written."""
    written = (stored.directory / RECORD).stat().st_mtime_ns
    return stored.record.ended, written, stored.digest


class EvidenceStore:
    """The evidence of an artifact."""

    def __init__(self, root: Path) -> None:
        """Use the folder `root`; it is made when the first record comes."""
        self.root = root

    def add(self, staged: Path, record: ExecutionRecord) -> tuple[str, Path]:
        """Take over what a run left, together with its record.

        Args:
            staged: Folder with everything but the record; it is moved.
            record: What the run was.

        Returns:
            Digest of the record, and its folder, which stays also when the power is cut now.

        Raises:
            StorageError: The disk is full or refuses; nothing of this run is in the store.
        """
        content = canonical.dumps(record.to_json())
        digest = canonical.digest(record.to_json())
        with storage_errors(staged):
            sync_tree(staged)
            atomic_write(staged / RECORD, content + b"\n")
            sync_folder(staged)
        target = self._place(record.launcher.id, digest)
        if target.is_dir():
            remove_tree(staged)
            return digest, target
        with storage_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            sweep_stale(target.parent)
            try:
                staged.rename(target)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                with staged_directory(target) as inside:
                    shutil.copytree(staged, inside, symlinks=True, dirs_exist_ok=True)
                    sync_tree(inside)
                remove_tree(staged)
            for folder in (target.parent, self.root, self.root.parent):
                sync_folder(folder)
        return digest, target

    def held(self, launcher: str, digest: str) -> StoredRecord | None:
        """Return the record of a launcher with a digest, or None; damaged ones are passed over."""
        name = digest.removeprefix("sha256:")
        for folder in (self.root / launcher / name[:_SHORT], self.root / launcher / name[:_FULL]):
            with contextlib.suppress(CorruptError):
                if (folder / RECORD).is_file() and (found := self.read(folder)).digest == digest:
                    return found
        return None

    def records(self, launcher: str | None = None) -> list[StoredRecord]:
        """Return the records, of one launcher or of all, in the order of their ends.

        Runs that ended in the same second come in the order in which they were written.

        Raises:
            CorruptError: A record cannot be read.
        """
        found = [self.read(folder) for folder in self._folders(launcher)]
        return sorted(found, key=when)

    def intact(self, launcher: str | None = None) -> list[StoredRecord]:
        """Return the records that can be read, as `records` does; the others are passed over."""
        found = []
        for folder in self._folders(launcher):
            with contextlib.suppress(CorruptError):
                found.append(self.read(folder))
        return sorted(found, key=when)

    def unreadable(self, launcher: str | None = None) -> dict[Path, CorruptError]:
        """Return the folders whose record cannot be read, each with the reason."""
        found = {}
        for folder in self._folders(launcher):
            try:
                self.read(folder)
            except CorruptError as error:
                found[folder] = error
        return found

    def latest(self, launcher: str, *, ok: bool = True) -> StoredRecord | None:
        """Return the newest record of a launcher, by default of its successful runs.

        Raises:
            CorruptError: A record cannot be read.
        """
        found = [one for one in self.records(launcher) if one.record.ok or not ok]
        return found[-1] if found else None

    def find(self, digest: str) -> StoredRecord | None:
        """Return the record with a digest, or None.

        Raises:
            CorruptError: It cannot be read.
        """
        short = digest.removeprefix("sha256:")[:_SHORT]
        found = (self.read(folder) for folder in self._folders(None) if short in folder.name)
        return next((one for one in found if one.digest == digest), None)

    def _folders(self, launcher: str | None) -> Iterator[Path]:
        pattern = f"{launcher or '*'}/*/{RECORD}"
        for path in sorted(self.root.glob(pattern)):
            if not any(part.startswith(STAGING_PREFIX) for part in path.parts[-3:]):
                yield path.parent

    def _place(self, launcher: str, digest: str) -> Path:
        """Return the folder of a digest; longer names keep apart what begins alike."""
        name = digest.removeprefix("sha256:")
        short = self.root / launcher / name[:_SHORT]
        if not short.is_dir():
            return short
        with contextlib.suppress(CorruptError):
            if self.read(short).digest == digest:
                return short
        return self.root / launcher / name[:_FULL]

    def read(self, folder: Path) -> StoredRecord:
        """Return the record in a folder.

        Raises:
            CorruptError: It cannot be read.
        """
        path = folder / RECORD
        try:
            record = read_document(path, "execution-record", ExecutionRecord)
        except FormatError as error:
            first = error.problems[0]
            where = f", line {first.line}" if first.line else ""
            message = f"{path} is not an execution record: {first.message}{where}"
            hint = "remove that folder, or take it again from where it was made"
            raise CorruptError(message, hint=hint, problems=error.problems) from error
        content = path.read_bytes().removesuffix(b"\n")
        return StoredRecord(record, sha256_bytes(content), folder)
