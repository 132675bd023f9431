"""Decompresses layers without trusting them: one frame, bounded memory, bounded result.

Of zstd, exactly one frame is read, block by block: a block gives at most 128 KiB, so a bomb is
noticed before it is in memory. Of gzip, exactly one member. Whatever follows is refused, because
programs differ in what they make of it. How much may come out is known before the first byte:
`rra.bundle.limits.unpacked_limit` of the blob's length, and what the caller allows.

Source: RFC 8878 (zstd), RFC 1952 (gzip).
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

from rra.bundle.bytesource import HINT, ByteSource
from rra.bundle.limits import unpacked_limit
from rra.errors import ArchiveError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Compression = Literal["none", "gzip", "zstd"]

MAX_WINDOW = 1 << 27
"""Largest window of a zstd frame in bytes, which is memory that reading it takes."""

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
_GZIP_MAGIC = b"\x1f\x8b"
_BLOCK_BYTES = 1 << 17
_RLE, _RESERVED = 1, 3
_OUTPUT = 1 << 18


def compression_of(media_type: str) -> Compression:
    """Return how a layer of a media type is compressed: what stands behind its last ``+``."""
    ending = media_type.rpartition("+")[2]
    return cast("Compression", ending) if ending in {"gzip", "zstd"} else "none"


def decompressed(
    stream: BinaryIO,
    compression: Compression,
    *,
    compressed_size: int,
    limit: int,
    what: str = "the layer",
) -> BinaryIO:
    """Return what a layer holds without its compression, as a stream to read once.

    The end of the stream is only reached when the frame is whole, its checksums hold and nothing
    follows it.

    Args:
        stream: The blob.
        compression: How it is compressed.
        compressed_size: Length of the blob as its descriptor says.
        limit: Most bytes that may come out.
        what: What messages call the layer.

    Raises:
        ArchiveError: By the stream's `read`: the blob is damaged, longer than said, holds more
            than one frame, or unpacks to more than is allowed.
    """
    source = ByteSource(stream, compressed_size, what, hashed=False)
    if compression == "none":
        chunks = _plain(source)
    else:
        limit = min(limit, unpacked_limit(compressed_size))
        chunks = _zstd(source, limit) if compression == "zstd" else _gzip(source)
    return cast("BinaryIO", _Chunks(chunks, limit, what))


class _Chunks(io.RawIOBase):
    """A stream over chunks; a read gives at most one of them."""

    def __init__(self, chunks: Iterator[bytes], limit: int, what: str) -> None:
        super().__init__()
        self._chunks = chunks
        self._limit = self._left = limit
        self._what = what
        self._view = memoryview(b"")

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        if size < 0:
            return self.readall()
        if not self._view and size:
            self._advance()
        piece, self._view = self._view[:size], self._view[size:]
        return bytes(piece)

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        room = memoryview(buffer).cast("B")
        data = self.read(len(room))
        room[: len(data)] = data
        return len(data)

    def _advance(self) -> None:
        chunk = next((chunk for chunk in self._chunks if chunk), b"")
        self._left -= len(chunk)
        if self._left < 0:
            raise _refused(self._what, f"unpacks to more than the {self._limit:,} bytes allowed")
        self._view = memoryview(chunk)


def _plain(source: ByteSource) -> Iterator[bytes]:
    while chunk := source.some():
        yield bytes(chunk)


def _zstd(source: ByteSource, limit: int) -> Iterator[bytes]:
    """Yield the content of the one frame of a source (RFC 8878, 3.1.1)."""
    import zstandard

    header, has_checksum = _frame_header(source)
    try:
        declared = zstandard.get_frame_parameters(header)
        if declared.window_size > MAX_WINDOW:
            why = f"needs a window of {declared.window_size:,} bytes, where {MAX_WINDOW:,} is most"
            raise _refused(source.what, why)
        known = declared.content_size != zstandard.CONTENTSIZE_UNKNOWN
        if known and declared.content_size > limit:
            why = f"unpacks to {declared.content_size:,} bytes; {limit:,} are allowed"
            raise _refused(source.what, why)
        decoder = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj()
        yield decoder.decompress(header)
        for block in _blocks(source):
            yield decoder.decompress(block)
        if has_checksum:
            yield decoder.decompress(source.read(4))
    except zstandard.ZstdError as error:
        raise _refused(source.what, f"is damaged: {error}") from error
    if not decoder.eof:
        raise _refused(source.what, "is damaged: no end where its last block ends")
    _insist_on_end(source)


def _frame_header(source: ByteSource) -> tuple[bytes, bool]:
    """Return the header of a frame and whether it ends with a checksum (RFC 8878, 3.1.1.1)."""
    magic = source.peek()
    if _is_skippable(magic):
        raise _refused(source.what, "starts with a skippable frame")
    if magic != _ZSTD_MAGIC:
        raise _refused(source.what, "is not zstd")
    start = source.read(5)
    flags = start[4]
    single, has_checksum = bool(flags & 0x20), bool(flags & 0x04)
    if flags & 0x0B:
        raise _refused(source.what, "needs a dictionary or a newer reader")
    content_size = (1 if single else 0, 2, 4, 8)[flags >> 6]
    return start + source.read((0 if single else 1) + content_size), has_checksum


def _blocks(source: ByteSource) -> Iterator[bytes]:
    """Yield the blocks of a frame with their headers (RFC 8878, 3.1.1.2)."""
    last = False
    while not last:
        header = source.read(3)
        fields = int.from_bytes(header, "little")
        last, kind, size = bool(fields & 1), fields >> 1 & 3, fields >> 3
        if kind == _RESERVED or size > _BLOCK_BYTES:
            raise _refused(source.what, "is damaged: a block of unknown kind or length")
        yield header + source.read(1 if kind == _RLE else size)


def _gzip(source: ByteSource) -> Iterator[bytes]:
    """Yield the content of the one member of a source."""
    decoder = zlib.decompressobj(wbits=31)
    data = b""
    while not decoder.eof:
        data = data or bytes(source.some())
        if not data:
            raise _refused(source.what, "ends too early")
        try:
            chunk = decoder.decompress(data, _OUTPUT)
        except zlib.error as error:
            raise _refused(source.what, f"is damaged: {error}") from error
        data = decoder.unconsumed_tail
        yield chunk
    if decoder.unused_data:
        raise _followed(source, decoder.unused_data)
    _insist_on_end(source)


def _insist_on_end(source: ByteSource) -> None:
    if rest := source.peek():
        raise _followed(source, rest)


def _followed(source: ByteSource, rest: bytes) -> ArchiveError:
    what = "more bytes"
    if rest.startswith(_ZSTD_MAGIC):
        what = "another frame"
    elif _is_skippable(rest):
        what = "a skippable frame"
    elif rest.startswith(_GZIP_MAGIC):
        what = "another member"
    return _refused(source.what, f"is followed by {what}")


def _is_skippable(magic: bytes) -> bool:
    return magic[1:4] == _SKIPPABLE and magic[0] >> 4 == 5


def _refused(what: str, why: str) -> ArchiveError:
    return ArchiveError(f"{what} {why}", hint=HINT)
