"""Reading and mending the dynamic section of ELF files: what a program needs, where it looks.

Only what the interpreters of 64-bit Linux are made of: ELF64, little-endian.

Source: System V ABI, chapters 4 and 5; Linux Standard Base, symbol versioning.
"""

from __future__ import annotations

import dataclasses
import re
import struct
from collections.abc import Iterator

MAGIC = b"\x7fELF\x02\x01"
"""Start of an ELF64 file in little-endian."""

MACHINES = {62: "x86_64", 183: "aarch64"}
"""Processors by the number that an ELF header gives them."""

_LOAD, _DYNAMIC = 1, 2
_NEEDED, _STRTAB, _RPATH, _RUNPATH = 1, 5, 15, 29
_VERNEED, _VERNEEDNUM = 0x6FFFFFFE, 0x6FFFFFFF
_GLIBC = re.compile(rb"GLIBC_([0-9]+)\.([0-9]+)(?:\.[0-9]+)?\Z")


@dataclasses.dataclass(frozen=True, slots=True)
class Elf:
    """What an ELF file says of itself.

    Attributes:
        machine: Processor, such as ``x86_64``; empty for one that is not known.
        needed: Names of the libraries that it needs.
        search: Where it looks for them (``DT_RPATH`` or ``DT_RUNPATH``); None for nowhere of
            its own.
        glibc: Newest version of the GNU C library whose symbols it uses; None for none.
    """

    machine: str
    needed: tuple[str, ...]
    search: str | None
    glibc: tuple[int, int] | None


@dataclasses.dataclass(frozen=True, slots=True)
class _Entry:
    """An entry of the dynamic section: its place in the file, its tag, its value."""

    place: int
    tag: int
    value: int


def is_elf(data: bytes) -> bool:
    """Tell whether bytes are the start of an ELF file that this module reads."""
    return data.startswith(MAGIC)


def read_elf(data: bytes) -> Elf:
    """Return what an ELF file says of itself.

    Args:
        data: The whole file.

    Raises:
        ValueError: It is no ELF file of this kind, or it is cut short.
    """
    try:
        return _read(data)
    except (struct.error, IndexError) as error:
        raise ValueError("an ELF file that cannot be read") from error


def _read(data: bytes) -> Elf:
    if not is_elf(data):
        raise ValueError("no ELF64 file in little-endian")
    (machine,) = struct.unpack_from("<H", data, 18)
    segments = list(_segments(data))
    entries = _entries(data, segments)
    names = _names(segments, entries)
    needed = [_text(data, names + e.value) for e in entries if e.tag == _NEEDED]
    search = [_text(data, names + e.value) for e in entries if e.tag in {_RPATH, _RUNPATH}]
    return Elf(
        machine=MACHINES.get(machine, ""),
        needed=tuple(one.decode("utf-8", "replace") for one in needed),
        search=search[0].decode("utf-8", "replace") if search else None,
        glibc=_newest(data, segments, entries, names),
    )


def with_search(data: bytes, search: str) -> bytes | None:
    """Return an ELF file that looks for libraries elsewhere, or None when there is no room.

    The place becomes a ``DT_RPATH``: unlike a ``DT_RUNPATH``, it also serves the libraries that
    are loaded through this file.

    Args:
        data: The whole file, with a place of its own to look at.
        search: The new place, such as ``$ORIGIN/../lib``.

    Raises:
        ValueError: It is no ELF file of this kind, or it is cut short.
    """
    try:
        segments = list(_segments(data))
        entries = _entries(data, segments)
        names = _names(segments, entries)
        changed = bytearray(data)
        for entry in entries:
            if entry.tag not in {_RPATH, _RUNPATH}:
                continue
            start = names + entry.value
            old, new = _text(data, start), search.encode()
            if len(new) > len(old):
                return None
            changed[start : start + len(old)] = new.ljust(len(old), b"\0")
            struct.pack_into("<Q", changed, entry.place, _RPATH)
    except (struct.error, IndexError) as error:
        raise ValueError("an ELF file that cannot be read") from error
    return bytes(changed)


def _segments(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield kind, offset, address and length in the file of each segment."""
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for number in range(count):
        kind, _, offset, address, _, length = struct.unpack_from(
            "<IIQQQQ", data, table + number * size
        )
        yield kind, offset, address, length


def _entries(data: bytes, segments: list[tuple[int, int, int, int]]) -> list[_Entry]:
    found = []
    for kind, offset, _, length in segments:
        if kind != _DYNAMIC:
            continue
        for place in range(offset, offset + length, 16):
            tag, value = struct.unpack_from("<QQ", data, place)
            if tag == 0:
                break
            found.append(_Entry(place, tag, value))
    return found


def _offset(segments: list[tuple[int, int, int, int]], address: int) -> int:
    for kind, offset, start, length in segments:
        if kind == _LOAD and start <= address < start + length:
            return offset + address - start
    raise IndexError(address)


def _names(segments: list[tuple[int, int, int, int]], entries: list[_Entry]) -> int:
    """Return where the texts of the dynamic section begin in the file."""
    tables = [entry.value for entry in entries if entry.tag == _STRTAB]
    return _offset(segments, tables[0]) if tables else 0


def _text(data: bytes, start: int) -> bytes:
    end = data.index(b"\0", start)
    return data[start:end]


def _newest(
    data: bytes, segments: list[tuple[int, int, int, int]], entries: list[_Entry], names: int
) -> tuple[int, int] | None:
    """Return the newest version of glibc among the versions of symbols that are needed."""
    values = {entry.tag: entry.value for entry in entries}
    if _VERNEED not in values:
        return None
    versions = []
    place = _offset(segments, values[_VERNEED])
    for _ in range(values.get(_VERNEEDNUM, 0)):
        _, count, _, first, following = struct.unpack_from("<HHIII", data, place)
        inner = place + first
        for _ in range(count):
            _, _, _, name, further = struct.unpack_from("<IHHII", data, inner)
            match = _GLIBC.match(_text(data, names + name))
            if match is not None:
                versions.append((int(match[1]), int(match[2])))
            inner += further
        place += following
    return max(versions, default=None)
