"""Doing the same for many bundles: a file of references, several at once, in flat memory."""

from __future__ import annotations

import collections
import dataclasses
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from rra.api._unpack import bundle_reference
from rra.bundle.reference import BundleReference, RegistryReference
from rra.errors import UsageError

if TYPE_CHECKING:
    from rra.bundle.reader import Bundle
    from rra.bundle.store import BlobStore
    from rra.registry import Connections

Item = TypeVar("Item")
Found = TypeVar("Found")

MOST_JOBS = 32
_LONGEST = 4096


def references(path: Path) -> Iterator[str]:
    """Yield the references of a file, one a line; empty lines and ``#`` comments are passed over.

    Args:
        path: The file; ``-`` for standard input.

    Raises:
        UsageError: There is no such file.
    """
    if str(path) == "-":
        yield from _lines(sys.stdin.buffer)
        return
    try:
        file = path.open("rb")
    except OSError as error:
        message = f"the file of references {path} cannot be read: {error.strerror}"
        raise UsageError(message, hint="give a file with one reference a line, or -") from error
    with file:
        yield from _lines(file)


def _lines(file: BinaryIO) -> Iterator[str]:
    """Yield lines; of one that is longer than any reference, only the beginning is kept."""
    while line := file.readline(_LONGEST):
        while not line.endswith(b"\n") and (more := file.readline(_LONGEST)):
            if more.endswith(b"\n"):
                break
        text = line.decode("utf-8", "replace").strip().removeprefix("\ufeff")
        if text and not text.startswith("#"):
            yield text


def each(
    work: Callable[[Item], Found], items: Iterator[Item], jobs: int
) -> Iterator[tuple[Item, Found]]:
    """Yield what some work gives for each item, in order; no more than a few are under way.

    Args:
        work: Called with an item, by several threads at once.
        items: The items, taken as they are needed.
        jobs: How many threads.
    """
    if jobs == 1:
        for item in items:
            yield item, work(item)
        return
    waiting: collections.deque[tuple[Item, Future[Found]]] = collections.deque()
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="rra-many")
    try:
        for item in items:
            waiting.append((item, pool.submit(work, item)))
            if len(waiting) > 2 * jobs:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@dataclasses.dataclass(frozen=True, slots=True)
class Opener:
    """Opens bundles one after the other, registries with what they have in common.

    Attributes:
        connections: Of all registries.
    """

    connections: Connections

    def store(self, reference: BundleReference) -> BlobStore:
        """Return the store that a reference names; nothing of it is read yet.

        Raises:
            UsageError: A credential file cannot be read.
        """
        if isinstance(reference, RegistryReference):
            return self.connections.open(reference)
        from rra.api._open import open_store

        return open_store(reference)

    def bundle(self, text: str) -> Bundle:
        """Read manifest and config of a bundle.

        Raises:
            UsageError: It is no reference of a bundle, or there is no such bundle.
            CorruptError: A document is not what vouches for it.
            FormatError: A document breaks the format.
            RegistryError: A registry does not answer, or refuses.
        """
        from rra.api._open import insist_on_version
        from rra.bundle.reader import read_bundle

        named = bundle_reference(text)
        store = self.store(named)
        bundle = read_bundle(store, named.tag, named.digest)
        insist_on_version(named, bundle)
        return bundle


def without_password(text: str) -> str:
    """Return a reference as it may be written down: a password that somebody put in is left out."""
    before, at, rest = text.partition("@")
    return f"…@{rest}" if at and "/" not in before else text
