"""The bytes of layers, made anew each time they are asked for.

A registry wants the digest of a blob before its bytes. So that no second copy has to lie on a
disk, what is measured is what is written or sent later: the same object, iterated once more.
Files have to be the ones that were looked at first, and whoever takes a blob whose digest is
known compares it.
"""

from __future__ import annotations

import abc
import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from rra.bundle import compress
from rra.bundle.blobcache import BlobCache, Draft
from rra.bundle.blocks import Blocks, stamp
from rra.bundle.canonical import CanonicalArchive
from rra.bundle.config import Compressor
from rra.bundle.limits import unpacked_limit
from rra.bundle.names import printable
from rra.errors import UnavailableError


class Content(abc.ABC):
    """Bytes that can be asked for again and again."""

    @abc.abstractmethod
    def pieces(self) -> Iterator[bytes | memoryview]:
        """Yield the bytes; each piece holds only until the next one is asked for.

        Raises:
            UnavailableError: A file is not the one any more that was looked at.
        """

    def __iter__(self) -> Iterator[bytes]:
        """Yield the bytes in pieces that hold.

        Raises:
            UnavailableError: A file is not the one any more that was looked at.
        """
        for piece in self.pieces():
            yield piece if isinstance(piece, bytes) else bytes(piece)


class FilePart(Content):
    """A stretch of a file, as it is."""

    def __init__(self, root: Path, path: PurePosixPath, start: int, size: int) -> None:
        """Look at the file.

        Args:
            root: Folder that it lies in.
            path: Its path there.
            start: First byte.
            size: Number of bytes.

        Raises:
            UnavailableError: It is gone.
        """
        self._place, self._path = root / path, path
        self._start, self._end = start, start + size
        try:
            self._before = stamp(self._place.lstat())
        except OSError as error:
            message = f"{printable(path)} cannot be read any more: {error.strerror or error}"
            raise UnavailableError(message, hint="run the same command again") from error

    def pieces(self) -> Iterator[bytes | memoryview]:
        """Yield the bytes of the stretch."""
        blocks = Blocks()
        place, start, end = str(self._place), self._start, self._end
        yield from blocks.file(place, self._before, self._path, start=start, end=end)
        yield blocks.rest()


class Plain(Content):
    """An archive without compression."""

    def __init__(self, archive: CanonicalArchive) -> None:
        """Take the archive."""
        self._archive = archive

    def pieces(self) -> Iterator[bytes | memoryview]:
        """Yield the archive."""
        return self._archive.blocks()


class Compressed(Content):
    """An archive, compressed; taken from the cache where it was compressed before.

    Attributes:
        compressor: How it is compressed.
        diff_id: Digest of the archive, once its bytes were asked for.
        size: Length of the archive, once its bytes were asked for.
    """

    def __init__(
        self, archive: CanonicalArchive, encoder: compress.Encoder, cache: BlobCache | None
    ) -> None:
        """Take the archive.

        Args:
            archive: The archive.
            encoder: What compresses it.
            cache: Where the same archive may have been compressed before.
        """
        self.compressor = Compressor(
            algorithm="zstd", level=compress.LEVEL, library=compress.library()
        )
        self.diff_id, self.size = "", 0
        self._archive, self._encoder, self._cache = archive, encoder, cache
        self._draft: Draft | None = None
        self._drafted = False

    def pieces(self) -> Iterator[bytes | memoryview]:
        """Yield the one frame of the compressed archive."""
        if self._cache is not None:
            if not self.diff_id and self._cache.knows(self._archive.size):
                self._seen(self._archive.blocks())
            if self.diff_id:
                with self._cache.find(self.diff_id, self.size, self.compressor) as blob:
                    if blob is not None:
                        yield from blob
                        return
        yield from self._anew()

    @contextlib.contextmanager
    def drafting(self) -> Iterator[None]:
        """Write down what is compressed first while the block runs, for `keep`."""
        if self._cache is None:
            yield
            return
        with self._cache.drafting(self._archive.size) as draft:
            self._draft = draft
            try:
                yield
            finally:
                self._draft = None

    def keep(self, digest: str, size: int) -> None:
        """Keep what was just compressed for the next time, unless readers take it for a bomb.

        Args:
            digest: Digest of the blob.
            size: Its length.
        """
        if self._cache is None or self._draft is None or not self._drafted:
            return
        if self.size <= unpacked_limit(size):
            self._cache.keep(self._draft, digest, self.diff_id, self.size, self.compressor)

    def _anew(self) -> Iterator[bytes]:
        """Compress the archive."""
        seen = Seen()
        chunks = self._encoder.compressed(seen.passing(self._archive.blocks()))
        if self._draft is not None and not self._drafted:
            self._drafted = True
            chunks = self._draft.passing(chunks)
        yield from chunks
        self.diff_id, self.size = seen.digest, seen.size

    def _seen(self, blocks: Iterable[memoryview]) -> None:
        """Find out what the archive is called, without compressing it."""
        seen = Seen()
        for _ in seen.passing(blocks):
            pass
        self.diff_id, self.size = seen.digest, seen.size


class Seen:
    """Digest and number of bytes of what passed."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._state = hashlib.sha256()
        self.size = 0

    @property
    def digest(self) -> str:
        """The digest so far."""
        return "sha256:" + self._state.hexdigest()

    def passing(self, blocks: Iterable[memoryview]) -> Iterator[memoryview]:
        """Yield blocks, and count and hash them."""
        for block in blocks:
            self._state.update(block)
            self.size += len(block)
            yield block
