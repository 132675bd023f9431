"""Bundles in one file: the tar of an OCI image layout.

Reading unpacks nothing: the headers are passed over once, and blobs are read where they lie.
Only the names of a layout are accepted. Writing gives a canonical tar that appears under its
name when it is whole.

Source: OCI Image Specification 1.1, Image Layout; POSIX.1-2017, ustar interchange format.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import io
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from rra._base.files import storage_errors, walk_files
from rra.bundle.canonical import archive_blocks
from rra.bundle.index import BLOBS, INDEX, MAX_INDEX_BYTES, OCI_LAYOUT, Index
from rra.bundle.layout import LayoutStore, check_version
from rra.bundle.names import printable
from rra.bundle.reference import is_digest
from rra.bundle.referrers import LocalReferrers, is_manifest, listed_blobs
from rra.bundle.staging import claimed
from rra.bundle.store import (
    BLOCK,
    CHUNK,
    MANIFEST_TYPE,
    MAX_MANIFEST_BYTES,
    Descriptor,
    read_blob,
    verified,
)
from rra.errors import CorruptError, UsageError

_BLOCK = 512
_MAX_MEMBERS = 100_000
_MAX_EXTENSION = 64 * 1024
_BLOB = re.compile(rf"{BLOBS}/[0-9a-f]{{64}}")
_FOLDERS = {"", ".", "blobs", BLOBS}
_HINT = "get the file again from where it came"

Place = tuple[int, int]
"""Offset and length of a member's bytes."""


