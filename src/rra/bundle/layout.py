"""Bundles in a folder: the OCI image layout.

A blob gets its name when it is whole, and ``index.json``, which alone makes a bundle visible,
is replaced last. A new layout appears under its name only when it is complete. One process
writes at a time.

Source: OCI Image Specification 1.1, Image Layout.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from rra._base.files import (
    STAGING_PREFIX,
    atomic_write,
    sha256_bytes,
    storage_errors,
    sweep_staging,
)
from rra.bundle.index import BLOBS, IMAGE_LAYOUT, INDEX, MAX_INDEX_BYTES, OCI_LAYOUT, Index
from rra.bundle.journal import Journal
from rra.bundle.jsonio import parse_json
from rra.bundle.referrers import LocalReferrers, referrer_of
from rra.bundle.staging import claimed
from rra.bundle.store import (
    CHUNK,
    MANIFEST_TYPE,
    MAX_MANIFEST_BYTES,
    Descriptor,
    read_blob,
    verified,
)
from rra.errors import CorruptError, FormatError, StorageError, UsageError


class LayoutStore:
    """The blobs and manifests of a folder in OCI image layout."""

    def __init__(self, directory: Path) -> None:
        """Name the folder; it is looked at when something is read or written."""
        self._directory = directory
        self._place = directory
        self._new: list[Path] | None = None
        self._index: Index | None = None
        self._journal: Journal | None = None
        self._statements = LocalReferrers(self)

    @property
    def name(self) -> str:
        """The folder, as messages call it."""
        return str(self._directory)

    def has(self, digest: str) -> bool:
        """Tell whether a blob is there; its bytes are not looked at."""
        if self._journal is not None:
            self._journal.want(digest)
        return self._blob(digest).is_file()

    @contextlib.contextmanager
    def open(self, descriptor: Descriptor) -> Iterator[BinaryIO]:
        """Give the bytes of a blob, verified by the time the context ends without error.

        Raises:
            CorruptError: The blob is missing, or not of that size and digest.
        """
        blob = self._blob(descriptor.digest)
        with (
            open_regular(blob, descriptor, self.name) as file,
            verified(file, descriptor, self.name) as stream,
        ):
            yield stream

    def chunks(self, descriptor: Descriptor) -> Iterator[bytes]:
        """Yield the bytes of a blob; they are not compared with it.

        Raises:
            CorruptError: The blob is missing, or not of that size.
        """
        with open_regular(self._blob(descriptor.digest), descriptor, self.name) as file:
            while block := file.read(CHUNK):
                yield block

    def put(self, chunks: Iterable[bytes], media_type: str) -> Descriptor:
        """Keep a blob whose digest is not known yet, and return its descriptor.

        Raises:
            StorageError: The disk is full or refuses.
        """
        return self._keep(chunks, media_type, None)

    def put_blob(self, descriptor: Descriptor, chunks: Iterable[bytes]) -> None:
        """Keep a blob whose digest is known.

        Raises:
            CorruptError: The chunks are not that blob; nothing is kept.
            StorageError: The disk is full or refuses.
        """
        self._keep(chunks, descriptor.media_type, descriptor)

    def put_file(self, descriptor: Descriptor, file: Path) -> bool:
        """Keep a blob whose bytes were verified and lie on the same disk, without a second copy.

        Args:
            descriptor: The blob.
            file: All of its bytes; it gets another name here and keeps its own.

        Returns:
            False where the file system does not give a file two names; nothing happened then.

        Raises:
            StorageError: The disk is full or refuses.
        """
        temporary = self._place / BLOBS / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
        try:
            os.link(file, temporary)
        except OSError:
            return False
        try:
            with storage_errors(self._directory):
                with temporary.open("rb") as stream:
                    os.fsync(stream.fileno())
                temporary.chmod(0o644)
                self._name(temporary, descriptor.digest)
        finally:
            temporary.unlink(missing_ok=True)
        return True

    def discard(self, digest: str) -> None:
        """Forget a blob that was put since the writing began."""
        blob = self._blob(digest)
        if self._new is not None and blob in self._new:
            self._new.remove(blob)
            blob.unlink()

    def get_manifest(self, reference: str | None) -> tuple[bytes, Descriptor]:
        """Return the bytes of a manifest and their descriptor, verified.

        Raises:
            UsageError: There is no such layout or bundle, or several would do.
            CorruptError: The bytes are not what the index says.
        """
        descriptor = self._read_index().find(reference, self._statements.refers)
        return read_blob(self, descriptor, MAX_MANIFEST_BYTES), descriptor

    def put_manifest(
        self, data: bytes, tag: str | None, *, media_type: str = MANIFEST_TYPE
    ) -> Descriptor:
        """Keep a manifest under a tag, after everything that it names.

        Raises:
            StorageError: The disk is full or refuses.
        """
        descriptor = Descriptor(media_type, sha256_bytes(data), len(data))
        artifact_type = parse_json(data, "manifest").get("artifactType")
        if isinstance(artifact_type, str):
            descriptor = Descriptor(
                media_type, descriptor.digest, descriptor.size, artifact_type=artifact_type
            )
        return self._list(data, descriptor, tag)

    def tags(self) -> list[str]:
        """Return the tags of bundles in the layout, sorted."""
        return self._read_index().tags()

    def referrers(self, digest: str, artifact_type: str | None = None) -> list[Descriptor]:
        """Return the statements on a manifest; see `BlobStore.referrers`.

        Raises:
            UsageError: There is no such layout.
            CorruptError: A manifest is not what the index says.
        """
        return self._statements.of(self._read_index().entries, digest, artifact_type)

    def put_referrer(self, data: bytes, subject: Descriptor) -> Descriptor:
        """Keep a statement on a manifest, as other tools do: in the index, without a name.

        Raises:
            FormatError: The bytes name another subject, or are no manifest.
            StorageError: The disk is full or refuses.
        """
        return self._list(data, referrer_of(data, subject), None)

    def take_over(self, older: Index) -> None:
        """List what another index lists besides, whose blobs come here too; while writing."""
        self._index = self._read_index().over(older)

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Bracket all writes of one bundle: when the block raises, nothing of it is left.

        Raises:
            UsageError: The folder is there and holds something else.
            StorageError: The disk is full or refuses.
        """
        if self._directory.exists() and not self._directory.is_dir():
            hint = "name a folder, or a file with oci-archive:FILE"
            raise UsageError(f"{self._directory} is not a folder", hint=hint)
        exists = self._directory.exists() and any(self._directory.iterdir())
        with self._adding() if exists else self._making():
            yield

    @contextlib.contextmanager
    def _making(self) -> Iterator[None]:
        """Make a new layout beside its place and move it there."""
        try:
            with claimed(self._directory.parent) as self._place:
                self._new, self._index = [], Index.empty(self.name)
                with storage_errors(self._directory):
                    (self._place / BLOBS).mkdir(parents=True)
                    atomic_write(self._place / OCI_LAYOUT, IMAGE_LAYOUT)
                yield
                with storage_errors(self._directory):
                    atomic_write(self._place / INDEX, self._index.to_bytes())
                    self._move()
        finally:
            self._place, self._new, self._index = self._directory, None, None

    def _move(self) -> None:
        try:
            self._place.rename(self._directory)
        except OSError as error:
            if not self._directory.exists():
                raise
            message = f"{self._directory} was written to meanwhile: {error.strerror}"
            raise StorageError(message, hint="run the same command again") from error

    @contextlib.contextmanager
    def _adding(self) -> Iterator[None]:
        """Add to a layout that is there; blobs that came with a failure go with it."""
        self._read_index()
        blobs = self._directory / BLOBS
        with _locked(self._directory):
            with storage_errors(self._directory):
                blobs.mkdir(parents=True, exist_ok=True)
                sweep_staging(blobs)
                sweep_staging(self._directory)
                self._journal = Journal(self._directory)
            self._new, self._index = [], self._read_index()
            try:
                yield
                self._journal.settle()
                atomic_write(self._directory / INDEX, self._index.to_bytes())
                self._new.clear()
            finally:
                for blob in self._new:
                    blob.unlink(missing_ok=True)
                self._journal.close()
                self._new, self._index, self._journal = None, None, None

    def _list(self, data: bytes, descriptor: Descriptor, tag: str | None) -> Descriptor:
        """Keep a manifest and list it; outside of a bracket at once."""
        self._keep([data], descriptor.media_type, descriptor)
        index = self._read_index().adding(descriptor, tag)
        if self._new is None:
            atomic_write(self._place / INDEX, index.to_bytes())
        else:
            self._index = index
        return descriptor

    def _keep(
        self, chunks: Iterable[bytes], media_type: str, expected: Descriptor | None
    ) -> Descriptor:
        """Write a blob beside its place, check it, and give it its name."""
        folder = self._place / BLOBS
        temporary = folder / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
        state, size = hashlib.sha256(), 0
        try:
            with storage_errors(temporary):
                file = temporary.open("xb", buffering=0)
            with file:
                for chunk in chunks:
                    state.update(chunk)
                    size += len(chunk)
                    with storage_errors(self._directory):
                        write_all(file.fileno(), chunk)
                with storage_errors(self._directory):
                    os.fsync(file.fileno())
            found = Descriptor(media_type, "sha256:" + state.hexdigest(), size)
            if expected is not None and (found.digest, size) != (expected.digest, expected.size):
                message = f"got {found.digest} of {size} bytes where {expected.digest} was due"
                raise CorruptError(message, hint="get the bundle again from where it came")
            temporary.chmod(0o644)
            self._name(temporary, found.digest)
        finally:
            temporary.unlink(missing_ok=True)
        return found

    def _name(self, temporary: Path, digest: str) -> None:
        """Give a whole blob its name."""
        blob = self._blob(digest)
        if self._journal is not None:
            self._journal.want(digest)
        if self._new is not None and not blob.exists():
            if self._journal is not None:
                self._journal.note(digest)
            self._new.append(blob)
        temporary.replace(blob)

    def _read_index(self) -> Index:
        if self._index is not None:
            return self._index
        marker, index = self._place / OCI_LAYOUT, self._place / INDEX
        if self._directory.is_file():
            hint = f"for a bundle in a file give oci-archive:{self._directory}"
            raise UsageError(f"{self._directory} is a file, not a folder", hint=hint)
        if not self._directory.is_dir():
            hint = "make it with: rra pack ARTIFACT oci-layout:DIR"
            raise UsageError(f"no such folder: {self._directory}", hint=hint)
        if not marker.is_file() or not index.is_file():
            missing = OCI_LAYOUT if not marker.is_file() else INDEX
            message = f"{self._directory} is not an OCI image layout: it has no {missing}"
            hint = "for a bundle that is there give its folder, for another a new or empty one"
            raise UsageError(message, hint=hint)
        check_version(marker.read_bytes()[:MAX_INDEX_BYTES], self.name)
        if index.stat().st_size > MAX_INDEX_BYTES:
            message = f"{index} is larger than {MAX_INDEX_BYTES} bytes"
            raise FormatError(message, hint="give a layout with fewer bundles")
        return Index.parse(index.read_bytes(), self.name)

    def _blob(self, digest: str) -> Path:
        return self._place / BLOBS / digest.removeprefix("sha256:")


