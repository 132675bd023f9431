"""Bytes of files and headers gathered in one buffer, without a copy and in pieces of one size."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from rra.bundle.names import printable
from rra.errors import UnavailableError

BLOCK = 1 << 20
"""Bytes of a piece; only the last one of a stream is shorter."""

_HINT = "wait until nothing writes there any more and run again"
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Stamp = tuple[int, int, int, int]
"""What tells that a file is still the one that was looked at."""


def stamp(status: os.stat_result) -> Stamp:
    """Return device, number, length and time of change of a file."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


class Blocks:
    """One buffer that is filled again and again, and given out whenever it is full.

    What is given out holds until the next piece is asked for.
    """

    def __init__(self) -> None:
        """Begin with an empty buffer."""
        self._view = memoryview(bytearray(BLOCK))
        self._used = 0

    def fits(self, data: bytes) -> bool:
        """Take up bytes if there is room for them and one more; else `spill` takes them."""
        end = self._used + len(data)
        if end >= BLOCK:
            return False
        self._view[self._used : end] = data
        self._used = end
        return True

    def spill(self, data: bytes) -> Iterator[memoryview]:
        """Take up bytes, and yield the buffer each time when it is full."""
        rest = memoryview(data)
        while rest:
            piece = rest[: BLOCK - self._used]
            self._view[self._used : self._used + len(piece)] = piece
            self._used += len(piece)
            rest = rest[len(piece) :]
            if self._used == BLOCK:
                yield self._view
                self._used = 0

    def file(
        self, place: str, before: Stamp, name: object, *, start: int = 0, end: int = -1
    ) -> Iterator[memoryview]:
        """Take up a file's bytes, and insist that it is still the file that was looked at.

        Args:
            place: The file.
            before: Its stamp when it was looked at.
            name: What messages call it.
            start: First byte.
            end: Byte behind the last; the end of the file by default.

        Raises:
            UnavailableError: It changes, goes away, or cannot be read.
        """
        left = (before[2] if end < 0 else end) - start
        try:
            number = os.open(place, _FLAGS)
            try:
                if start:
                    os.lseek(number, start, os.SEEK_SET)
                while left > 0:
                    stop = min(BLOCK, self._used + left)
                    count = os.readv(number, [self._view[self._used : stop]])
                    if not count:
                        break
                    left -= count
                    self._used += count
                    if self._used == BLOCK:
                        yield self._view
                        self._used = 0
                status = os.fstat(number)
            finally:
                os.close(number)
        except OSError as error:
            message = f"{printable(name)} cannot be read any more: {error.strerror or error}"
            raise UnavailableError(message, hint=_HINT) from error
        if left or stamp(status) != before or not stat.S_ISREG(status.st_mode):
            raise UnavailableError(f"{printable(name)} changed while it was read", hint=_HINT)

    def rest(self) -> memoryview:
        """Return what is left in the buffer, which may be nothing."""
        return self._view[: self._used]