class ArchiveStore:
    """The blobs and manifests of a file that holds the tar of an OCI image layout."""

    def __init__(self, file: Path) -> None:
        """Name the file; it is looked at when something is read or written."""
        self._file = file
        self._members: tuple[os.stat_result, dict[str, Place]] | None = None
        self._draft: LayoutStore | None = None
        self._statements = LocalReferrers(self)

    @property
    def name(self) -> str:
        """The file, as messages call it."""
        return str(self._file)

    def has(self, digest: str) -> bool:
        """Tell whether a blob is there; its bytes are not looked at."""
        if self._draft is not None:
            return self._draft.has(digest)
        return self._file.is_file() and _blob(digest) in self._scan()

    @contextlib.contextmanager
    def open(self, descriptor: Descriptor) -> Iterator[BinaryIO]:
        """Give the bytes of a blob, verified by the time the context ends without error.

        Raises:
            CorruptError: The blob is missing, or not of that size and digest.
        """
        with (
            self._part(descriptor) as part,
            verified(part, descriptor, self.name) as stream,
        ):
            yield stream

    def chunks(self, descriptor: Descriptor) -> Iterator[bytes]:
        """Yield the bytes of a blob; they are not compared with it.

        Raises:
            CorruptError: The blob is missing, or not of that size.
        """
        with self._part(descriptor) as part:
            while block := part.read(CHUNK):
                yield block

    @contextlib.contextmanager
    def _part(self, descriptor: Descriptor) -> Iterator[_Part]:
        """Open the file where a blob of that size lies in it."""
        self._scan()
        with self._file.open("rb", buffering=0) as file:
            place = self._places(file).get(_blob(descriptor.digest))
            if place is None:
                message = f"blob {descriptor.digest} is not in {self.name}"
                raise CorruptError(message, hint=_HINT)
            if place[1] != descriptor.size:
                message = (
                    f"blob {descriptor.digest} in {self.name} has {place[1]} bytes,"
                    f" not the {descriptor.size} declared"
                )
                raise CorruptError(message, hint=_HINT)
            file.seek(place[0])
            yield _Part(file, place[1])

    def put(self, chunks: Iterable[bytes], media_type: str) -> Descriptor:
        """Keep a blob whose digest is not known yet, and return its descriptor."""
        return self._writable().put(chunks, media_type)

    def put_blob(self, descriptor: Descriptor, chunks: Iterable[bytes]) -> None:
        """Keep a blob whose digest is known.

        Raises:
            CorruptError: The chunks are not that blob.
        """
        self._writable().put_blob(descriptor, chunks)

    def put_file(self, descriptor: Descriptor, file: Path) -> bool:
        """Keep a blob whose bytes were verified; see `LayoutStore.put_file`."""
        return self._writable().put_file(descriptor, file)

    def discard(self, digest: str) -> None:
        """Forget a blob that was put since the writing began."""
        self._writable().discard(digest)

    def get_manifest(self, reference: str | None) -> tuple[bytes, Descriptor]:
        """Return the bytes of a manifest and their descriptor, verified.

        Raises:
            UsageError: There is no such file or bundle, or several would do.
            CorruptError: The bytes are not what the index says, or the tar is damaged.
        """
        descriptor = self._read_index().find(reference, self._statements.refers)
        return read_blob(self, descriptor, MAX_MANIFEST_BYTES), descriptor

    def put_manifest(
        self, data: bytes, tag: str | None, *, media_type: str = MANIFEST_TYPE
    ) -> Descriptor:
        """Keep a manifest under a tag, after everything that it names."""
        return self._writable().put_manifest(data, tag, media_type=media_type)

    def tags(self) -> list[str]:
        """Return the tags of bundles in the file, sorted."""
        return self._read_index().tags()

    def referrers(self, digest: str, artifact_type: str | None = None) -> list[Descriptor]:
        """Return the statements on a manifest; see `BlobStore.referrers`.

        Raises:
            UsageError: There is no such file.
            CorruptError: A manifest is not what the index says, or the tar is damaged.
        """
        return self._statements.of(self._read_index().entries, digest, artifact_type)

    def put_referrer(self, data: bytes, subject: Descriptor) -> Descriptor:
        """Keep a statement on a manifest that was put before, or that the file has.

        In the second case the new file has all that the old one has.

        Raises:
            FormatError: The bytes name another subject, or are no manifest.
            UsageError: Neither has the subject.
            StorageError: The disk is full or refuses.
        """
        draft = self._writable()
        if not draft.has(subject.digest):
            self._take_over(draft, subject)
        return draft.put_referrer(data, subject)

    def _take_over(self, draft: LayoutStore, subject: Descriptor) -> None:
        """Bring all that the file has into the new one."""
        if not (self._file.is_file() and _blob(subject.digest) in self._scan()):
            message = f"{self._file} holds no manifest {subject.digest}"
            raise UsageError(message, hint="copy the bundle there first: rra copy")
        for name, (_, size) in self._scan().items():
            digest = f"sha256:{name.rpartition('/')[2]}"
            if is_digest(digest):
                self._bring(draft, Descriptor("application/octet-stream", digest, size))
        draft.take_over(self._read_index())

    def _bring(self, draft: LayoutStore, blob: Descriptor) -> None:
        if not draft.has(blob.digest):
            with self.open(blob) as stream:
                draft.put_blob(blob, iter(functools.partial(stream.read, BLOCK), b""))

    def _keep_statements(self, draft: LayoutStore) -> None:
        """Bring what the file has on the bundles that the new one holds, and on that again.

        Raises:
            UsageError: It has statements on other bundles, which would be lost.
        """
        about = [
            (entry, subject)
            for entry in self._read_index().entries
            if is_manifest(entry)
            and (subject := self._statements.subject(entry)) is not None
            and not draft.has(entry.digest)
        ]
        while kept := [pair for pair in about if draft.has(pair[1])]:
            for entry, subject in kept:
                data = read_blob(self, entry, MAX_MANIFEST_BYTES)
                for blob in listed_blobs(data, entry.digest):
                    self._bring(draft, blob)
                draft.put_referrer(data, Descriptor(MANIFEST_TYPE, subject, 0))
            about = [pair for pair in about if pair not in kept]
        if about:
            several = "s" * (len(about) != 1)
            message = (
                f"{self._file} holds {len(about)} statement{several} on another bundle, "
                f"{about[0][1]}, which would be lost"
            )
            raise UsageError(message, hint="name another file, or remove that one if you mean it")

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Bracket all writes; the file is made, or replaced as a whole, at the end.

        Raises:
            UsageError: There is a file of that name that is no OCI archive.
            StorageError: The disk is full or refuses; the old file is as it was.
        """
        if self._file.is_dir():
            hint = "name a file, or a folder with oci-layout:DIR"
            raise UsageError(f"{self._file} is a folder", hint=hint)
        if self._file.is_symlink() and not self._file.exists():
            message = f"{self._file} is a link that leads nowhere"
            raise UsageError(message, hint="remove the link, or name another file")
        with self._alone(), self._replacing():
            yield

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other writers of our kind away until a new file has taken the place of this one."""
        with contextlib.ExitStack() as stack:
            while self._file.exists():
                with storage_errors(self._file):
                    file = stack.enter_context(self._file.open("rb"))
                fcntl.flock(file, fcntl.LOCK_EX)
                if _is_file(self._file, os.fstat(file.fileno())):
                    break  # otherwise another writer has replaced it while we waited
            yield

    @contextlib.contextmanager
    def _replacing(self) -> Iterator[None]:
        if self._file.exists():
            self._refuse_to_replace_others()
        try:
            with claimed(self._file.parent) as staging:
                self._draft = LayoutStore(staging / "layout")
                with self._draft.writing():
                    yield
                    if self._file.exists():
                        self._keep_statements(self._draft)
                self._write(staging)
        finally:
            self._draft = self._members = None

    def _write(self, staging: Path) -> None:
        layout, draft = staging / "layout", staging / "archive"
        with storage_errors(self._file):
            with draft.open("xb") as stream:
                for block in archive_blocks(layout, walk_files(layout)):
                    stream.write(block)
                stream.flush()
                os.fsync(stream.fileno())
            draft.chmod(0o644)
            draft.replace(self._file)

    def _refuse_to_replace_others(self) -> None:
        try:
            self._read_index()
        except (CorruptError, UsageError) as error:
            message = f"{self._file} is there and is no OCI archive: {error.message}"
            raise UsageError(message, hint="remove it, or name another file") from error

    def _writable(self) -> LayoutStore:
        if self._draft is None:
            raise ValueError("blobs are put between the begin and the end of writing()")
        return self._draft

    def _read_index(self) -> Index:
        members = self._scan()
        missing = [name for name in (OCI_LAYOUT, INDEX) if name not in members]
        if missing:
            message = f"{self._file} is not the tar of an OCI image layout: no {missing[0]}"
            raise UsageError(message, hint="give the file of a bundle, or the name of a new one")
        check_version(self._small(OCI_LAYOUT), self.name)
        return Index.parse(self._small(INDEX), self.name)

    def _small(self, name: str) -> bytes:
        with self._file.open("rb") as file:
            offset, length = self._places(file)[name]
            if length > MAX_INDEX_BYTES:
                message = f"{name} in {self._file} is larger than {MAX_INDEX_BYTES} bytes"
                raise CorruptError(message, hint=_HINT)
            file.seek(offset)
            return file.read(length)

    def _scan(self) -> dict[str, Place]:
        if self._file.is_dir():
            hint = f"for a bundle in a folder give oci-layout:{self._file}"
            raise UsageError(f"{self._file} is a folder, not a file", hint=hint)
        if not self._file.is_file():
            hint = "make it with: rra pack ARTIFACT oci-archive:FILE"
            raise UsageError(f"no such file: {self._file}", hint=hint)
        with self._file.open("rb") as file:
            return self._places(file)

    def _places(self, file: BinaryIO) -> dict[str, Place]:
        """Return where the files of the open archive lie; it may be another one than before."""
        status = os.fstat(file.fileno())
        if self._members is None or not os.path.samestat(status, self._members[0]):
            self._members = (status, scan(file, str(self._file)))
        return self._members[1]


