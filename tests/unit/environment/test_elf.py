"""ELF files: what they need, and telling them where to look, on files written by hand."""

from __future__ import annotations

import struct

import pytest

from rra.environment.elf import is_elf, read_elf, with_search

BASE = 0x1000
RPATH, RUNPATH = 15, 29


def write_elf(
    *,
    machine: int = 62,
    needed: tuple[str, ...] = ("libz.so.1", "libc.so.6"),
    search: str | None = "/home/agnes/python/lib",
    tag: int = RUNPATH,
    versions: tuple[str, ...] = ("GLIBC_2.2.5", "GLIBC_2.34", "GLIBC_2.9", "GLIBC_PRIVATE"),
) -> bytes:
    """Write a shared library with one segment, a dynamic section, and nothing that runs.

    Source: System V ABI, chapters 4 and 5.
    """
    names = b"\0"
    places = {}
    for text in (*needed, *versions, *([search] if search else [])):
        places[text] = len(names)
        names += text.encode() + b"\0"
    strings_at = 64 + 2 * 56
    needs_at = strings_at + len(names)
    needs = struct.pack("<HHIII", 1, len(versions), places[needed[-1]], 16, 0)
    for number, text in enumerate(versions):
        further = 16 if number + 1 < len(versions) else 0
        needs += struct.pack("<IHHII", 0, 0, 0, places[text], further)
    dynamic_at = needs_at + len(needs)
    entries = [(1, places[name]) for name in needed]
    entries += [(tag, places[search])] if search else []
    entries += [(5, BASE + strings_at), (10, len(names))]
    entries += [(0x6FFFFFFE, BASE + needs_at), (0x6FFFFFFF, 1), (0, 0)]
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    size = dynamic_at + len(dynamic)
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, BASE, BASE, size, size, 4096)
    place = BASE + dynamic_at
    own = struct.pack("<IIQQQQQQ", 2, 6, dynamic_at, place, place, len(dynamic), len(dynamic), 8)
    return head + load + own + names + needs + dynamic


def test_what_a_library_says_of_itself() -> None:
    found = read_elf(write_elf())
    assert found.machine == "x86_64"
    assert found.needed == ("libz.so.1", "libc.so.6")
    assert found.search == "/home/agnes/python/lib"
    assert found.glibc == (2, 34), "2.34 is newer than 2.9, whatever the order of digits"


def test_a_library_that_looks_nowhere_of_its_own() -> None:
    found = read_elf(write_elf(machine=183, search=None, versions=("OPENSSL_3.0.0",)))
    assert (found.machine, found.search, found.glibc) == ("aarch64", None, None)
    assert read_elf(write_elf(machine=40)).machine == ""


@pytest.mark.parametrize("tag", [RPATH, RUNPATH])
def test_the_new_place_serves_what_is_loaded_through_the_file_too(tag: int) -> None:
    before = write_elf(tag=tag)
    after = with_search(before, "$ORIGIN/../lib")
    assert after is not None
    assert len(after) == len(before)
    assert read_elf(after).search == "$ORIGIN/../lib"
    assert read_elf(after).needed == read_elf(before).needed
    assert read_elf(write_elf(tag=RPATH, search="$ORIGIN/../lib")) == read_elf(after)
    assert b"agnes" not in after


def test_there_is_room_for_what_is_as_long_and_no_longer() -> None:
    data = write_elf(search="/opt/p/lib")
    assert with_search(data, "$ORIGIN/..") is not None
    assert with_search(data, "$ORIGIN/../") is None


def test_a_file_that_is_cut_short_is_refused_and_never_half_read() -> None:
    whole = write_elf()
    for length in range(len(whole)):
        try:
            found = read_elf(whole[:length])
        except ValueError:
            continue
        assert found.glibc == (2, 34)


@pytest.mark.parametrize("data", [b"", b"#!/bin/sh\n", b"\x7fELF\x01\x01" + bytes(80)])
def test_other_files_are_not_taken_for_one(data: bytes) -> None:
    assert not is_elf(data)
    with pytest.raises(ValueError, match="no ELF64"):
        read_elf(data)
