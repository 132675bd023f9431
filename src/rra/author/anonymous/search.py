"""Searching every byte that is packed, inside of what is compressed as far as it can be opened."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from rra.audit.containers import MAX_PART_BYTES, open_container
from rra.author.anonymous.identifier import Finder, Hit, Identifier
from rra.bundle.compress import is_worthwhile
from rra.errors import Problem

WINDOW = 4 << 20
OVERLAP = 4096
_DEPTH = 4
_ENOUGH = 20
_LEAST_OPAQUE = 1024
_NOBODYS = {b"git", b"noreply", b"user", b"you", b"name", b"someone"}
_EXAMPLE = (b"example.", b"users.noreply.")
_PNG = b"\x89PNG\r\n\x1a\n"
_PDF = b"%PDF-"
_MAIL = re.compile(
    rb"(?P<local>[A-Za-z0-9][A-Za-z0-9._%+-]{0,63})@(?P<domain>(?:[A-Za-z0-9-]+\.)+"
    rb"(?:com|org|net|edu|gov|io|ai|dev|info|(?!to\b)[a-z]{2}))\b"
)
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_EMBEDDED = re.compile(rb'"((?:[A-Za-z0-9+/]|\\n){400,}={0,2}(?:\\n)?)"')
_ZLIB = {b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"}
_ZSTD = b"\x28\xb5\x2f\xfd"
_CONTAINERS = (
    (b"PK", "zip archive"), (b"\x1f\x8b", "gzip stream"), (b"BZh", "bzip2 stream"),
    (b"\xfd7zXZ\x00", "xz stream"), (_ZSTD, "zstandard stream"),
    (b"SQLite format 3\x00", "SQLite database"),
)  # fmt: skip
_OPAQUE = (
    (b"\xff\xd8\xff", "JPEG picture"), (b"\x89HDF\r\n", "HDF5 file"), (b"PAR1", "Parquet file"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"), (b"Rar!", "RAR archive"), (b"GIF8", "GIF picture"),
    (b"\x00\x00\x00 ftyp", "video"), (b"\x04\x22\x4d\x18", "LZ4 stream"), (b"RIFF", "RIFF file"),
    (b"ORC", "ORC file"), (b"ARROW1", "Arrow file"), (b"MATLAB 5.0", "MATLAB file"),
    (b"-----BEGIN PGP", "encrypted text"), (b"Salted__", "encrypted file"),
    (b"age-encryption.org", "encrypted file"),
)  # fmt: skip
_CLAUSE = "privacy/anonymous-search"


@dataclasses.dataclass(frozen=True, slots=True)
class Unsearched:
    """Something that was packed and could be searched only in part.

    Attributes:
        path: Its place, the parts of archives behind ``!``.
        why: What was not looked at.
    """

    path: str
    why: str


@dataclasses.dataclass(slots=True)
class Findings:
    """What a search found.

    Attributes:
        problems: Places of texts that identify.
        perhaps: The first place of each given name, which may be anybody's.
        unsearched: What could be searched only in part.
        files: How many files were searched.
        size: How many bytes they have.
    """

    problems: list[Problem] = dataclasses.field(default_factory=list)
    perhaps: list[Problem] = dataclasses.field(default_factory=list)
    unsearched: list[Unsearched] = dataclasses.field(default_factory=list)
    files: int = 0
    size: int = 0


class Search:
    """A search through the files of a folder."""

    def __init__(self, finder: Finder) -> None:
        """Begin a search for some texts."""
        self._finder = finder
        self._perhaps: set[str] = set()
        self._addresses: set[str] = set()
        self.findings = Findings()

    def files(self, root: Path, paths: Iterable[PurePosixPath]) -> Findings:
        """Search names, targets of links and contents of files.

        Raises:
            OSError: A file cannot be read.
        """
        seen: set[str] = set()
        for path in paths:
            for part in (*path.parents, path):
                if str(part) not in seen:
                    seen.add(str(part))
                    self._name(part)
            place = root / path
            if place.is_symlink():
                target = os.fsencode(place.readlink())
                self._report(str(path), target, self._finder.find(target), None, "link to")
                continue
            self.findings.files += 1
            self.findings.size += place.stat().st_size
            self._file(str(path), place)
        return self.findings

    def _name(self, path: PurePosixPath) -> None:
        data = os.fsencode(path.name)
        self._report(str(path), data, self._finder.find(data), None, "name of the file")

    def _file(self, name: str, place: Path) -> None:
        size = place.stat().st_size
        with place.open("rb") as file:
            head = file.read(WINDOW)
            if size <= MAX_PART_BYTES and (size <= WINDOW or _opens(head)):
                self._bytes(name, head + file.read(), 0)
                return
            self._windows(name, file, head)
            kind = _kind(head, _CONTAINERS + _OPAQUE)
            if kind or (b"\0" in head and not is_worthwhile(file, size)):
                what = kind or "file that looks compressed or encrypted"
                why = f"{what}, {size:,} bytes: only its bytes as they are were searched"
                self.findings.unsearched.append(Unsearched(name, why))

    def _windows(self, name: str, file: io.BufferedReader, head: bytes) -> None:
        """Search a file that is too large for memory, in pieces that overlap."""
        lines, kept, window = 0, b"", head
        while window:
            data = kept + window
            final = len(window) < WINDOW
            edge = len(data) if final else len(data) - OVERLAP
            hits = [hit for hit in self._finder.find(data) if hit.start < edge]
            self._report(name, data, hits, lines)
            kept = data[edge:]
            lines += data.count(b"\n", 0, edge)
            window = file.read(WINDOW)

    def _bytes(self, name: str, data: bytes, depth: int) -> None:
        """Search bytes as they are, and what is in them."""
        self._report(name, data, self._finder.find(data), 0)
        self._strangers(name, data)
        if depth >= _DEPTH:
            self.findings.unsearched.append(Unsearched(name, "archives inside archives: too deep"))
            return
        container = open_container(data)
        if container is not None:
            for part, content in container.parts.items():
                label = os.fsencode(part)
                self._report(name, label, self._finder.find(label), None, "name of a part")
                self._bytes(f"{name}!{part}", content, depth + 1)
            return
        if data.startswith(_ZSTD):
            whole = _zstd(data)
            if whole is not None:
                self._bytes(f"{name}!zstd", whole, depth + 1)
                return
        parts = 0
        for part, content in _inner(data):
            parts += 1
            self._bytes(f"{name}!{part}", content, depth + 1)
        self._note_opaque(name, data, opened=bool(parts))

    def _note_opaque(self, name: str, data: bytes, *, opened: bool) -> None:
        """Take down what could not be looked into."""
        closed = _kind(data, _CONTAINERS)
        if closed:
            why = f"{closed} that cannot be opened (encrypted, damaged or too large)"
        elif data.startswith(_PNG):
            why = "picture: its texts were searched, not what is drawn"
        elif data.startswith(_PDF):
            why = "PDF: its streams were searched as bytes; letters can be drawn in other codes"
        elif kind := _kind(data, _OPAQUE):
            why = f"{kind}: only its bytes as they are were searched"
        elif not opened and _looks_random(data):
            why = "looks compressed or encrypted: only its bytes as they are were searched"
        else:
            return
        self.findings.unsearched.append(Unsearched(name, why))

    def _strangers(self, name: str, data: bytes) -> None:
        """Tell of e-mail addresses of whom nothing is known; they may be the authors' too."""
        place = data.find(b"@")
        while place >= 0 and b"\0" not in data and len(self._addresses) < _ENOUGH:
            match = _MAIL.search(data, max(0, place - 64), place + 256)
            if (
                match
                and match["local"] not in _NOBODYS
                and not match["domain"].startswith(_EXAMPLE)
            ):
                address = match[0].decode()
                if address not in self._addresses:
                    self._addresses.add(address)
                    line = data.count(b"\n", 0, match.start()) + 1
                    message = f"{address} is an address of whom nothing is known; is it yours?"
                    hint = f"have it blanked with --also {address}, or leave it if it is not"
                    problem = Problem(
                        message, name, line, clause=_CLAUSE, hint=hint, severity="warning"
                    )
                    self.findings.perhaps.append(problem)
            place = data.find(b"@", max(place + 1, match.end() if match else 0))

    def _report(
        self, name: str, data: bytes, hits: Iterable[Hit], lines: int | None, what: str = ""
    ) -> None:
        """Take down hits; `lines` is how many lines came before, None where there are none."""
        told = 0
        for hit in hits:
            one = hit.identifier
            line = None if lines is None else lines + data.count(b"\n", 0, hit.start) + 1
            problem = _problem(name, line, data[hit.start : hit.end], hit, what)
            if one.certain and told < _ENOUGH:
                told += 1
                self.findings.problems.append(problem)
            elif not one.certain and one.text not in self._perhaps:
                self._perhaps.add(one.text)
                self.findings.perhaps.append(problem)


