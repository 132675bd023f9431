"""Decompression: one frame, exact end, bounded memory and result."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import tracemalloc
from typing import BinaryIO

import pytest
import zstandard

from rra.bundle.decompress import Compression, compression_of, decompressed
from rra.bundle.limits import MAX_RATIO, RATIO_FLOOR, unpacked_limit
from rra.errors import ArchiveError

TEXT = b"".join(b"%d,%d\n" % (number, number * number % 97) for number in range(60_000))


def zstd(data: bytes, *, checksum: bool = True, sized: bool = False) -> bytes:
    compressor = zstandard.ZstdCompressor(
        level=3, write_checksum=checksum, write_content_size=sized
    )
    return compressor.compress(data)


def frame(content: bytes, *, descriptor: int = 0x04, window: bytes = b"\x58") -> bytes:
    """Return a zstd frame of blocks made by hand, without a checksum unless asked for."""
    return b"\x28\xb5\x2f\xfd" + bytes([descriptor]) + window + content


def rle(byte: bytes, size: int, *, last: bool = False) -> bytes:
    """Return a block that is one byte repeated (RFC 8878, 3.1.1.2)."""
    return (size << 3 | 1 << 1 | last).to_bytes(3, "little") + byte


def opened(
    data: bytes, compression: Compression, *, limit: int = 1 << 40, size: int | None = None
) -> BinaryIO:
    compressed_size = len(data) if size is None else size
    return decompressed(
        io.BytesIO(data), compression, compressed_size=compressed_size, limit=limit, what="code"
    )


def read(data: bytes, compression: Compression, **options: int) -> bytes:
    stream = opened(data, compression, **options)
    return b"".join(iter(lambda: stream.read(1 << 18), b""))


def refusal(data: bytes, compression: Compression, **options: int) -> str:
    with pytest.raises(ArchiveError) as caught:
        read(data, compression, **options)
    assert caught.value.hint
    return caught.value.message


@pytest.mark.parametrize(
    ("media_type", "compression"),
    [
        ("application/vnd.rra.code.v1.tar+zstd", "zstd"),
        ("application/vnd.rra.code.v1.tar+gzip", "gzip"),
        ("application/vnd.rra.code.v1.tar", "none"),
        ("application/vnd.rra.data.v1.raw", "none"),
        ("application/vnd.rra.config.v1+json", "none"),
        ("zstd", "zstd"),
    ],
)
def test_the_media_type_says_how(media_type: str, compression: str) -> None:
    assert compression_of(media_type) == compression


@pytest.mark.parametrize("content", [b"", b"x", TEXT, os.urandom(700_000), bytes(5_000_000)])
def test_what_was_compressed_comes_back(content: bytes) -> None:
    assert read(content, "none") == content
    assert read(gzip.compress(content, mtime=0), "gzip") == content
    for checksum, sized in itertools.product([True, False], repeat=2):
        data = zstd(content, checksum=checksum, sized=sized)
        assert read(data, "zstd") == content


@pytest.mark.parametrize("compression", ["none", "gzip", "zstd"])
def test_it_is_a_stream_like_others(compression: Compression) -> None:
    data = {"none": TEXT, "gzip": gzip.compress(TEXT, mtime=0), "zstd": zstd(TEXT)}[compression]
    assert opened(data, compression).read() == TEXT
    buffered = io.BufferedReader(opened(data, compression), 1000)  # type: ignore[type-var]
    assert buffered.read(10) == TEXT[:10]
    assert buffered.read() == TEXT[10:]
    small = opened(data, compression)
    assert small.read(0) == b""
    assert [small.read(3), small.read(4)] == [TEXT[:3], TEXT[3:7]]


@pytest.mark.parametrize("cut", [1, 4, 5, 6, 8, 500, -5, -4, -1])
def test_truncated(cut: int) -> None:
    for data, compression in ((zstd(TEXT), "zstd"), (gzip.compress(TEXT, mtime=0), "gzip")):
        message = refusal(data[:cut], "zstd" if compression == "zstd" else "gzip")
        assert message in {"code ends too early", "code is not zstd"}


def test_damaged() -> None:
    for data, compression in ((zstd(TEXT), "zstd"), (gzip.compress(TEXT, mtime=0), "gzip")):
        broken = bytearray(data)
        broken[-6] ^= 0x40
        kind: Compression = "zstd" if compression == "zstd" else "gzip"
        assert "code is damaged" in refusal(bytes(broken), kind)


def test_a_wrong_checksum() -> None:
    assert "code is damaged" in refusal(zstd(TEXT)[:-4] + b"oops", "zstd")
    assert "code is damaged" in refusal(gzip.compress(TEXT, mtime=0)[:-8] + b"oopsoops", "gzip")


SKIPPABLE = b"\x50\x2a\x4d\x18\x04\0\0\0evil"


@pytest.mark.clause("bundle/one-frame")
@pytest.mark.parametrize(
    ("data", "compression", "message"),
    [
        (zstd(b"a") + zstd(b"b"), "zstd", "code is followed by another frame"),
        (zstd(b"a") + SKIPPABLE, "zstd", "code is followed by a skippable frame"),
        (zstd(b"a") + b"\0", "zstd", "code is followed by more bytes"),
        (zstd(b"a") + gzip.compress(b"b", mtime=0), "zstd", "code is followed by another member"),
        (SKIPPABLE + zstd(b"a"), "zstd", "code starts with a skippable frame"),
        (b"", "zstd", "code is not zstd"),
        (gzip.compress(b"a", mtime=0), "zstd", "code is not zstd"),
        (
            gzip.compress(b"a", mtime=0) + gzip.compress(b"b", mtime=0),
            "gzip",
            "code is followed by another member",
        ),
        (gzip.compress(b"a", mtime=0) + bytes(8), "gzip", "code is followed by more bytes"),
        (b"", "gzip", "code ends too early"),
        (zstd(b"a"), "gzip", "code is damaged: Error -3"),
    ],
)
def test_exactly_one_frame(data: bytes, compression: Compression, message: str) -> None:
    assert refusal(data, compression).startswith(message)


def test_what_follows_is_noticed_also_in_a_later_read() -> None:
    filler = os.urandom((1 << 18) - len(zstd(b"")) - 9)
    for size in range(1 << 18, (1 << 18) + 6):
        data = zstd(filler)
        data = data.ljust(size, b"\0")
        assert refusal(data, "zstd") == "code is followed by more bytes"


@pytest.mark.clause("bundle/one-frame")
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (frame(b"", descriptor=0x05), "code needs a dictionary or a newer reader"),
        (frame(b"", descriptor=0x08), "code needs a dictionary or a newer reader"),
        (frame(b"\x07\0\0"), "code is damaged: a block of unknown kind or length"),
        (frame(rle(b"x", (1 << 17) + 1)), "code is damaged: a block of unknown kind or length"),
    ],
)
def test_frames_that_no_writer_of_ours_makes(data: bytes, message: str) -> None:
    assert refusal(data, "zstd") == message


def test_a_block_larger_than_its_window() -> None:
    data = frame(rle(b"x", 100_000, last=True), descriptor=0, window=b"\0")  # window of 1 KiB
    assert refusal(data, "zstd").startswith("code is damaged")


# --------------------------------------------------------------------------------- windows


def window(exponent: int) -> bytes:
    """Return the window descriptor of a power of two (RFC 8878, 3.1.1.1.2)."""
    return bytes([(exponent - 10) << 3])


def test_a_window_of_128_mib_is_the_largest() -> None:
    blocks = rle(b"x", 1000, last=True)
    assert read(frame(blocks, descriptor=0, window=window(27)), "zstd") == b"x" * 1000
    message = refusal(frame(blocks, descriptor=0, window=window(28)), "zstd")
    assert message == "code needs a window of 268,435,456 bytes, where 134,217,728 is most"


@pytest.mark.clause("bundle/window")
def test_a_window_of_1_gib_takes_no_memory() -> None:
    tracemalloc.start()
    message = refusal(frame(rle(b"x", 1000, last=True), descriptor=0, window=window(30)), "zstd")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "needs a window of 1,073,741,824 bytes" in message
    assert peak < 1 << 20


def test_one_segment_is_a_window_too() -> None:
    size = (1 << 30).to_bytes(8, "little")
    data = frame(rle(b"x", 1000, last=True), descriptor=0xE0, window=size)
    assert "needs a window of 1,073,741,824 bytes" in refusal(data, "zstd")


# ----------------------------------------------------------------------------------- bombs


def test_the_limit_is_inclusive() -> None:
    for data, compression in (
        (zstd(TEXT), "zstd"),
        (gzip.compress(TEXT, mtime=0), "gzip"),
        (TEXT, "none"),
    ):
        kind: Compression = compression_of("+" + compression)
        assert read(data, kind, limit=len(TEXT)) == TEXT
        message = refusal(data, kind, limit=len(TEXT) - 1)
        assert message == f"code unpacks to more than the {len(TEXT) - 1:,} bytes allowed"


def test_a_declared_size_over_the_limit_is_refused_at_once() -> None:
    data = zstd(TEXT, sized=True)
    message = refusal(data, "zstd", limit=1000)
    assert message == f"code unpacks to {len(TEXT):,} bytes; 1,000 are allowed"


@pytest.mark.clause("bundle/bomb")
def test_the_ratio_counts_where_much_comes_out() -> None:
    assert unpacked_limit(10) == RATIO_FLOOR == 64 << 20
    assert unpacked_limit(1 << 30) == MAX_RATIO << 30


@pytest.mark.clause("bundle/bomb")
@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_bomb(compression: Compression) -> None:
    """Gzip 1000:1 and zstd 32,000:1 end at the floor, in constant memory."""
    if compression == "gzip":
        data = gzip.compress(bytes(80 << 20))
        assert (80 << 20) / len(data) > 1000
    else:
        blocks = (10 << 30) // (1 << 17)
        data = frame(rle(b"\0", 1 << 17) * blocks + rle(b"\0", 1 << 17, last=True), descriptor=0)
        assert (10 << 30) / len(data) > 32_000
        data = data[: len(data) // 2]  # never read that far
    stream = opened(data, compression)
    given: list[int] = []
    tracemalloc.start()
    with pytest.raises(ArchiveError, match="code unpacks to more than the 67,108,864 bytes"):
        given.extend(len(chunk) for chunk in iter(lambda: stream.read(1 << 18), b""))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert RATIO_FLOOR - (1 << 18) <= sum(given) <= RATIO_FLOOR
    assert peak < 4 << 20


def test_longer_than_its_descriptor_says() -> None:
    data = zstd(TEXT)
    message = refusal(data, "zstd", size=len(data) - 1)
    assert message == f"code is longer than the {len(data) - 1:,} bytes that are allowed"
    assert refusal(b"123", "none", size=2) == "code is longer than the 2 bytes that are allowed"
