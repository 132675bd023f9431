"""What is sent: a stream of known size and digest that is checked while it is sent."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Iterator

from rra.bundle.store import Descriptor
from rra.errors import CorruptError


class Body:
    """A file-like request body over chunks, of exactly a descriptor's size and digest.

    The last bytes are given only after everything before them and they themselves were
    checked, so that a wrong blob can never be completed on the other side.

    Args:
        descriptor: Size and digest of the whole.
        chunks: All of its bytes.
        where: What messages call the place that they go to.
        skip: Bytes at the beginning that are there already; they are read and hashed, not sent.
    """

    def __init__(
        self, descriptor: Descriptor, chunks: Iterable[bytes], where: str, *, skip: int = 0
    ) -> None:
        self.len = descriptor.size
        """Size in bytes: requests sends it as Content-Length."""
        self._descriptor, self._where = descriptor, where
        self._chunks = iter(chunks)
        self._state = hashlib.sha256()
        self._waiting = bytearray()
        self._given = self._skipped = 0
        try:
            while self._given < skip:
                self.read(min(skip - self._given, 1 << 20))
        except BaseException:
            self.close()
            raise
        self.len -= skip
        self._given -= skip
        self._skipped = skip

    def close(self) -> None:
        """Let go of the chunks, of which others may wait for what they hold."""
        if isinstance(self._chunks, Generator):
            self._chunks.close()

    def __iter__(self) -> Iterator[bytes]:
        """Yield blocks; requests wants to see that a body can be iterated."""
        while block := self.read(1 << 20):
            yield block

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, at most `size`; nothing at the end.

        Raises:
            CorruptError: The chunks are longer, shorter, or another blob.
        """
        left = self.len - self._given
        wanted = left if size < 0 else min(size, left)
        if not self._waiting and size >= 0 and wanted:
            # A chunk as it came, even if it is shorter: one copy less of each block.
            first = next(self._chunks, b"")
            if 0 < len(first) <= wanted:
                return self._give(first)
            self._waiting += first
        while len(self._waiting) < wanted and (chunk := next(self._chunks, None)) is not None:
            self._waiting += chunk
        if len(self._waiting) < wanted:
            found = self._skipped + self._given + len(self._waiting)
            raise self._refuse(f"ends after {found} of {self._descriptor.size} bytes")
        block = bytes(self._waiting[:wanted])
        del self._waiting[:wanted]
        return self._give(block)

    def _give(self, block: bytes) -> bytes:
        """Count and hash a block; look at the whole with the last one."""
        self._state.update(block)
        self._given += len(block)
        if self._given == self.len:
            self._check()
        return block

    def _check(self) -> None:
        """Look at the digest, and for bytes beyond the end."""
        if self._waiting or any(self._chunks):
            raise self._refuse(f"is longer than the {self._descriptor.size} bytes declared")
        found = "sha256:" + self._state.hexdigest()
        if found != self._descriptor.digest:
            raise self._refuse(f"has other content: its digest is {found}")

    def _refuse(self, what: str) -> CorruptError:
        message = f"blob {self._descriptor.digest} for {self._where} {what}"
        return CorruptError(message, hint="nothing of it was kept; make the bundle again")
