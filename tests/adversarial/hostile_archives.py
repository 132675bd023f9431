"""The hostile archives: what each is, which error refuses it, and what that says.

Each is dressed as a good archive (`tests.support.archives`), so that it is refused for what it
is and not for an odd header.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from rra.errors import ArchiveError, RraError, UnsafePathError
from tests.support.archives import (
    BLOCK,
    CHARACTER,
    END,
    FIFO,
    FOLDER,
    checksummed,
    file,
    folder,
    hard,
    header,
    link,
    member,
    padded,
    pax,
    record,
    tar,
)

GOOD = tar(file("a"), folder("d"), file("d/b", b"y"), link("l", "d/b"))

CVE_2025_4517_STEPS = "abcdefghijklmnop"


def cve_2025_4517() -> list[tuple[str, str, str]]:
    """Folders and links so long that the real path does not fit into PATH_MAX."""
    component, place = "d" * 247, ""
    members = []
    for step in CVE_2025_4517_STEPS:
        members.append((place + component, "folder", ""))
        members.append((place + step, "link", component))
        place += component + "/"
    long = "/".join(CVE_2025_4517_STEPS) + "/" + "l" * 254
    members.append((long, "link", "/".join([".."] * len(CVE_2025_4517_STEPS))))
    members.append(("escape", "link", long + "/.."))
    members.append(("flaglink", "hard", "escape/flag"))
    members.append(("flaglink", "file", "overwrite"))
    members.append(("escape/newfile", "file", "new"))
    return members


CVE_2025_4330 = [
    ("a", "folder", ""),
    ("a/t", "folder", ""),
    ("a/t/dummy", "file", "x"),
    ("b", "folder", ""),
    ("c", "link", "a/t"),
    ("c/escape", "link", "../../link_here"),
    ("c", "link", "b"),
    ("boom", "hard", "c/escape"),
]
CVE_2026_11940 = [
    ("a", "folder", ""),
    ("a/b", "folder", ""),
    ("a/b/s", "link", "../../victim/secret"),
    ("h", "hard", "a/b/s"),
    ("h", "file", "over"),
]
EMPTY_NAMES = [("", "link", ".."), ("", "link", ".."), ("pwn", "file", "x")]


def dressed(members: list[tuple[str, str, str]]) -> bytes:
    """Return members in the dress of the format."""
    makers: dict[str, Callable[[str, str], bytes]] = {
        "folder": lambda name, _: folder(name),
        "link": link,
        "hard": hard,
        "file": lambda name, content: file(name, content.encode()),
    }
    return tar(*(makers[kind](name, value) for name, kind, value in members))


U, A = UnsafePathError, ArchiveError
CASES: dict[str, tuple[bytes | Callable[[str], bytes], type[RraError], str]] = {
    # ------------------------------------------------------------------- paths that lead out
    "01-dotdot": (tar(file("../pwn")), U, "../pwn: path is not relative"),
    "02-deep-dotdot": (tar(folder("a"), file("a/../../pwn")), U, "path is not relative"),
    "03-absolute": (lambda v: tar(file(v + "/abs")), U, "path is not relative"),
    "prefix-sibling": (tar(file("../target-evil/pwn")), U, "path is not relative"),
    "dot-component": (tar(file("a/./b")), U, "a/./b: path is not in its plain form"),
    "double-slash": (tar(folder("a"), file("a//b")), U, "path is not in its plain form"),
    "file-with-slash": (tar(member("a/")), U, "a/: path is not in its plain form"),
    "root-folder": (tar(folder(".")), U, "path is not relative"),
    "absolute-folder": (lambda v: tar(folder(v)), U, "path is not relative"),
    # --------------------------------------------------------------------------------- links
    "04-symlink-abs-then-write": (
        lambda v: tar(link("s", v), file("s/pwn")),
        U,
        "s/pwn: lies below s, which is a link",
    ),
    "05-symlink-rel-then-write": (
        tar(link("s", "../victim"), file("s/pwn")),
        U,
        "s/pwn: lies below s, which is a link",
    ),
    "06-symlink-to-outside-file": (
        lambda v: tar(link("s", v + "/secret")),
        U,
        "s: is a symbolic link to an absolute path",
    ),
    "symlink-out": (
        tar(link("s", "../victim/secret")),
        U,
        "s: is a symbolic link that leads out of the archive: ../victim/secret",
    ),
    "symlink-out-and-back": (
        tar(file("a"), link("s", "../target/a")),
        U,
        "s: is a symbolic link that leads out of the archive",
    ),
    "symlink-deep-out": (
        tar(folder("d"), link("d/s", "../../victim/secret")),
        U,
        "d/s: is a symbolic link that leads out of the archive",
    ),
    "07-symlink-replaced-by-file": (
        lambda v: tar(link("s", v + "/secret"), file("s", b"over")),
        A,
        "s: is there twice",
    ),
    "08-hardlink-outside": (
        lambda v: tar(hard("h", v + "/secret"), file("h", b"over")),
        A,
        "h: is a hard link",
    ),
    "09-hardlink-to-symlink": (
        lambda v: tar(file("a"), link("b", v + "/secret"), hard("h", "b")),
        A,
        "h: is a hard link",
    ),
    "hardlink-relative-to-the-working-directory": (tar(hard("h", "secret")), A, "is a hard link"),
    "hardlink-inside": (tar(file("a"), hard("h", "a")), A, "h: is a hard link"),
    "10-cve-2025-4517": (dressed(cve_2025_4517()), A, "is out of order"),
    "10-cve-2025-4517-sorted": (
        dressed(sorted(set(cve_2025_4517()))),
        U,
        "lies below a, which is a link",
    ),
    "11-cve-2025-4330": (dressed(CVE_2025_4330), U, "c/escape: lies below c, which is a link"),
    "cve-2026-11940": (dressed(CVE_2026_11940), A, "h: is a hard link"),
    "12-empty-names": (dressed(EMPTY_NAMES), U, "(empty name): a member has no name"),
    "35-dangling-symlink": (
        tar(link("s", "nope")),
        U,
        "s: is a symbolic link to something that is not in the archive: nope",
    ),
    "36-symlink-loop": (
        tar(link("a", "b"), link("b", "a")),
        U,
        "a: is a symbolic link that leads through another link: b",
    ),
    "symlink-to-itself": (tar(link("a", "a")), U, "leads through another link"),
    "37-symlink-chain-dir": (
        tar(link("a", "d"), file("a/x"), folder("d"), file("d/y")),
        U,
        "a/x: lies below a, which is a link",
    ),
    "symlink-chain": (
        tar(link("a", "b"), link("b", "c"), file("c")),
        U,
        "a: is a symbolic link that leads through another link: b",
    ),
    "symlink-over-a-file": (
        tar(file("f"), file("g"), link("s", "f/../g")),
        U,
        "s: is a symbolic link to something that is not in the archive",
    ),
    "symlink-without-target": (tar(link("s", "")), U, "target is not in its plain form"),
    "symlink-to-the-root": (tar(link("s", ".")), U, "not in the archive"),
    "symlink-hidden-in-dots": (
        tar(folder("d"), file("d/x"), link("s", "d/./x")),
        U,
        "target is not in its plain form",
    ),
    # ----------------------------------------------------------------------- kinds and modes
    "13-chardev": (
        tar(member("n", kind=CHARACTER, devmajor=b"0000001", devminor=b"0000003")),
        A,
        "n: is a character device",
    ),
    "14-blockdev": (tar(member("n", kind=BLOCK, devmajor=b"0000010")), A, "n: is a block device"),
    "15-fifo": (tar(member("f", kind=FIFO)), A, "f: is a named pipe"),
    "contiguous": (tar(member("f", kind=b"7")), A, "f: is a contiguous file"),
    "old-file-type": (tar(member("f", kind=b"\0")), A, "f: is a file of the format before ustar"),
    "unknown-type": (tar(member("f", kind=b"\x1b")), A, r"f: is a member of unknown type \x1b"),
    "16-setuid": (tar(member("su", b"x", mode=0o6755)), A, "su: has mode 6755"),
    "sticky": (tar(member("st", b"x", mode=0o1755)), A, "st: has mode 1755"),
    "mode-0777": (tar(member("w", b"x", mode=0o777)), A, "w: has mode 0777"),
    "folder-0777": (tar(member("w/", kind=FOLDER, mode=0o777)), A, "w: has mode 0777"),
    # ------------------------------------------------------------------------------- names
    "17-duplicate-file": (tar(file("a", b"1"), file("a", b"2")), A, "a: is there twice"),
    "18-file-then-dir-child": (tar(file("a"), file("a/b")), A, "lies below a, which is a file"),
    "file-then-folder": (tar(file("a"), folder("a"), file("a/b")), A, "a: is there twice"),
    "folder-then-file": (tar(folder("a"), file("a"), file("a/b")), A, "a: is there twice"),
    "folder-twice": (tar(folder("a"), folder("a"), file("a/b")), A, "a: is there twice"),
    "19-case-collision": (
        tar(file("README"), file("Readme")),
        U,
        "Readme: differs from README in case only",
    ),
    "case-collision-of-folders": (
        tar(folder("D"), file("D/x"), folder("d"), file("d/y")),
        U,
        "d: differs from D in case only",
    ),
    "case-collision-beyond-ascii": (
        tar(file("STRASSE"), file("straße")),
        U,
        "straße: differs from STRASSE in case only",
    ),
    "20-nfd-name": (tar(file("e\u0301")), U, "not in Unicode normalisation form C"),
    "nfc-and-nfd": (tar(file("e\u0301"), file("é")), U, "not in Unicode normalisation form C"),
    "21-backslash": (tar(file("..\\pwn")), U, "..\\pwn: name holds a backslash"),
    "22-windows-con": (tar(file("con.txt")), U, "con.txt: name is that of a device"),
    "drive": (tar(file("C:pwn")), U, "C:pwn: name holds a colon"),
    "stream": (tar(file("a:b")), U, "a:b: name holds a colon"),
    "trailing-dot": (tar(file("a.")), U, "ends with a dot or a space"),
    "trailing-space": (tar(file("a ")), U, "ends with a dot or a space"),
    "23-newline": (tar(file("a\nb")), U, r"a\nb: name holds a control character"),
    "escape-sequence": (
        tar(file("a\x1b]0;owned\x07")),
        U,
        r"a\x1b]0;owned\x07: name holds a control character",
    ),
    "nul-in-pax-path": (
        tar(member("a", b"x", records={"path": "a\0b"})),
        U,
        r"a\x00b: name holds a control character",
    ),
    "24-bidi": (
        tar(file("a\u202egpj.exe")),
        U,
        r"a\u202egpj.exe: name holds a character that changes the direction of writing",
    ),
    "not-utf-8": (tar(file(os.fsdecode(b"caf\xe9"))), U, "name holds bytes that are not UTF-8"),
    "overlong-utf-8": (tar(file(os.fsdecode(b"\xc0\xae\xc0\xae/pwn"))), U, "not UTF-8"),
    "33-deep-nesting": (
        tar(*(folder("/".join(["d"] * depth)) for depth in range(1, 66))),
        U,
        "path is deeper than 64 levels",
    ),
    "deep-in-one-name": (tar(file("/".join(["d"] * 500))), U, "path is deeper than 64 levels"),
    "34-long-component": (tar(file("x" * 300)), U, "longer than 255 bytes"),
    "long-path": (tar(file("/".join(["x" * 250] * 20))), U, "path is longer than 4096 bytes"),
    "missing-folder": (tar(file("a/b")), A, "a/b: its folder a is not in the archive before it"),
    "folder-after-its-file": (tar(file("a/b"), folder("a")), A, "its folder a is not in"),
    "empty-folder": (tar(folder("a")), A, "a: is a folder that holds nothing"),
    "out-of-order": (tar(file("b"), file("a")), A, "a: is out of order"),
    # ----------------------------------------------------------------------------- pax, GNU
    "25-pax-path-override": (
        tar(member("ok", b"x", records={"path": "../pwn"})),
        U,
        "../pwn: path is not relative",
    ),
    "pax-path-in-place-of-a-harmless-one": (
        tar(member("ok", b"x", records={"path": "other"})),
        A,
        "other: its pax header is not the one that its path, link and size need",
    ),
    "pax-link-override": (
        lambda v: tar(member("l", kind=b"2", target="a", records={"linkpath": v + "/secret"})),
        A,
        "l: its pax header is not the one",
    ),
    "26-pax-xattr": (
        tar(member("ok", b"x", records={"SCHILY.xattr.security.capability": "x"})),
        A,
        "a pax header holds SCHILY.xattr.security.capability",
    ),
    "pax-uid": (tar(member("ok", b"x", records={"uid": "0"})), A, "a pax header holds uid"),
    "pax-sparse": (
        tar(member("ok", b"x", records={"GNU.sparse.major": "1"})),
        A,
        "a pax header holds GNU.sparse.major",
    ),
    "pax-charset": (
        tar(member("ok", b"x", records={"hdrcharset": "BINARY"})),
        A,
        "a pax header holds hdrcharset",
    ),
    "pax-key-with-escape": (
        tar(member("ok", b"x", records={"\x1b[2J": "1"})),
        A,
        r"a pax header holds \x1b[2J",
    ),
    "pax-size-mismatch": (
        tar(member("ok", b"x" * 512, records={"size": "1024"})),
        A,
        "ok: its pax header is not the one",
    ),
    "pax-size-zero": (tar(member("ok", b"x", records={"size": "0"})), A, "pax size is no number"),
    "pax-size-negative": (
        tar(member("ok", b"x", records={"size": "-512"})),
        A,
        "ok: its pax size is no number: -512",
    ),
    "pax-huge-size": (
        tar(member("ok", b"x", records={"size": str(8 << 60)})),
        A,
        "ok: declares 9,223,372,036,854,775,808 bytes",
    ),
    "pax-record-twice": (
        tar(pax(record("path", "é") + record("path", "../pwn")), file("ok")),
        A,
        "a pax header holds path twice",
    ),
    "pax-unsorted": (
        tar(pax(record("path", "é") + record("linkpath", "ü")), link("_", "_")),
        A,
        "é: its pax header is not the one",
    ),
    "pax-length-lies": (tar(pax(b"99 path=x\n"), file("_")), A, "a pax header is damaged"),
    "pax-length-zero": (tar(pax(b"0 path=x\n"), file("_")), A, "a pax header is damaged"),
    "pax-length-huge": (
        tar(pax(b"9" * 400 + b" path=x\n"), file("_")),
        A,
        "a pax header is damaged",
    ),
    "pax-without-newline": (tar(pax(b"8 path=x"), file("_")), A, "a pax header is damaged"),
    "pax-without-records": (tar(pax(b""), file("a")), A, "a: its pax header is not the one"),
    "huge-pax": (
        tar(pax(record("path", "x" * 70_000)), file("x")),
        A,
        "a pax header of 70,012 bytes, where 16,384 are allowed",
    ),
    "pax-of-8-gib": (
        tar(header("p", kind=b"x", size=(8 << 30) - 1)),
        A,
        "a pax header of 8,589,934,591 bytes",
    ),
    "pax-with-another-name": (
        tar(
            header("PaxHeaders/x", kind=b"x", size=11) + padded(record("path", "é")),
            member("_", b"x"),
        ),
        A,
        "its pax header is not the one",
    ),
    "pax-twice": (
        tar(pax(record("path", "é")), pax(record("path", "ü")), file("_")),
        A,
        "a pax header is not followed by a member",
    ),
    "pax-at-the-end": (tar(pax(record("path", "é"))), A, "not followed by a member"),
    "global-pax": (
        tar(pax(record("path", "../pwn"), kind=b"g"), file("a")),
        A,
        "is a global pax header",
    ),
    "27-gnu-long-name": (
        tar(member("././@LongLink", b"../pwn\0", kind=b"L"), file("a")),
        A,
        "is a GNU long name",
    ),
    "gnu-long-link": (
        tar(member("././@LongLink", b"/etc/passwd\0", kind=b"K"), link("a", "b")),
        A,
        "is a GNU long link name",
    ),
    "gnu-magic": (tar(member("a", magic=b"ustar  \0")), A, "a: has a header of GNU format"),
    "v7-magic": (tar(member("a", magic=bytes(8))), A, "a: has a header of another format"),
    "28-sparse": (tar(member("s", b"x", kind=b"S")), A, "s: is a sparse file"),
    "prefix-where-none-is-needed": (
        tar(folder("d"), member("x", prefix=b"d")),
        A,
        "d/x: its name is “x”, where only “d/x” is allowed",
    ),
    # -------------------------------------------------------------------- numbers and fields
    "38-negative-size": (
        tar(member("a", b"x", size=b"\xff" * 12)),
        A,
        "a: its size is a negative number in base 256",
    ),
    "base-256-size": (
        tar(member("a", b"x", size=b"\x80" + bytes(10) + b"\1")),
        A,
        "a: its size is a number in base 256",
    ),
    "8-eib-size": (
        tar(member("a", b"x", size=b"\x80\0\0\0\x7f" + b"\xff" * 7)),
        A,
        "a: its size is a number in base 256",
    ),
    "32-huge-declared-size": (
        tar(member("a", b"x", size=b"77777777777")),
        A,
        "a: declares 8,589,934,591 bytes where 1,048,576 are allowed",
    ),
    "size-with-minus": (tar(member("a", b"x", size=b"-0000000001")), A, "is no octal number: -"),
    "size-with-spaces": (tar(member("a", b"x", size=b"         1 ")), A, "is no octal number"),
    "size-of-nothing": (tar(member("a", b"", size=bytes(12))), A, "is no octal number"),
    "size-in-decimal": (tar(member("a", b"x", size=b"00000000009")), A, "is no octal number"),
    "folder-with-content": (
        tar(member("d/", b"x" * 512, kind=FOLDER), file("d/x")),
        A,
        "d: its size is “00000001000”, where only “00000000000” is allowed",
    ),
    "link-with-content": (
        tar(file("a"), member("l", b"x" * 512, kind=b"2", target="a")),
        A,
        "l: its size is “00000001000”",
    ),
    "file-with-target": (tar(member("a", target="/etc/passwd")), A, "a: its linkname is “/etc"),
    "time": (
        tar(member("a", mtime=b"00000000000")),
        A,
        "a: its mtime is “00000000000”, where only “02263523000” is allowed",
    ),
    "owner": (tar(member("a", uid=b"0001750")), A, "a: its uid is “0001750”"),
    "owner-name": (tar(member("a", uname=b"root")), A, "a: its uname is “root”"),
    "device-numbers-of-a-file": (tar(member("a", devmajor=b"0000001")), A, "a: its devmajor is"),
    "something-behind-the-name": (
        tar(checksummed(header("a\0hidden"))),
        A,
        r"a: its name is “a\x00hidden”, where only “a” is allowed",
    ),
    "something-behind-the-header": (tar(member("a", padding=b"x")), A, "a: its padding is “x”"),
    "content-behind-the-file": (
        tar(header("a", size=1) + b"x" + b"hidden".ljust(511, b"\0")),
        A,
        "a: its last block is not filled up with zeros",
    ),
    "bad-checksum": (tar(b"b" + header("a")[1:]), A, "a header has a wrong checksum"),
    "40-not-a-tar": (bytes(100) + bytes(range(256)) * 8, A, "a header has a wrong checksum"),
    # -------------------------------------------------------------------------- where it ends
    "29-truncated": (tar(file("a", b"x" * 5000))[:2000], A, "the archive ends too early"),
    "truncated-in-a-header": (tar(file("a"))[:100], A, "the archive ends too early"),
    "truncated-before-the-end": (tar(file("a"))[:-512], A, "the archive ends too early"),
    "without-an-end": (file("a"), A, "the archive ends too early"),
    "nothing": (b"", A, "the archive ends too early"),
    "one-zero-block": (file("a") + bytes(512) + file("b") + END, A, "two blocks of zeros"),
    "30-trailing-garbage": (GOOD + b"EVIL" * 200, A, "the archive goes on after its end"),
    "trailing-zeros": (GOOD + bytes(512 * 16), A, "the archive goes on after its end"),
    "trailing-byte": (GOOD + b"\0", A, "the archive goes on after its end"),
    "31-second-archive": (GOOD + tar(file("../pwn")), A, "the archive goes on after its end"),
    # ------------------------------------------------------------------------------- limits
    "39-many-members": (
        tar(*(file(f"f{number:04}", b"") for number in range(3000))),
        A,
        "more than the 1,000 members that are allowed",
    ),
    "many-folders": (
        tar(*(folder(f"f{number:04}") for number in range(3000))),
        A,
        "more than the 1,000 members that are allowed",
    ),
    "long-names-altogether": (
        tar(*(file("x" * 250 + f"{number:04}", b"") for number in range(999))),
        A,
        "names of more than the 131,072 bytes that are allowed",
    ),
    "long-targets-altogether": (
        tar(*(link(f"{number:04}", "x" * 2000) for number in range(999))),
        A,
        "names of more than the 131,072 bytes that are allowed",
    ),
    "large-file": (
        tar(file("a", bytes(1 + (1 << 20)))),
        A,
        "a: declares 1,048,577 bytes where 1,048,576 are allowed",
    ),
    "many-bytes": (
        tar(*(file(f"{number}", bytes(1 << 20)) for number in range(4))),
        A,
        "bytes where",
    ),
}
