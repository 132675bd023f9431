"""Changes of inputs, made from a seed of chance alone: the same ones in every run.

Blind changes of a tar end at the checksum of its header, so some are mended afterwards, as
somebody would who means it.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

from tests.support.archives import checksummed

WORDS: dict[str, Sequence[bytes]] = {
    "tar": [
        b"../",
        b"/",
        b"./",
        b"..",
        b"\0",
        b"0",
        b"1",
        b"2",
        b"5",
        b"x",
        b"g",
        b"L",
        b"11 path=x\n",
        b"15 linkpath=..\n",
        b"10 size=9\n",
        b"\x80",
        b"\xff" * 12,
        b"77777777777",
        b"0000755",
        b"ustar\x0000",
        b"ustar  \0",
        bytes(512),
        bytes(1024),
    ],
    "layer": [
        b"\x28\xb5\x2f\xfd",
        b"\x50\x2a\x4d\x18",
        b"\x1f\x8b\x08",
        b"\x01\0\0",
        b"\x03\0\0",
        b"\x03\0\x10\0",
        b"\xff" * 8,
    ],
    "json": [
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b'"',
        b"null",
        b"true",
        b"-1",
        b"1.0",
        b"1e400",
        b"9" * 400,
        b"NaN",
        b'"\\ud800"',
        b'"\\u0000"',
        b'"\\u001b[2J"',
        b'"../x"',
        b"{}",
        b"[]",
        b'"a":',
        b"\xff",
        "\u202e".encode(),
        b"[" * 70,
    ],
    "yaml": [
        b"&a ",
        b"*a",
        b"<<: *a",
        b"!!str ",
        b"!!binary ",
        b"---\n",
        b"...\n",
        b"%YAML 1.1\n",
        b"? ",
        b"- ",
        b"|\n",
        b">-\n",
        b": ",
        b"{",
        b"}",
        b"[",
        b"]",
        b"0o7",
        b"1_000",
        b".inf",
        b".nan",
        b"~",
        b"2001-12-14t21:59:43.10-05:00",
        b"\t",
        b"\r",
        b"\0",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        "\u2028".encode(),
        b"9" * 400,
    ],
    "reference": [
        b"oci-layout:",
        b"oci-archive:",
        b"https://",
        b"http://",
        b"@sha256:",
        b"#sha256:",
        b"localhost/",
        b"127.0.0.1:5000/",
        b"[::1]/",
        b":",
        b"@",
        b"/",
        b"..",
        b"~",
        b"a" * 300,
        b"0" * 64,
        b"\0",
        b"\x1b",
        b"+",
        b"_",
        b"\xff",
        "é".encode(),
    ],
}
KINDS = {
    "archive": "tar",
    "index": "json",
    "manifest": "json",
    "config": "json",
    "definition": "yaml",
    "signature": "json",
}
MOST = 64 << 10


def words(harness: str) -> Sequence[bytes]:
    """Return what inputs of a harness are made of."""
    return WORDS[KINDS.get(harness, harness)]


def mutated(harness: str, data: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """Return an input with one to eight changes, some of them mended."""
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        _change(made, words(harness), others, chance)
    del made[MOST:]
    return mended(harness, bytes(made), chance)


def _change(
    made: bytearray, known: Sequence[bytes], others: Sequence[bytes], chance: random.Random
) -> None:
    at = chance.randrange(len(made) + 1)
    upto = min(len(made), at + chance.choice((1, 1, 2, 4, 8, 12, 64, 512)))
    match chance.randrange(8):
        case 0 if at < len(made):
            made[at] ^= 1 << chance.randrange(8)
        case 1 if at < len(made):
            made[at] = chance.choice((0, 0xFF, 0x7F, 0x80, 0x20, chance.randrange(256)))
        case 2:
            word = chance.choice(known)
            made[at : at + len(word)] = word
        case 3:
            made[at:at] = chance.choice(known)
        case 4:
            del made[at:upto]
        case 5:
            made[at:at] = made[at:upto] * chance.choice((1, 1, 2, 20))
        case 6:
            other = chance.choice(others)
            begin = chance.randrange(len(other) + 1)
            made[at:] = other[begin:]
        case _:
            made[at:upto] = chance.randbytes(upto - at)


def mended(harness: str, data: bytes, chance: random.Random) -> bytes:
    """Return a tar with the checksums of its headers right, nine times in ten."""
    if KINDS.get(harness, harness) != "tar" or chance.random() < 0.1:
        return data
    made = bytearray(data)
    if chance.random() < 0.8:
        made += bytes(-len(made) % 512)
    for start in range(0, len(made) - 511, 512):
        block = made[start : start + 512]
        if block[257:262] == b"ustar" or (any(block) and chance.random() < 0.02):
            made[start : start + 512] = checksummed(block)
    return bytes(made)


def seed_of(*parts: object) -> int:
    """Return a seed that depends on nothing but its parts."""
    text = "/".join(map(str, parts)).encode()
    return int(struct.unpack("<I", text[:4].ljust(4, b"\0"))[0]) ^ sum(
        byte << (position % 24) for position, byte in enumerate(text)
    )
