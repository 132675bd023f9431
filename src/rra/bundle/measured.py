"""A bundle that lies nowhere: measured while it is made, and made again when it is read."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from rra._base.files import sha256_bytes
from rra.bundle.content import Content, FilePart
from rra.bundle.store import MANIFEST_TYPE, Descriptor, check_bytes, verified
from rra.errors import CorruptError, UsageError

KEPT_BLOB = 4 << 20
"""Longest blob that is kept in memory instead of being made again …"""

KEPT_BYTES = 32 << 20
"""… as long as all of them together have no more bytes."""


class MeasuredBundle:
    """A place that keeps what each blob is called and how it is made, but not its bytes.

    `rra.bundle.pack.pack_bundle` makes a bundle in it, reading every file once; whoever reads a
    blob later has its files read once more. Small ones come from memory. Nothing is written to
    any disk.

    Attributes:
        name: What messages call it.
    """

    def __init__(self, name: str) -> None:
        """Begin with nothing.

        Args:
            name: What messages call it.
        """
        self.name = name
        self._blobs: dict[str, Iterable[bytes]] = {}
        self._kept: dict[str, int] = {}
        self._manifest: tuple[bytes, Descriptor] | None = None

    def has(self, digest: str) -> bool:
        """Tell whether a blob was measured."""
        return digest in self._blobs

    def put(self, chunks: Iterable[bytes], media_type: str) -> Descriptor:
        """Measure a blob.

        Args:
            chunks: Its bytes, which can be iterated again.
            media_type: Its kind.
        """
        if isinstance(chunks, Iterator):
            raise TypeError("what is measured has to be readable once more")
        state, size = hashlib.sha256(), 0
        room = min(KEPT_BLOB, KEPT_BYTES - sum(self._kept.values()))
        if isinstance(chunks, FilePart):
            room = 0  # reading is as good as remembering
        kept: list[bytes] | None = []
        pieces = chunks.pieces() if isinstance(chunks, Content) else chunks
        for piece in pieces:
            state.update(piece)
            size += len(piece)
            if kept is not None and size <= room:
                kept.append(bytes(piece))
            else:
                kept = None
        digest = "sha256:" + state.hexdigest()
        if digest not in self._blobs:
            self._blobs[digest] = chunks if kept is None else kept
            self._kept[digest] = 0 if kept is None else size
        return Descriptor(media_type, digest, size)

    def put_blob(self, descriptor: Descriptor, chunks: Iterable[bytes]) -> None:
        """Measure a blob whose digest is known.

        Raises:
            CorruptError: The chunks are not that blob.
        """
        found = self.put(chunks, descriptor.media_type)
        if (found.digest, found.size) != (descriptor.digest, descriptor.size):
            message = f"got {found.digest} of {found.size} bytes where {descriptor.digest} was due"
            raise CorruptError(message, hint="get the bundle again from where it came")

    def discard(self, digest: str) -> None:
        """Forget a blob."""
        self._blobs.pop(digest, None)
        self._kept.pop(digest, None)

    def chunks(self, descriptor: Descriptor) -> Iterable[bytes]:
        """Return the bytes of a blob, which can be iterated; they are not compared with it.

        Raises:
            CorruptError: No such blob was measured.
        """
        try:
            return self._blobs[descriptor.digest]
        except KeyError:
            message = f"blob {descriptor.digest} is no part of {self.name}"
            raise CorruptError(message) from None

    @contextlib.contextmanager
    def open(self, descriptor: Descriptor) -> Iterator[BinaryIO]:
        """Give the bytes of a blob, verified by the time the context ends without error.

        Raises:
            CorruptError: The blob is missing, or not of that size and digest any more.
            UnavailableError: A file is not the one any more that was measured.
        """
        source = _Stream(self.chunks(descriptor))
        with verified(source, descriptor, self.name) as stream:
            yield stream

    def get_manifest(self, reference: str | None) -> tuple[bytes, Descriptor]:
        """Return the bytes of the one manifest and their descriptor.

        Raises:
            UsageError: There is none of that digest.
        """
        found = self._manifest
        if found is None or reference not in {None, found[1].digest}:
            raise UsageError(f"{self.name} was not made into a bundle {reference or ''}".rstrip())
        check_bytes(*found, self.name)
        return found

    def put_manifest(
        self, data: bytes, tag: str | None, *, media_type: str = MANIFEST_TYPE
    ) -> Descriptor:
        """Keep the manifest; a name in this place has no meaning."""
        del tag
        descriptor = Descriptor(media_type, sha256_bytes(data), len(data))
        self._manifest = (data, descriptor)
        return descriptor

    def tags(self) -> list[str]:
        """Return no tags."""
        return []

    def referrers(self, digest: str, artifact_type: str | None = None) -> list[Descriptor]:
        """Return no statements: nobody can have made one on what was just measured."""
        del digest, artifact_type
        return []

    def put_referrer(self, data: bytes, subject: Descriptor) -> Descriptor:
        """Take no statement.

        Raises:
            UsageError: Always.
        """
        del data
        message = f"{self.name} is an artifact, and statements are kept beside a bundle"
        raise UsageError(message, hint=f"push it first, then attach to {subject.digest}")

    def writing(self) -> contextlib.AbstractContextManager[None]:
        """Bracket nothing: what is measured goes with the object."""
        return contextlib.nullcontext()


class _Stream:
    """Chunks as a source that so many bytes are read from."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes; none at the end."""
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._rest = chunk
        block, self._rest = self._rest[:size], self._rest[size:]
        return block
