"""Reads archives as `rra.bundle.canonical` writes them, and no others.

A member's headers are parsed, what is unsafe is named, and then they are compared with the
headers that the writer makes for the same path, type, mode, size and target: byte for byte. So
there is one way to read an archive, whatever other programs make of unusual headers, and an
archive that is accepted is the one that packing the result again gives.

Source: POSIX.1-2017, ustar interchange format and pax interchange format.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from rra.bundle.bytesource import HINT, ByteSource
from rra.bundle.canonical import FILE, FOLDER, LINK, PAX, member_headers
from rra.bundle.limits import MAX_PAX_BYTES, Limits
from rra.bundle.names import name_faults, printable
from rra.errors import ArchiveError, UnsafePathError

BLOCK = 512
_ZERO = bytes(BLOCK)
_MODES = {FILE: (0o644, 0o755), FOLDER: (0o755,), LINK: (0o755,)}
_SHOWN = 200
_FIELDS = {
    "name": slice(0, 100),
    "mode": slice(100, 108),
    "uid": slice(108, 116),
    "gid": slice(116, 124),
    "size": slice(124, 136),
    "mtime": slice(136, 148),
    "chksum": slice(148, 156),
    "typeflag": slice(156, 157),
    "linkname": slice(157, 257),
    "magic": slice(257, 265),
    "uname": slice(265, 297),
    "gname": slice(297, 329),
    "devmajor": slice(329, 337),
    "devminor": slice(337, 345),
    "prefix": slice(345, 500),
    "padding": slice(500, 512),
}
_KINDS = {
    b"\0": "a file of the format before ustar",
    b"1": "a hard link",
    b"3": "a character device",
    b"4": "a block device",
    b"6": "a named pipe",
    b"7": "a contiguous file",
    b"g": "a global pax header",
    b"A": "an access control list",
    b"D": "a GNU directory listing",
    b"K": "a GNU long link name",
    b"L": "a GNU long name",
    b"M": "a part of another volume",
    b"S": "a sparse file",
    b"V": "a volume label",
    b"X": "a Solaris extended header",
}
_RECORD = re.compile(rb"([1-9][0-9]{0,4}) ([^=\n]+)=")
_KEYS = (b"path", b"linkpath", b"size")


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """One member of an archive; its content comes next from the source.

    Attributes:
        path: Full path, without a slash at its end.
        name: The same as bytes.
        kind: `FILE`, `FOLDER` or `LINK`.
        executable: Whether a file may be run.
        size: Bytes of content.
        target: Where a link leads, as bytes.
    """

    path: PurePosixPath
    name: bytes
    kind: bytes
    executable: bool
    size: int
    target: bytes


def shown(name: object) -> str:
    """Return a name from an archive as a message may print it: no escapes, not too long."""
    text = name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else str(name)
    return printable(text if len(text) <= _SHOWN else text[:_SHOWN] + "…") or "(empty name)"


def refused(name: object, why: str) -> ArchiveError:
    """Return the error for a member that an archive may not hold."""
    return ArchiveError(f"{shown(name)}: {why}", hint=HINT)


def unsafe(name: object, why: str) -> UnsafePathError:
    """Return the error for a member that is not at a safe place or does not lead to one."""
    return UnsafePathError(f"{shown(name)}: {why}", hint=HINT)


def read_members(source: ByteSource, limits: Limits) -> Iterator[Member]:
    """Yield the members of an archive; the end is checked before the iterator ends.

    The caller reads `size` bytes from the source before it asks for the next member.

    Args:
        source: Stream of the archive without compression.
        limits: Bound of a single file.

    Raises:
        ArchiveError: The archive is damaged or not canonical.
        UnsafePathError: A member's path is not one that an archive may hold.
    """
    while member := _next_member(source, limits):
        yield member
        if any(source.read(-member.size % BLOCK)):
            raise refused(member.name, "its last block is not filled up with zeros")
    if source.read(BLOCK) != _ZERO:
        raise ArchiveError(f"{source.what} does not end with two blocks of zeros", hint=HINT)
    if source.peek():
        raise ArchiveError(f"{source.what} goes on after its end", hint=HINT)


def _next_member(source: ByteSource, limits: Limits) -> Member | None:
    block = source.read(BLOCK)
    if block == _ZERO:
        return None
    given = [block]
    records: dict[bytes, bytes] = {}
    if _kind(block) == PAX:
        body = _pax_body(source, block)
        records = _pax_records(body)
        given += [body, source.read(-len(body) % BLOCK)]
        block = source.read(BLOCK)
        given.append(block)
        if block == _ZERO or _kind(block) == PAX:
            raise refused(_name(block, records), "a pax header is not followed by a member")
    member, mode = _member(block, records)
    if member.kind == FILE and member.size > min(limits.file_bytes, source.remaining):
        allowed = min(limits.file_bytes, source.remaining)
        why = f"declares {member.size:,} bytes where {allowed:,} are allowed"
        raise refused(member.name, why)
    expected = member_headers(member.name, member.kind, mode, member.size, member.target)
    _compare(member, b"".join(given), b"".join(expected))
    return member


def _kind(block: bytes) -> bytes:
    """Return the type of a header that is whole and of the right format."""
    if block[_FIELDS["chksum"]] != b"%06o\0 " % (sum(block[:148]) + 256 + sum(block[156:])):
        raise ArchiveError("a header has a wrong checksum: damaged, or not a tar", hint=HINT)
    magic = block[_FIELDS["magic"]]
    kind = block[_FIELDS["typeflag"]]
    if kind not in {FILE, FOLDER, LINK, PAX}:
        what = _KINDS.get(kind, f"a member of unknown type {shown(kind)}")
        raise refused(_name(block, {}), f"is {what}; only files, folders and links are allowed")
    if magic != b"ustar\00000":
        what = "GNU" if magic == b"ustar  \0" else "another"
        raise refused(_name(block, {}), f"has a header of {what} format, not of ustar")
    return kind


def _name(block: bytes, records: dict[bytes, bytes]) -> bytes:
    name = block[_FIELDS["name"]].partition(b"\0")[0]
    prefix = block[_FIELDS["prefix"]].partition(b"\0")[0]
    return records.get(b"path", prefix + b"/" + name if prefix else name)


def _number(block: bytes, field: str) -> int:
    digits = block[_FIELDS[field]]
    if digits[0] & 0x80:
        sign = "negative " if digits[0] & 0x40 else ""
        raise refused(_name(block, {}), f"its {field} is a {sign}number in base 256")
    if not re.fullmatch(rb"[0-7]+\0", digits):
        raise refused(_name(block, {}), f"its {field} is no octal number: {shown(digits)}")
    return int(digits[:-1], 8)


def _pax_body(source: ByteSource, block: bytes) -> bytes:
    size = _number(block, "size")
    if size > MAX_PAX_BYTES:
        why = f"a pax header of {size:,} bytes, where {MAX_PAX_BYTES:,} are allowed"
        raise refused(_name(block, {}), why)
    return source.read(size)


def _pax_records(body: bytes) -> dict[bytes, bytes]:
    """Return the records of a pax header: path, linkpath and size, each once."""
    records: dict[bytes, bytes] = {}
    while body:
        match = _RECORD.match(body)
        length = int(match[1]) if match else 0
        if not match or length <= match.end() or body[length - 1 : length] != b"\n":
            raise ArchiveError("a pax header is damaged", hint=HINT)
        key = match[2]
        if key not in _KEYS:
            allowed = "only path, linkpath and size are allowed"
            raise ArchiveError(f"a pax header holds {shown(key)}: {allowed}", hint=HINT)
        if key in records:
            raise ArchiveError(f"a pax header holds {shown(key)} twice", hint=HINT)
        records[key] = body[match.end() : length - 1]
        body = body[length:]
    return records


def _member(block: bytes, records: dict[bytes, bytes]) -> tuple[Member, int]:
    """Return the member of a header with its mode, where path, mode and numbers are allowed."""
    kind = block[_FIELDS["typeflag"]]
    name = _name(block, records)
    if kind == FOLDER:
        name = name.removesuffix(b"/")
    path = _safe_path(name)
    mode = _number(block, "mode")
    if mode not in _MODES[kind]:
        allowed = " or ".join(f"{bits:04o}" for bits in _MODES[kind])
        raise refused(name, f"has mode {mode:04o}, where {allowed} is allowed")
    size, target = 0, b""
    if kind == FILE:
        size = _size(block, records, name)
    elif kind == LINK:
        field = block[_FIELDS["linkname"]].partition(b"\0")[0]
        target = records.get(b"linkpath", field)
    return Member(path, name, kind, mode == 0o755, size, target), mode


def _size(block: bytes, records: dict[bytes, bytes], name: bytes) -> int:
    if b"size" not in records:
        return _number(block, "size")
    if not re.fullmatch(rb"[1-9][0-9]{0,19}", records[b"size"]):
        raise refused(name, f"its pax size is no number: {shown(records[b'size'])}")
    return int(records[b"size"])


def _safe_path(name: bytes) -> PurePosixPath:
    if not name:
        raise unsafe(name, "a member has no name")
    text = name.decode("utf-8", "surrogateescape")
    path = PurePosixPath(text)
    faults = list(name_faults(path))
    if not faults and str(path) != text:
        faults = ["path is not in its plain form"]
    if faults:
        raise unsafe(name, ", ".join(faults))
    return path


def _compare(member: Member, given: bytes, expected: bytes) -> None:
    """Insist on the headers that the writer makes.

    Raises:
        ArchiveError: They differ; the message names the first field that does.
    """
    if given == expected:
        return
    if given[:-BLOCK] != expected[:-BLOCK]:
        why = "its pax header is not the one that its path, link and size need"
        raise refused(member.name, why)
    header, wanted = given[-BLOCK:], expected[-BLOCK:]
    for field, place in _FIELDS.items():
        if field != "chksum" and header[place] != wanted[place]:
            found = header[place].rstrip(b"\0")
            should = wanted[place].rstrip(b"\0")
            why = f"its {field} is “{shown(found)}”, where only “{shown(should)}” is allowed"
            raise refused(member.name, why)
    raise refused(member.name, "its header is not the one that `rra pack` writes")