def _is_file(path: Path, status: os.stat_result) -> bool:
    """Tell whether an open file is still the one of that name."""
    try:
        return os.path.samestat(status, path.stat())
    except FileNotFoundError:
        return False


def scan(file: BinaryIO, where: str) -> dict[str, Place]:
    """Return where in a tar the files of an image layout lie.

    Takes what other tools write: any owner, time and mode, and extended headers, of which
    only a size counts. Names other than those of a layout, and two files of one name, are
    refused.

    Raises:
        CorruptError: The tar is damaged, ends early, or holds something else.
    """
    end = file.seek(0, io.SEEK_END)
    members: dict[str, Place] = {}
    offset, long_size = 0, None
    for _ in range(_MAX_MEMBERS):
        file.seek(offset)
        block = file.read(_BLOCK)
        if len(block) == _BLOCK and not any(block):
            return members
        size = _size(block, where) if long_size is None else long_size
        kind, data = block[156:157], offset + _BLOCK
        offset = data + size + -size % _BLOCK
        if offset > end:
            raise _fault(where, "the tar ends early")
        if kind in {b"x", b"g"}:
            file.seek(data)
            long_size = _long_size(file.read(min(size, _MAX_EXTENSION)), where)
            continue
        long_size = None
        name = _member_name(block, where)
        if name in members:
            raise _fault(where, f"holds two files called {name}")
        if name:
            members[name] = (data, size)
    raise _fault(where, f"holds more than {_MAX_MEMBERS} entries")


