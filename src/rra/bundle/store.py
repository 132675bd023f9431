"""Where blobs and manifests lie: what a folder, a file and a registry have in common.

Readers trust no store: `open` gives a stream that counts and hashes what passes, and every
size and digest is checked before what was read counts as read.

Source: OCI Image Specification 1.1, Content Descriptors; OCI Image Layout.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from rra.bundle.names import printable
from rra.bundle.reference import is_digest
from rra.errors import CorruptError, FormatError, Problem, UnsafePathError

MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
REF_NAME = "org.opencontainers.image.ref.name"
"""Annotation of a descriptor in a layout: the name that the bundle has there."""
MAX_MANIFEST_BYTES = 4 * 1024 * 1024
"""Largest manifest that is read (registries must take at least this)."""

BLOCK = 1 << 20
CHUNK = 256 << 10
"""Bytes that are read, hashed and passed on at once: so much stays in the cache of a core."""


@dataclasses.dataclass(frozen=True, slots=True)
class Descriptor:
    """What is known of a blob before it is read.

    Attributes:
        media_type: Kind of content.
        digest: ``sha256:<hex>`` of the bytes.
        size: Number of bytes.
        annotations: Free text by key.
        artifact_type: Kind of artifact, of descriptors of manifests.
    """

    media_type: str
    digest: str
    size: int
    annotations: Mapping[str, str] = dataclasses.field(default_factory=dict)
    artifact_type: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the descriptor as the specification writes it."""
        document: dict[str, Any] = {"mediaType": self.media_type}
        if self.artifact_type is not None:
            document["artifactType"] = self.artifact_type
        document |= {"digest": self.digest, "size": self.size}
        if self.annotations:
            document["annotations"] = dict(self.annotations)
        return document


class BlobReader(Protocol):
    """A place that blobs are read from."""

    @property
    def name(self) -> str:
        """What messages call the place."""

    def open(self, descriptor: Descriptor) -> AbstractContextManager[BinaryIO]:
        """Give the bytes of a blob, verified by the time the context ends without error.

        Raises:
            CorruptError: The blob is missing, or not of that size and digest.
        """


@dataclasses.dataclass(frozen=True, slots=True)
class VerifiedFile:
    """A blob whose bytes were verified and lie in a file that only this process writes to.

    Attributes:
        path: The file.
        descriptor: The blob.
    """

    path: Path
    descriptor: Descriptor


@runtime_checkable
class FileReader(BlobReader, Protocol):
    """A place whose blobs may lie in files of their own."""

    def verified_file(self, descriptor: Descriptor) -> VerifiedFile | None:
        """Return the file of a blob; None where it has none that could get another name.

        Raises:
            CorruptError: The blob is missing, or not of that size and digest.
        """


@runtime_checkable
class ChunkReader(BlobReader, Protocol):
    """A place that gives the bytes of a blob unverified, to whoever compares them with it."""

    def chunks(self, descriptor: Descriptor) -> Iterable[bytes]:
        """Return the bytes of a blob, which can be iterated; they are not compared with it.

        Raises:
            CorruptError: The blob is missing, or not of that size.
        """


class ManifestStore(BlobReader, Protocol):
    """A place that bundles are read from and written to, without what others say of them."""

    def has(self, digest: str) -> bool:
        """Tell whether a blob is there; its bytes are not looked at."""

    def put(self, chunks: Iterable[bytes], media_type: str) -> Descriptor:
        """Keep a blob whose digest is not known yet, and return its descriptor."""

    def put_blob(self, descriptor: Descriptor, chunks: Iterable[bytes]) -> None:
        """Keep a blob whose digest is known.

        Raises:
            CorruptError: The chunks are not that blob; nothing is kept.
        """

    def get_manifest(self, reference: str | None) -> tuple[bytes, Descriptor]:
        """Return the bytes of a manifest and their descriptor, verified.

        Args:
            reference: A tag or a digest; None for the only bundle of the place.

        Raises:
            UsageError: There is none, or more than one, of that name.
            CorruptError: The bytes are not what the place says.
        """

    def put_manifest(
        self, data: bytes, tag: str | None, *, media_type: str = MANIFEST_TYPE
    ) -> Descriptor:
        """Keep a manifest under a tag, after everything that it names."""

    def tags(self) -> list[str]:
        """Return the tags of bundles in the place, sorted; those of statements are left out."""

    def writing(self) -> AbstractContextManager[None]:
        """Bracket all writes of one bundle: when the block raises, nothing of it is left."""


@runtime_checkable
class BlobStore(ManifestStore, Protocol):
    """A place of bundles and of the statements that others attach to them."""

    def referrers(self, digest: str, artifact_type: str | None = None) -> list[Descriptor]:
        """Return the statements on a manifest, sorted by digest.

        Each was read and names the digest as its subject; kind and annotations are its own, not
        those of a list. What it says is not looked at.

        Args:
            digest: Digest of the subject, which may be missing.
            artifact_type: The only kind that is wanted; None for all.

        Raises:
            CorruptError: A manifest is not what names it.
        """

    def put_referrer(self, data: bytes, subject: Descriptor) -> Descriptor:
        """Keep a statement on a manifest, after everything that it names; again is harmless.

        Args:
            data: Bytes of its manifest, which names the subject.
            subject: The manifest that it is about.

        Raises:
            FormatError: The bytes name another subject, or are no manifest.
        """


class BundleWriter(ManifestStore, Protocol):
    """A place that bundles are made in: blobs can be taken back while they are written."""

    def discard(self, digest: str) -> None:
        """Forget a blob that was put since the writing began."""


