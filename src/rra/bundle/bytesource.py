"""A stream read in exact pieces: bounded, hashed on the way, and read to its very end."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import BinaryIO

from rra.errors import ArchiveError, InternalError, StorageError

CHUNK = 1 << 18
"""Bytes that are asked for at a time, and the most that is held."""

_PEEK = 4

HINT = "fetch it again; when it stays so, ask its author to pack it with `rra pack`"
"""What to do about an archive that is refused."""


class ByteSource:
    """Exact reads from a stream that may end early, go on for ever, or fail.

    Attributes:
        what: What messages call the stream.
    """

    def __init__(self, stream: BinaryIO, limit: int, what: str, *, hashed: bool = True) -> None:
        """Read from a stream.

        Args:
            stream: Gives at most as many bytes as it is asked for, and none at its end.
            limit: Bytes after which reading stops with an error.
            what: What messages call the stream.
            hashed: Whether `digest` will be asked for.
        """
        self._stream = stream
        self._limit = limit
        self.what = what
        self._state = hashlib.sha256() if hashed else None
        self._view = memoryview(b"")
        self._given = 0

    @property
    def position(self) -> int:
        """Bytes that were given out."""
        return self._given

    @property
    def remaining(self) -> int:
        """Bytes that the limit still allows."""
        return self._limit - self._given

    def read(self, size: int) -> bytes:
        """Return exactly `size` bytes, which the caller bounds.

        Raises:
            ArchiveError: The stream ends before, or is longer than allowed.
        """
        if size <= len(self._view):
            data = bytes(self._view[:size])
            self._view = self._view[size:]
            self._given += size
            return data
        return b"".join(self.chunks(size))

    def chunks(self, size: int) -> Iterator[memoryview]:
        """Yield exactly `size` bytes in pieces.

        Raises:
            ArchiveError: The stream ends before, or is longer than allowed.
        """
        while size:
            if not self._view and not self._fill():
                raise ArchiveError(f"{self.what} ends too early", hint=HINT)
            piece = self._view[:size]
            self._view = self._view[len(piece) :]
            self._given += len(piece)
            size -= len(piece)
            yield piece

    def some(self) -> memoryview:
        """Return the next bytes, as many as there are at hand, or none at the end."""
        if not self._view:
            self._fill()
        piece, self._view = self._view, memoryview(b"")
        self._given += len(piece)
        return piece

    def peek(self) -> bytes:
        """Return the next four bytes without taking them; fewer only where the stream ends."""
        while len(self._view) < _PEEK and self._fill():
            pass
        return bytes(self._view[:_PEEK])

    def digest(self) -> str:
        """Return ``sha256:<hex>`` of everything read; at the end of the stream, of all of it.

        Raises:
            InternalError: The source does not hash.
        """
        if self._state is None:
            raise InternalError("a source that does not hash was asked for its digest")
        return "sha256:" + self._state.hexdigest()

    def _fill(self) -> bool:
        """Read on behind what is at hand, and tell whether there was anything."""
        try:
            chunk = self._stream.read(CHUNK)
        except OSError as error:
            message = f"{self.what} cannot be read: {error.strerror or error}"
            raise StorageError(message, hint="run the same command again") from error
        if self._given + len(self._view) + len(chunk) > self._limit:
            message = f"{self.what} is longer than the {self._limit:,} bytes that are allowed"
            raise ArchiveError(message, hint=HINT)
        if self._state is not None:
            self._state.update(chunk)
        self._view = memoryview(bytes(self._view) + chunk if self._view else chunk)
        return bool(chunk)