def _size(block: bytes, where: str) -> int:
    """Check a header's checksum and return the size that it gives."""
    if len(block) < _BLOCK:
        raise _fault(where, "not a tar, or one that ends early")
    plain = sum(block) - sum(block[148:156]) + 8 * ord(" ")
    if _number(block[148:156]) != plain:
        raise _fault(where, "not a tar, or a damaged one")
    size = _number(block[124:136])
    if size is None:
        raise _fault(where, "the tar is damaged: a size is not a number")
    return size


def _number(field: bytes) -> int | None:
    """Return a number of a header, octal or in base 256; None when it is neither."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    text = field.split(b"\0", 1)[0].strip(b" ")
    if not text or text.strip(b"01234567"):
        return None
    return int(text, 8)


def _member_name(block: bytes, where: str) -> str:
    """Return the name of a file of a layout; nothing for a folder on the way."""
    raw = block[:100].split(b"\0", 1)[0]
    if block[257:262] == b"ustar" and (prefix := block[345:500].split(b"\0", 1)[0]):
        raw = prefix + b"/" + raw
    name = raw.decode("utf-8", "backslashreplace").removeprefix("./").rstrip("/")
    kind = block[156:157]
    if kind == b"5" and name in _FOLDERS:
        return ""
    if kind in {b"0", b"\0"} and (name in {OCI_LAYOUT, INDEX} or _BLOB.fullmatch(name)):
        return name
    raise _fault(where, f"holds {printable(name)!r}, which is no part of an image layout")


def _long_size(body: bytes, where: str) -> int | None:
    """Return the size that an extended header gives; a name in it is refused."""
    size = None
    while body:
        digits, space, _ = body.partition(b" ")
        length = int(digits) if space and digits.isdigit() and len(digits) < 7 else 0
        record = body[len(digits) + 1 : length]
        key, equals, value = record.removesuffix(b"\n").partition(b"=")
        if not equals or not record.endswith(b"\n") or key in {b"path", b"linkpath"}:
            raise _fault(where, "an extended header is damaged, or names a file")
        if key == b"size":
            if not value.isdigit() or len(value) > 19:
                raise _fault(where, "the tar is damaged: a size is not a number")
            size = int(value)
        body = body[length:]
    return size


def _fault(where: str, what: str) -> CorruptError:
    return CorruptError(f"{where}: {what}", hint=_HINT)


def _blob(digest: str) -> str:
    return f"{BLOBS}/{digest.removeprefix('sha256:')}"


class _Part:
    """A stretch of a file as a source of its own."""

    def __init__(self, file: BinaryIO, length: int) -> None:
        self._file, self._left = file, length

    def read(self, size: int, /) -> bytes:
        """Read at most so many bytes; none at the end of the stretch."""
        block = self._file.read(min(size, self._left))
        self._left -= len(block)
        return block