def resolve(store: ManifestStore, tag: str | None, digest: str | None) -> tuple[bytes, Descriptor]:
    """Return the manifest that a reference names; a digest decides over a tag.

    Raises:
        UsageError: There is no such bundle.
        CorruptError: The bytes that came are not those of the digest.
    """
    data, descriptor = store.get_manifest(digest or tag)
    check_bytes(data, descriptor, store.name)
    if digest is not None and descriptor.digest != digest:
        message = f"{store.name} gave manifest {descriptor.digest} where {digest} was asked for"
        raise CorruptError(message, hint="do not use it; ask where the digest came from")
    return data, descriptor


class ByteSource(Protocol):
    """Anything that bytes can be read from."""

    def read(self, size: int, /) -> bytes:
        """Read at most so many bytes; none at the end."""


class VerifiedReader(io.RawIOBase):
    """Passes a blob's bytes on, and insists on their number and digest at the end."""

    def __init__(self, source: ByteSource, descriptor: Descriptor, where: str) -> None:
        super().__init__()
        self._source, self._descriptor, self._where = source, descriptor, where
        self._state = hashlib.sha256()
        self._count = 0
        self._ended = False

    def readable(self) -> bool:
        """Say that bytes can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read some bytes; 0 at the end, after the whole blob was checked.

        Raises:
            CorruptError: The blob is shorter or longer than declared, or another one.
        """
        view = memoryview(buffer).cast("B")
        if self._ended or not view:
            return 0
        block = self._source.read(len(view))
        if not block:
            self._check()
            return 0
        self._count += len(block)
        if self._count > self._descriptor.size:
            raise self._fault(f"is longer than the {self._descriptor.size} bytes declared")
        self._state.update(block)
        view[: len(block)] = block
        return len(block)

    def drain(self) -> None:
        """Read what is left, so that all of the blob is checked."""
        buffer = bytearray(BLOCK)
        while self.readinto(buffer):
            pass

    def _check(self) -> None:
        self._ended = True
        if self._count < self._descriptor.size:
            raise self._fault(f"ends after {self._count} of {self._descriptor.size} bytes")
        found = "sha256:" + self._state.hexdigest()
        if found != self._descriptor.digest:
            raise self._fault(f"has other content: its digest is {found}")

    def _fault(self, what: str) -> CorruptError:
        self._ended = True  # what was said first stays what is said
        message = f"blob {self._descriptor.digest} in {self._where} {what}"
        return CorruptError(message, hint="get the bundle again from where it came")


@contextlib.contextmanager
def verified(source: ByteSource, descriptor: Descriptor, where: str) -> Iterator[BinaryIO]:
    """Give a source's bytes as a stream that is checked to its end when the block ends.

    Raises:
        CorruptError: The blob is shorter or longer than declared, or another one.
    """
    reader = VerifiedReader(source, descriptor, where)
    try:
        yield io.BufferedReader(reader, BLOCK)
    except (CorruptError, FormatError, UnsafePathError):
        # Whoever reads saw the damage first; that it is not the blob says more.
        reader.drain()
        raise
    reader.drain()


def check_bytes(data: bytes, descriptor: Descriptor, where: str) -> None:
    """Check a whole blob in memory.

    Raises:
        CorruptError: The bytes are not those of the descriptor.
    """
    VerifiedReader(io.BytesIO(data), descriptor, where).drain()


def read_blob(store: BlobReader, descriptor: Descriptor, limit: int) -> bytes:
    """Return a whole small blob, verified.

    Raises:
        CorruptError: It is missing or another one.
        FormatError: It is larger than the limit.
    """
    if descriptor.size > limit:
        message = f"{descriptor.media_type} of {descriptor.size} bytes; at most {limit} are read"
        raise FormatError(message, hint="the bundle was not made by a tool that keeps the format")
    with store.open(descriptor) as stream:
        return stream.read()


def parse_descriptor(value: object, pointer: str, source: str) -> Descriptor:
    """Read a descriptor of a document, strictly; embedded data and foreign addresses are ignored.

    Args:
        value: The JSON value.
        pointer: Its place in the document.
        source: Name of the document for messages.

    Raises:
        FormatError: It is not a descriptor.
    """

    def refuse(what: str, key: str = "") -> FormatError:
        place = f"{pointer}/{key}" if key else pointer
        problem = Problem(what, source, pointer=place, clause="bundle/descriptor")
        return FormatError(f"{source} {place}: {what}", problems=(problem,))

    if not isinstance(value, dict):
        raise refuse("is not an object")
    media_type, digest, size = (value.get(key) for key in ("mediaType", "digest", "size"))
    annotations, kind = value.get("annotations", {}), value.get("artifactType")
    if not isinstance(media_type, str) or not media_type:
        raise refuse("is not a media type", "mediaType")
    if not isinstance(digest, str) or not is_digest(digest):
        raise refuse(f"is not sha256: and 64 hexadecimal digits: {_short(digest)}", "digest")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise refuse(f"is not a number of bytes: {_short(size)}", "size")
    if kind is not None and not isinstance(kind, str):
        raise refuse("is not a text", "artifactType")
    if not isinstance(annotations, dict) or not all(
        isinstance(text, str) for text in annotations.values()
    ):
        raise refuse("is not a map of texts", "annotations")
    return Descriptor(media_type, digest, size, annotations, kind)


def _short(value: object) -> str:
    return printable(repr(value))[:80]