def _problem(name: str, line: int | None, found: bytes, hit: Hit, what: str) -> Problem:
    one: Identifier = hit.identifier
    shown = found[:80].decode("utf-8", "backslashreplace")
    how = f" in {hit.form}" if hit.form else ""
    where = f"{what} " if what else ""
    message = f"{where}{shown!r} is {one.text!r}{how} ({one.kind}: {one.source})"
    if not one.certain:
        message += "; it may be anybody's, so look for it yourself"
    hint = f"remove it, or say that it identifies nobody: {one.to_keep}"
    if not one.replaced and one.certain and not hit.form and not what:
        hint = f"have it replaced everywhere: --also {one.text!r}; or let it stay: --keep"
    severity = "error" if one.certain else "warning"
    return Problem(message, name, line, clause=_CLAUSE, hint=hint, severity=severity)  # type: ignore[arg-type]


def _kind(data: bytes, kinds: tuple[tuple[bytes, str], ...]) -> str:
    return next((kind for magic, kind in kinds if data.startswith(magic)), "")


def _opens(head: bytes) -> bool:
    """Tell whether something else may be inside of a file: an archive, or text with base64."""
    if b"\0" not in head or head[257:262] == b"ustar" or head.startswith((_PNG, _PDF)):
        return True
    return head[:2] in _ZLIB or bool(_kind(head, _CONTAINERS))