def check_version(data: bytes, where: str) -> None:
    """Insist on the one version of the layout that there is.

    Raises:
        FormatError: It is another one.
    """
    version = parse_json(data, f"{where}/{OCI_LAYOUT}").get("imageLayoutVersion")
    if version != "1.0.0":
        message = f"{where} is an image layout of version {version!r}, not 1.0.0"
        raise FormatError(message, hint="copy it with a tool that writes version 1.0.0")


@contextlib.contextmanager
def open_regular(path: Path, descriptor: Descriptor, where: str) -> Iterator[BinaryIO]:
    """Open the file of a blob, whose size is checked before anything is read.

    Raises:
        CorruptError: There is no such file, or it has another size.
    """
    hint = "get the bundle again from where it came"
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        message = f"blob {descriptor.digest} is not in {where}: {error.strerror}"
        raise CorruptError(message, hint=hint) from error
    with os.fdopen(number, "rb", buffering=0) as file:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise CorruptError(f"blob {descriptor.digest} in {where} is not a file", hint=hint)
        if status.st_size != descriptor.size:
            message = (
                f"blob {descriptor.digest} in {where} has {status.st_size} bytes,"
                f" not the {descriptor.size} declared"
            )
            raise CorruptError(message, hint=hint)
        yield file


def write_all(number: int, data: bytes) -> None:
    """Write all of a block to a file descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(number, view) :]


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Keep other writers of our kind away from a folder."""
    number = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)
