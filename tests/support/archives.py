"""Tar archives of any kind, made by hand: independent of the writer that is tested.

With no further arguments a member has the headers that the format wants (POSIX.1-2017 ustar,
1980-01-01, owner 0), so that an archive differs from a good one in what the test says only.
"""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Mapping
from pathlib import Path

FILE, HARD, LINK, CHARACTER, BLOCK, FOLDER, FIFO = b"0", b"1", b"2", b"3", b"4", b"5", b"6"
END = bytes(1024)
_OFFSETS = {
    "mode": (100, 8),
    "uid": (108, 8),
    "gid": (116, 8),
    "size": (124, 12),
    "mtime": (136, 12),
    "magic": (257, 8),
    "uname": (265, 32),
    "gname": (297, 32),
    "devmajor": (329, 8),
    "devminor": (337, 8),
    "prefix": (345, 155),
    "padding": (500, 12),
}


def header(
    name: str | bytes,
    *,
    kind: bytes = FILE,
    size: int | bytes = 0,
    mode: int | None = None,
    target: str | bytes = b"",
    **fields: bytes,
) -> bytes:
    """Return one header block; `fields` are put as they are, before the checksum is taken."""
    if mode is None:
        mode = 0o755 if kind in {FOLDER, LINK} else 0o644
    block = bytearray(512)
    values = {
        "mode": b"%07o" % mode,
        "uid": b"0000000",
        "gid": b"0000000",
        "size": size if isinstance(size, bytes) else b"%011o" % size,
        "mtime": b"02263523000",
        "magic": b"ustar\x0000",
        "devmajor": b"0000000",
        "devminor": b"0000000",
        **fields,
    }
    for key, value in values.items():
        offset, length = _OFFSETS[key]
        assert len(value) <= length
        block[offset : offset + len(value)] = value
    raw = os.fsencode(name)[:100]
    block[: len(raw)] = raw
    link = os.fsencode(target)[:100]
    block[157 : 157 + len(link)] = link
    block[156:157] = kind
    return checksummed(block)


def checksummed(block: bytes | bytearray) -> bytes:
    """Return a header block with the right checksum."""
    block = bytearray(block)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def record(key: str | bytes, value: str | bytes) -> bytes:
    """Return one pax record."""
    body = b" " + os.fsencode(key) + b"=" + os.fsencode(value) + b"\n"
    length = len(body)
    while length != len(body) + len(str(length)):
        length = len(body) + len(str(length))
    return str(length).encode() + body


def pax(records: bytes, kind: bytes = b"x", **fields: bytes) -> bytes:
    """Return a pax header with its block of records."""
    head = header("././@PaxHeader", kind=kind, size=len(records), mode=0o644, **fields)
    return head + padded(records)


def padded(content: bytes) -> bytes:
    """Return content filled up to whole blocks."""
    return content + bytes(-len(content) % 512)


def member(
    name: str,
    content: bytes = b"",
    *,
    kind: bytes = FILE,
    target: str = "",
    records: Mapping[str, str] | None = None,
    mode: int | None = None,
    size: bytes | None = None,
    **fields: bytes,
) -> bytes:
    """Return a member: pax header if `records` or its names ask for one, header, content."""
    wanted = dict(records or {})
    raw, slash = os.fsencode(name), -1
    if len(raw) > 100 and name.isascii() and not wanted:
        slash = raw.rfind(b"/", 0, min(156, len(raw) - 1))
    if slash > 0 and len(raw) - slash - 1 <= 100:
        fields["prefix"], name = raw[:slash], name[slash + 1 :]
    elif len(raw) > 100 or not name.isascii():
        wanted.setdefault("path", name)
    if len(os.fsencode(target)) > 100 or not target.isascii():
        wanted.setdefault("linkpath", target)
    before = b""
    if wanted:
        before = pax(b"".join(record(key, wanted[key]) for key in sorted(wanted)))
    shown, link = (ascii_only(text) for text in (name, target))
    length = len(content) if size is None else size
    head = header(shown, kind=kind, size=length, target=link, mode=mode, **fields)
    return before + head + padded(content)


def ascii_only(name: str) -> bytes:
    """Return what stands in a header where a pax record has the name."""
    return bytes(byte if byte < 0x80 else ord("_") for byte in os.fsencode(name))[:100]


def file(name: str, content: bytes = b"x") -> bytes:
    """Return a file."""
    return member(name, content)


def folder(name: str) -> bytes:
    """Return a folder."""
    return member(name + "/", kind=FOLDER)


def link(name: str, target: str) -> bytes:
    """Return a symbolic link."""
    return member(name, kind=LINK, target=target)


def hard(name: str, target: str) -> bytes:
    """Return a hard link."""
    return member(name, kind=HARD, target=target)


def tar(*members: bytes) -> bytes:
    """Return an archive of members."""
    return b"".join(members) + END


@dataclasses.dataclass(frozen=True)
class Seen:
    """What can be seen of a file or folder from outside."""

    mode: int
    links: int
    inode: int
    mtime: int
    content: bytes | str


def snapshot(root: Path) -> dict[str, Seen]:
    """Return all that lies below a folder, so that two moments can be compared."""
    seen = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        content: bytes | str = b""
        mtime = status.st_mtime_ns
        if path.is_symlink():
            content = str(path.readlink())
        elif stat.S_ISREG(status.st_mode):
            content = path.read_bytes()
        else:
            mtime = 0
        seen[str(path.relative_to(root))] = Seen(
            status.st_mode, status.st_nlink, status.st_ino, mtime, content
        )
    return seen
