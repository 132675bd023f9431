"""Bringing blobs of a registry here, four at a time, going on where an earlier attempt ended.

Source: RFC 9110, Range Requests; OCI Distribution Specification 1.1, Pulling blobs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, wait
from pathlib import Path
from typing import Any, BinaryIO

from rra._base.progress import size_text
from rra.bundle.store import BLOCK, BlobReader, Descriptor, VerifiedFile
from rra.errors import CorruptError, RegistryError
from rra.registry.failures import DAMAGED
from rra.registry.meter import Meter
from rra.registry.parallel import Stop, StoppedError, first_fault, workers
from rra.registry.partial import Partial, open_partial, partials
from rra.registry.store import BrokenOffError, RegistryStore

_BLOCK = 256 << 10
"""Bytes that are taken from a connection at once. The client of HTTP holds each block three times
for a moment, and four connections are open."""

Titled = tuple[str, Descriptor]
"""A blob, and what progress calls it."""


class Fetched:
    """Blobs of a registry that are here already or on their way; see `fetched`."""

    def __init__(self, source: BlobReader) -> None:
        self._source = source
        self.opened: list[Partial] = []
        self._coming: dict[tuple[str, int], Future[Partial]] = {}

    @property
    def name(self) -> str:
        """The registry's repository, as messages call it."""
        return self._source.name

    def announce(self, blob: Descriptor, future: Future[Partial]) -> None:
        """Say that a blob is on its way."""
        self._coming[blob.digest, blob.size] = future

    def forget(self, *, keep: bool = False) -> None:
        """Close the files of blobs that came; those that are not kept are removed."""
        while self.opened:
            self.opened.pop().close(keep=keep)
        self._coming.clear()

    def file(self, descriptor: Descriptor) -> Partial | None:
        """Return the file with all bytes of a blob, when they are there; None if unannounced.

        Raises:
            CorruptError: The blob is missing, or not of that size and digest.
            RegistryError: The registry does not answer, refuses, or breaks off for good.
            StorageError: The disk is full or refuses.
        """
        future = self._coming.get((descriptor.digest, descriptor.size))
        if future is None:
            return None
        try:
            return future.result()
        except (StoppedError, CancelledError):
            futures = list(self._coming.values())
            wait(futures)
            raise first_fault(futures) from None

    def verified_file(self, descriptor: Descriptor) -> VerifiedFile | None:
        """Return the file of a blob, where it has a name; raises as `file` does."""
        partial = self.file(descriptor)
        if partial is None or partial.path is None:
            return None
        return VerifiedFile(partial.path, partial.descriptor)

    @contextlib.contextmanager
    def open(self, descriptor: Descriptor) -> Iterator[BinaryIO]:
        """Give the bytes of a blob, all of which were verified before the first one is given.

        Raises:
            CorruptError: The blob is missing, or not of that size and digest.
            RegistryError: The registry does not answer, refuses, or breaks off for good.
            StorageError: The disk is full or refuses.
        """
        partial = self.file(descriptor)
        if partial is None:
            with self._source.open(descriptor) as stream:
                yield stream
            return
        yield io.BufferedReader(_Placed(partial.number), BLOCK)


@contextlib.contextmanager
def fetched(
    source: BlobReader, blobs: Sequence[Titled], progress: Callable[[str], None]
) -> Iterator[Fetched]:
    """Give a store whose blobs come here ahead of their use, in order, four at a time.

    What is kept of them while this process runs lies below the cache, and outlives it when it
    is killed or the registry breaks off: the next attempt goes on from there. In the end nothing
    of it is left. Of a store that is no registry, nothing comes here.

    Args:
        source: Where the blobs are.
        blobs: Those that will be read.
        progress: Called with a line for each blob, and with how far they are.

    Raises:
        CorruptError: A blob is missing, or not of its size and digest.
        RegistryError: The registry does not answer, refuses, or breaks off for good.
        StorageError: The disk is full or refuses; nothing is kept.
    """
    distinct = {(blob.digest, blob.size): (title, blob) for title, blob in blobs}
    meter = Meter(progress, sum(blob.size for _, blob in distinct.values()), "fetched")
    stop, store, keep = Stop(), Fetched(source), False
    folder = partials() if isinstance(source, RegistryStore) else None
    try:
        with workers(stop) as pool:
            if isinstance(source, RegistryStore):
                for title, blob in distinct.values():
                    job = _Job(source, title, blob, folder, store.opened, meter, stop)
                    store.announce(blob, pool.submit(_fetch, job))
            yield store
        meter.finish()
    except (RegistryError, KeyboardInterrupt):
        keep = True
        raise
    finally:
        store.forget(keep=keep)


@dataclasses.dataclass(frozen=True, slots=True)
class _Job:
    """One blob on its way here."""

    source: RegistryStore
    title: str
    blob: Descriptor
    folder: Path | None
    opened: list[Partial]
    meter: Meter
    stop: Stop


def _fetch(job: _Job) -> Partial:
    """Bring one blob here, whole and verified; a fault ends the others."""
    try:
        job.stop.check()
        partial = open_partial(job.folder, job.blob)
        job.opened.append(partial)
        partial.take_up()
        job.meter.skip(partial.count)
        size, here = size_text(job.blob.size), size_text(partial.count)
        begun = f", {here} here already" if partial.count else ""
        job.meter.line(f"{job.title}: {size}{begun}")
        _complete(job, partial)
    except BaseException:
        job.stop.now()
        raise
    return partial


def _complete(job: _Job, partial: Partial) -> None:
    """Bring what is missing of a blob, again where the connection breaks."""
    registry, failures, resumed = job.source.registry, 0, partial.count > 0
    while not partial.whole:
        before = partial.count
        try:
            _go_on(job, partial)
        except BrokenOffError:
            job.stop.check()
            # Somewhat further each time is as good as a new start.
            failures = 1 if partial.count - before >= BLOCK else failures + 1
            if failures >= registry.policy.attempts:
                raise
            registry.pause(failures, None)
            continue
        if not partial.whole:
            if not resumed:
                raise _other(job.source, partial)
            # What was left here may be what is wrong; once more, all of it from the registry.
            resumed = False
            job.meter.add(-partial.count)
            partial.restart()


def _go_on(job: _Job, partial: Partial) -> None:
    """Ask for what is missing, and add it."""
    source, blob, meter = job.source, job.blob, job.meter
    with (
        source.read_from(blob, partial.count) as (start, wire),
        job.stop.ending(wire.break_off),
    ):
        if start != partial.count:
            meter.add(-partial.count)
            partial.restart()
        while block := wire.read(min(_BLOCK, blob.size - partial.count + 1)):
            job.stop.check()
            if partial.count + len(block) > blob.size:
                partial.restart()
                message = (
                    f"blob {blob.digest} in {source.name} is longer than the {blob.size} bytes"
                    " declared"
                )
                raise CorruptError(message, hint=DAMAGED)
            partial.append(block)
            meter.add(len(block))


def _other(source: RegistryStore, partial: Partial) -> CorruptError:
    """Return the error for what came to its end and is not the blob; the bytes go."""
    blob = partial.descriptor
    what = (
        f"has other content: its digest is {partial.digest}"
        if partial.count == blob.size
        else f"ends after {partial.count} of {blob.size} bytes"
    )
    partial.restart()
    message = f"blob {blob.digest} in {source.name} {what}"
    return CorruptError(message, hint=DAMAGED)


class _Placed(io.RawIOBase):
    """A file from its start, whoever else reads it."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number, self._at = number, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        count = os.preadv(self._number, [buffer], self._at)
        self._at += count
        return count
