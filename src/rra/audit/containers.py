"""Looking into files that hold files, and putting them together again with other content.

gzip, bzip2, xz and zlib streams, zip archives (npz, xlsx, wheels), tar archives and SQLite
databases are opened; their parts are ordinary bytes with a name. A part can itself be a
container. What cannot be opened is an ordinary file.
"""

from __future__ import annotations

import bz2
import dataclasses
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping

from rra.audit import databases

MAX_PART_BYTES = 64 * 1024 * 1024
"""Most bytes that one stream or archive may hold unpacked; more is left closed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Container:
    """An opened file.

    Attributes:
        parts: Content of each part by name, in order.
        rebuild: Makes the whole again, some parts replaced.
    """

    parts: Mapping[str, bytes]
    rebuild: Callable[[Mapping[str, bytes]], bytes]


def open_container(data: bytes) -> Container | None:
    """Open a container by what its first bytes say; None when it is not one or is damaged."""
    if data[:2] == b"PK":
        return _zip(data)
    if data.startswith(databases.MAGIC):
        return _sqlite(data)
    if data[257:262] == b"ustar":
        return _tar(data)
    for magics, name, decompressor, compress in _STREAMS:
        if data.startswith(magics):
            content = _bounded(decompressor(), data)
            return _stream(name, content, compress) if content is not None else None
    return None


def _stream(name: str, content: bytes, compress: Callable[[bytes], bytes]) -> Container:
    return Container({name: content}, lambda changed: compress(changed.get(name, content)))


def _bounded(decompressor: object, data: bytes) -> bytes | None:
    """Decompress a whole stream, or return None when it is damaged or too large."""
    try:
        content: bytes = decompressor.decompress(data, MAX_PART_BYTES + 1)  # type: ignore[attr-defined]
    except (OSError, ValueError, EOFError, lzma.LZMAError, zlib.error):
        return None
    ended = getattr(decompressor, "eof", False) and not getattr(decompressor, "unused_data", b"")
    return content if ended and len(content) <= MAX_PART_BYTES else None


_STREAMS: tuple[
    tuple[tuple[bytes, ...], str, Callable[[], object], Callable[[bytes], bytes]], ...
] = (
    ((b"\x1f\x8b",), "gzip", lambda: zlib.decompressobj(31), lambda b: gzip.compress(b, mtime=0)),
    ((b"BZh",), "bzip2", bz2.BZ2Decompressor, bz2.compress),
    ((b"\xfd7zXZ\x00",), "xz", lzma.LZMADecompressor, lzma.compress),
    (
        (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"),
        "zlib",
        zlib.decompressobj,
        zlib.compress,
    ),
)


def _zip(data: bytes) -> Container | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if sum(entry.file_size for entry in entries) > MAX_PART_BYTES:
                return None
            parts = {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, zlib.error, EOFError):
        return None

    def rebuild(changed: Mapping[str, bytes]) -> bytes:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for entry in entries:
                content = changed.get(entry.filename, parts[entry.filename])
                archive.writestr(entry, content, compress_type=entry.compress_type)
        return stream.getvalue()

    return Container(parts, rebuild)


def _tar(data: bytes) -> Container | None:
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            entries = archive.getmembers()
            parts: dict[str, bytes] = {}
            for entry in entries:
                stream = archive.extractfile(entry) if entry.isfile() else None
                if stream is not None:
                    parts[entry.name] = stream.read()
    except (tarfile.TarError, OSError, ValueError):
        return None

    def rebuild(changed: Mapping[str, bytes]) -> bytes:
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w:", format=tarfile.PAX_FORMAT) as archive:
            for entry in entries:
                content = changed.get(entry.name, parts.get(entry.name))
                if content is None or not entry.isfile():
                    archive.addfile(entry)
                    continue
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
        return stream.getvalue()

    return Container(parts, rebuild)


def _sqlite(data: bytes) -> Container | None:
    cells = databases.read_cells(data)
    if cells is None:
        return None
    parts = {cell.name: cell.text.encode() for cell in cells}

    def rebuild(changed: Mapping[str, bytes]) -> bytes:
        texts = {name: content.decode() for name, content in changed.items()}
        return databases.write_cells(data, [cell for cell in cells if cell.name in texts], texts)

    return Container(parts, rebuild)