def _looks_random(data: bytes) -> bool:
    if len(data) < _LEAST_OPAQUE or not any(byte > 0x7F for byte in data[:_LEAST_OPAQUE]):
        return False
    return not is_worthwhile(io.BytesIO(data), len(data))


def _zstd(data: bytes) -> bytes | None:
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as stream:
            content = stream.read(MAX_PART_BYTES + 1)
    except zstandard.ZstdError:
        return None
    return content if len(content) <= MAX_PART_BYTES else None


def _inner(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what is encoded in parts of a file: texts of pictures, streams of PDF, base64."""
    if data.startswith(_PNG):
        yield from _png_texts(data)
    elif data.startswith(_PDF):
        for number, match in enumerate(_STREAM.finditer(data), 1):
            content = _inflated(match[1])
            if content is not None:
                yield f"stream {number}", content
    else:
        for number, match in enumerate(_EMBEDDED.finditer(data), 1):
            try:
                content = base64.b64decode(match[1].replace(b"\\n", b""), validate=True)
            except binascii.Error:
                continue
            line = data.count(b"\n", 0, match.start()) + 1
            yield f"base64 {number} (line {line})", content


def _png_texts(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the compressed texts of a picture; those that are not are found in its bytes.

    Source: Portable Network Graphics (third edition), 11.3.3.
    """
    place = len(_PNG)
    while place + 8 <= len(data):
        length = int.from_bytes(data[place : place + 4])
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        place += 12 + length
        if kind == b"zTXt":
            content = _inflated(body.partition(b"\0")[2][1:])
        elif kind == b"iTXt" and body.partition(b"\0")[2][:1] == b"\x01":
            content = _inflated(body.partition(b"\0")[2][2:].split(b"\0", 2)[-1])
        elif kind == b"iCCP":
            content = _inflated(body.partition(b"\0")[2][1:])
        else:
            continue
        if content is not None:
            yield kind.decode(), content


def _inflated(data: bytes) -> bytes | None:
    try:
        machine = zlib.decompressobj()
        content = machine.decompress(data, MAX_PART_BYTES)
    except zlib.error:
        return None
    return content
