"""The canonical tar as its page describes it, written without the code that is tested."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable, Mapping
from typing import Any

HEADER = "100s8s8s8s12s12s8s1s100s6s2s32s32s8s8s155s12s"
NONE = b"0000000\0"


def archive(files: Iterable[Mapping[str, Any]]) -> tuple[bytes, list[str]]:
    """Return the stream of a vector's files and the names of its members."""
    members: dict[bytes, Mapping[str, Any] | None] = {}
    for file in files:
        path = file["path"].encode()
        parts = path.split(b"/")
        members.update({b"/".join(parts[:i]): None for i in range(1, len(parts))})
        members[path] = file
    stream = b"".join(member(path, members[path]) for path in sorted(members))
    return stream + bytes(1024), [path.decode() for path in sorted(members)]


def member(path: bytes, file: Mapping[str, Any] | None) -> bytes:
    """Return headers and content of a file, a link, or (without a file) a folder."""
    if file is None:
        return headers(path + b"/", 0o755, 0, b"5", b"")
    if "link" in file:
        return headers(path, 0o755, 0, b"2", file["link"].encode())
    text = base64.b64decode(file["base64"]) if "base64" in file else file["text"].encode()
    mode = 0o755 if file.get("executable") else 0o644
    return headers(path, mode, len(text), b"0", b"") + filled(text)


def headers(name: bytes, mode: int, size: int, kind: bytes, link: bytes) -> bytes:
    """Return the header, behind a pax header where one is needed."""
    records = {}
    prefix, field = b"", name
    if len(name) > 100 or not name.isascii():
        cuts = [i for i in range(1, min(156, len(name) - 1)) if name[i : i + 1] == b"/"]
        if name.isascii() and cuts and len(name) - cuts[-1] - 1 <= 100:
            prefix, field = name[: cuts[-1]], name[cuts[-1] + 1 :]
        else:
            records[b"path"], field = name, plain(name)
    if len(link) > 100 or not link.isascii():
        records[b"linkpath"], link = link, plain(link)
    body = b"".join(record(key, records[key]) for key in sorted(records))
    pax = block(b"", b"././@PaxHeader", 0o644, len(body), b"x", b"") + filled(body)
    return (pax if records else b"") + block(prefix, field, mode, size, kind, link)


def block(prefix: bytes, name: bytes, mode: int, size: int, kind: bytes, link: bytes) -> bytes:
    """Return one header of 512 bytes."""
    numbers = b"%07o\0" % mode, NONE, NONE, b"%011o\0" % size, b"02263523000\0", b" " * 8
    rest = b"ustar\0", b"00", b"", b"", NONE, NONE, prefix, b""
    header = bytearray(struct.pack(HEADER, name, *numbers, kind, link, *rest))
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def record(key: bytes, value: bytes) -> bytes:
    """Return a pax record whose length counts its own digits."""
    lengths = range(len(key) + len(value) + 4, len(key) + len(value) + 9)
    texts = (b"%d %s=%s\n" % (length, key, value) for length in lengths)
    return next(text for text in texts if int(text.split(b" ")[0]) == len(text))


def plain(name: bytes) -> bytes:
    """Return what stands in a field where a pax record holds the real name."""
    return bytes(byte if byte < 0x80 else ord("_") for byte in name)[:100]


def filled(content: bytes) -> bytes:
    """Fill a content up with zeros to a multiple of 512."""
    return content + bytes(-len(content) % 512)
