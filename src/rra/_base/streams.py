"""Keeping what a program prints: the first part in a file, all of it counted, never blocking it."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import os
import select
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

KEPT_BYTES = 64 * 1024 * 1024
"""Bytes that are kept of a stream unless somebody asks for another number."""

BLOCK = 1 << 16
_PIPE_BYTES = 1 << 20
_LONGEST_LINE = 1 << 13


@dataclasses.dataclass(frozen=True, slots=True)
class StreamInfo:
    """What is known of one output stream.

    Attributes:
        sha256: Digest of the bytes kept.
        bytes: Number of bytes the program wrote.
        kept: Number of bytes kept in the file.
    """

    sha256: str
    bytes: int
    kept: int

    @property
    def truncated(self) -> bool:
        """Whether the file holds only the first part."""
        return self.kept < self.bytes


class _Stream:
    """One pipe on its way into one file."""

    def __init__(self, pipe: int, file: BinaryIO, cap: int) -> None:
        self.pipe, self._file, self._cap = pipe, file, cap
        self._state = hashlib.sha256()
        self._total = self._kept = 0
        self._tail = b""
        self.error: OSError | None = None

    def take(self, block: bytes) -> None:
        """Count a block and keep what fits; a full disk is remembered, reading goes on."""
        self._total += len(block)
        part = block[: max(0, self._cap - self._kept)]
        if not part or self.error is not None:
            return
        try:
            self._file.write(part)
        except OSError as error:
            self.error = error
            return
        self._state.update(part)
        self._kept += len(part)

    def newest_line(self, block: bytes) -> str | None:
        """Return the last whole line that a block ends, without its line end."""
        whole, newline, rest = (self._tail + block).rpartition(b"\n")
        self._tail = rest[-_LONGEST_LINE:]
        if not newline:
            return None
        line = whole.rpartition(b"\n")[2][-_LONGEST_LINE:]
        return line.decode("utf-8", "replace").rstrip("\r")

    def info(self) -> StreamInfo:
        return StreamInfo("sha256:" + self._state.hexdigest(), self._total, self._kept)


class Pump(threading.Thread):
    """Copies pipes into files up to a cap and goes on reading, so that the writer never waits.

    After `finish` it takes what is in the pipes and ends, also when a process that nobody
    could end still holds them open.
    """

    def __init__(
        self,
        pipes: Sequence[int],
        paths: Sequence[Path],
        *,
        cap: int,
        on_line: Callable[[str], None] | None = None,
    ) -> None:
        """Open the files.

        Args:
            pipes: Reading ends; they are made non-blocking, and stay the caller's to close.
            paths: One file for each.
            cap: Bytes kept of each.
            on_line: Called in this thread with the newest whole line of a block.
        """
        super().__init__(daemon=True)
        self._files = contextlib.ExitStack()
        self._streams = [
            _Stream(pipe, self._files.enter_context(path.open("wb", buffering=0)), cap)
            for pipe, path in zip(pipes, paths, strict=True)
        ]
        self._on_line = on_line
        self._wake, self._waker = os.pipe()
        self.callback_error: Exception | None = None
        for pipe in pipes:
            os.set_blocking(pipe, False)
            with contextlib.suppress(OSError):  # a smaller pipe is only slower
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    @property
    def storage_error(self) -> OSError | None:
        """Why a file could not be written, if it could not."""
        return next((stream.error for stream in self._streams if stream.error is not None), None)

    def run(self) -> None:
        """Copy until every pipe is closed or `finish` is called."""
        poller = select.poll()
        open_pipes = {stream.pipe: stream for stream in self._streams}
        for number in (*open_pipes, self._wake):
            poller.register(number, select.POLLIN)
        while open_pipes:
            ready = {number for number, _ in poller.poll()}
            for number in ready & open_pipes.keys():
                if self._copy(open_pipes[number]):
                    poller.unregister(number)
                    del open_pipes[number]
            if self._wake in ready:
                break
        for stream in open_pipes.values():
            self._drain(stream)

    def finish(self) -> list[StreamInfo]:
        """End the copying with what is in the pipes now, close the files, say what was kept."""
        os.write(self._waker, b"x")
        self.join()
        self._files.close()
        os.close(self._wake)
        os.close(self._waker)
        return [stream.info() for stream in self._streams]

    def _drain(self, stream: _Stream) -> None:
        """Take at most what a pipe can hold, so that a writer that lives on cannot keep us."""
        for _ in range(_PIPE_BYTES // BLOCK + 1):
            if self._copy(stream):
                return

    def _copy(self, stream: _Stream) -> bool:
        """Copy one block; return whether the pipe has nothing more to give."""
        try:
            block = os.read(stream.pipe, BLOCK)
        except BlockingIOError:
            return False
        stream.take(block)
        if self._on_line is not None and block and self.callback_error is None:
            self._announce(stream.newest_line(block))
        return not block

    def _announce(self, line: str | None) -> None:
        if line is None or self._on_line is None:
            return
        try:
            self._on_line(line)
        except Exception as error:  # noqa: BLE001 - raised again by who waits, in its thread
            self.callback_error = error
