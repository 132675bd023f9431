"""Compressed layers that were made before, so that unchanged files are not compressed again.

An entry is found by what it was made from and how: the digest of the archive, the compressor, its
level and its library. Its own digest is part of its name and is checked before it is used, so a
damaged entry is removed and nothing else. A folder that cannot be written, or has no room, only
makes packing slower. Old entries go when there are too many.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from rra._base.places import cache_root
from rra.bundle.config import Compressor
from rra.bundle.staging import claimed
from rra.errors import StorageError

FOLDER = "layers"
"""Name of the folder in the cache."""

MAX_BYTES = 4 << 30
"""Bytes that the entries may have together."""

MAX_ENTRIES = 1000
SPARE_BYTES = 1 << 30
"""Bytes that stay free on the disk; where fewer are free, nothing is kept."""

_NAME = re.compile(r"(?P<size>[0-9]{1,15})-(?P<key>[0-9a-f]{64})-(?P<digest>[0-9a-f]{64})")
_BLOCK = 1 << 20
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class CachedBlob:
    """A blob of the cache, whose bytes can be asked for again and again.

    Attributes:
        digest: Its digest.
        size: Its length in bytes.
    """

    def __init__(self, file: BinaryIO, digest: str, size: int) -> None:
        """Take an open file that was checked."""
        self._file = file
        self.digest = digest
        self.size = size

    def __iter__(self) -> Iterator[bytes]:
        """Yield the bytes, from the start each time."""
        self._file.seek(0)
        while block := self._file.read(_BLOCK):
            yield block


class BlobCache:
    """Compressed layers by what they were made from.

    A cache without a folder to write into gives what it has, and keeps nothing.
    """

    def __init__(
        self,
        folder: Path,
        drafts: Path | None,
        *,
        max_bytes: int = MAX_BYTES,
        spare_bytes: int = SPARE_BYTES,
    ) -> None:
        """Name the folders.

        Args:
            folder: Where entries lie.
            drafts: Folder on the same disk for what is being written; None to keep nothing.
            max_bytes: Bytes of all entries, at most.
            spare_bytes: Bytes that stay free on the disk.
        """
        self._folder = folder
        self._drafts = drafts
        self._max_bytes = max_bytes
        self._spare_bytes = spare_bytes

    def knows(self, size: int) -> bool:
        """Tell whether there is an entry for any archive of that length."""
        return any(int(found["size"]) == size for found, _ in self._entries())

    @contextlib.contextmanager
    def find(self, diff_id: str, size: int, compressor: Compressor) -> Iterator[CachedBlob | None]:
        """Give the blob that was made from an archive, checked, or None.

        Args:
            diff_id: Digest of the archive.
            size: Its length.
            compressor: How the blob is to be made.
        """
        key = _key(diff_id, compressor)
        with contextlib.ExitStack() as files:
            for found, path in self._entries():
                if int(found["size"]) != size or found["key"] != key:
                    continue
                blob = _checked(path, f"sha256:{found['digest']}", files)
                if blob is not None:
                    yield blob
                    return
                with contextlib.suppress(OSError):
                    path.unlink()
            yield None

    @contextlib.contextmanager
    def drafting(self, size: int) -> Iterator[Draft]:
        """Give a draft for a blob that is being made; it goes unless it is kept.

        Args:
            size: Length of the archive that it is made from; the blob will hardly be longer.
        """
        draft = Draft(self._place(size))
        try:
            yield draft
        finally:
            draft.drop()

    def keep(
        self, draft: Draft, digest: str, diff_id: str, size: int, compressor: Compressor
    ) -> None:
        """Make an entry of a draft, and remove the oldest ones where there are too many."""
        name = f"{size}-{_key(diff_id, compressor)}-{digest.removeprefix('sha256:')}"
        draft.rename(self._folder / name)
        self._bound()

    def _place(self, size: int) -> Path | None:
        """Return where a draft may be written, if there is room."""
        if self._drafts is None:
            return None
        try:
            free = shutil.disk_usage(self._drafts).free
        except OSError:
            return None
        return self._drafts / "draft" if free - size > self._spare_bytes else None

    def _entries(self) -> Iterator[tuple[re.Match[str], Path]]:
        try:
            paths = sorted(self._folder.iterdir())
        except OSError:
            return
        for path in paths:
            if found := _NAME.fullmatch(path.name):
                yield found, path

    def _bound(self) -> None:
        """Remove the entries that were not used for longest, as far as there are too many."""
        found: list[tuple[int, int, Path]] = []
        for _, path in self._entries():
            with contextlib.suppress(OSError):
                status = path.lstat()
                found.append((status.st_mtime_ns, status.st_size, path))
        total = sum(size for _, size, _ in found)
        count = len(found)
        for _, size, path in sorted(found):
            if total <= self._max_bytes and count <= MAX_ENTRIES:
                return
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size
            count -= 1


class Draft:
    """A file that is written beside the real thing; whatever goes wrong with it ends it only."""

    def __init__(self, place: Path | None) -> None:
        """Open the file; None for a draft that keeps nothing."""
        self._place = place
        self._file: BinaryIO | None = None
        if place is not None:
            with contextlib.suppress(OSError):
                self._file = place.open("wb", buffering=0)

    def passing(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield chunks, and write them down on the way."""
        for chunk in chunks:
            if self._file is not None:
                self._write(self._file, chunk)
            yield chunk

    def _write(self, file: BinaryIO, chunk: bytes) -> None:
        view = memoryview(chunk)
        try:
            while view:
                view = view[file.write(view) :]
        except OSError:
            self.drop()

    def rename(self, path: Path) -> None:
        """Give the file its name, if it was written."""
        if self._file is None or self._place is None:
            return
        with contextlib.suppress(OSError):
            self._place.chmod(0o600)
            self._place.replace(path)
        self.drop()

    def drop(self) -> None:
        """End the draft; what was written goes, unless it was renamed."""
        if self._file is not None and self._place is not None:
            self._file.close()
            self._file = None
            with contextlib.suppress(OSError):
                self._place.unlink(missing_ok=True)


@contextlib.contextmanager
def blob_cache() -> Iterator[BlobCache]:
    """Give the cache of this user, with a place to write when there can be one.

    What killed processes left in it goes first.
    """
    folder = cache_root() / FOLDER
    with contextlib.ExitStack() as stack:
        try:
            drafts = stack.enter_context(claimed(folder, mode=0o700))
        except (OSError, StorageError):
            drafts = None
        yield BlobCache(folder, drafts)


def _key(diff_id: str, compressor: Compressor) -> str:
    parts = (diff_id, compressor.algorithm, str(compressor.level), compressor.library)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _checked(path: Path, digest: str, files: contextlib.ExitStack) -> CachedBlob | None:
    """Open an entry and read all of it; None when it is not what its name says."""
    try:
        number = os.open(path, _FLAGS)
        file = files.enter_context(os.fdopen(number, "rb", buffering=0))
        if not stat.S_ISREG(os.fstat(number).st_mode):
            return None
        state = hashlib.file_digest(file, "sha256")
        size = file.tell()
    except OSError:
        return None
    if "sha256:" + state.hexdigest() != digest:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # it was used just now
    return CachedBlob(file, digest, size)
