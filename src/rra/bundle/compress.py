"""Compression of layers: the same bytes for the same input and library.

Zstandard at level 3 by one worker, fed in blocks of one size, with a checksum and without
content size. Algorithm, level and library version are recorded, because another version may
give other bytes; the digest of the uncompressed archive stays. `rra.bundle.decompress` reads.

Source: RFC 8878 (zstandard).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from rra.bundle.blocks import BLOCK

if TYPE_CHECKING:
    from zstandard import ZstdCompressor

LEVEL = 3
SAMPLE_BYTES = 4 << 20
WORTHWHILE = 0.95
"""Compressed size of a sample, as a share, above which a file is kept as it is."""


def library() -> str:
    """Return name and version of the library that compresses, as a bundle records it."""
    import zstandard

    return "zstd " + ".".join(str(part) for part in zstandard.ZSTD_VERSION)


class Encoder:
    """Compresses one stream after the other with the same memory, of which it takes some 50 MiB.

    Threads that share one wait for each other, so that it stays with that.
    """

    def __init__(self) -> None:
        """Begin without the memory, which comes with the first use."""
        self._turn = threading.Semaphore(1)
        self._compressor: ZstdCompressor | None = None

    def compressed(self, blocks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
        """Yield the one zstandard frame of a stream of bytes.

        Whoever does not take all of it has to close the generator.
        """
        with self._turn:
            encoder = self._ready().compressobj()
            for block in rechunked(blocks):
                if out := encoder.compress(block):
                    yield out
            yield encoder.flush()

    def _ready(self) -> ZstdCompressor:
        import zstandard

        if self._compressor is None:
            parameters = zstandard.ZstdCompressionParameters.from_level(
                LEVEL, threads=1, write_checksum=True, write_content_size=False
            )
            self._compressor = zstandard.ZstdCompressor(compression_params=parameters)
        return self._compressor


def compressed(blocks: Iterable[bytes | memoryview]) -> Iterator[bytes]:
    """Yield the one zstandard frame of a stream of bytes."""
    return Encoder().compressed(blocks)


def rechunked(
    blocks: Iterable[bytes | memoryview], size: int = BLOCK
) -> Iterator[bytes | memoryview]:
    """Yield the same bytes in blocks of one size; only the last is shorter.

    What comes in that size is passed on as it is, without a copy.
    """
    buffer = bytearray()
    for block in blocks:
        if not buffer and len(block) == size:
            yield block
            continue
        buffer += block
        while len(buffer) >= size:
            yield bytes(memoryview(buffer)[:size])
            del buffer[:size]
    if buffer:
        yield bytes(buffer)


def is_worthwhile(source: BinaryIO, size: int) -> bool:
    """Tell whether compressing saves anything, from samples of the beginning and the middle."""
    import zstandard

    encoder = zstandard.ZstdCompressor(level=LEVEL)
    before = after = 0
    for offset in {0, max(0, size // 2 - SAMPLE_BYTES // 2)}:
        source.seek(offset)
        sample = source.read(SAMPLE_BYTES // 2)
        before += len(sample)
        after += len(encoder.compress(sample))
    return after < WORTHWHILE * before
