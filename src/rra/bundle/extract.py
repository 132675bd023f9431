"""Unpacks canonical archives without trusting them.

An archive is read by our own parser of exactly what `rra.bundle.canonical` writes; what it holds
goes below one directory, through descriptors that follow no link; symbolic links come last, once
it is known that each leads to something of the same archive. Modes are 0644 and 0755, whatever
the umask. The digest is taken in the same pass, and compared at the end: until then, what lies in
the directory is not to be used, so callers stage it (`rra._base.files.staged_directory`) and an
error leaves nothing.

Never `tarfile.extractall`: its filters were bypassed more than once (CVE-2025-4517 and others).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import BinaryIO, Self

from rra.bundle.bytesource import HINT, ByteSource
from rra.bundle.canonical import FILE, FOLDER
from rra.bundle.extract_place import Place
from rra.bundle.extract_table import MemberTable, Taken
from rra.bundle.limits import Limits
from rra.bundle.names import name_faults
from rra.bundle.store import VerifiedFile
from rra.bundle.tarparser import read_members, unsafe
from rra.errors import CorruptError

__all__ = ["Extracted", "Extraction", "Limits", "extract_archive"]

_DEFAULT = Limits()


@dataclasses.dataclass(frozen=True, slots=True)
class Extracted:
    """What came out of one archive.

    Attributes:
        diff_id: Digest of the archive without compression, ``sha256:<hex>``.
        files: Files and links in it.
        size: Its length in bytes.
        paths: The files and links, relative to the directory; as text, since there may be many and
            an object of a path takes five times the memory.
    """

    diff_id: str
    files: int
    size: int
    paths: tuple[str, ...] = ()


def extract_archive(
    stream: BinaryIO,
    directory: Path,
    *,
    limits: Limits = _DEFAULT,
    expected_diff_id: str | None = None,
    what: str = "the archive",
) -> Extracted:
    """Unpack one canonical archive, in constant memory but for its names.

    Args:
        stream: The archive without compression.
        directory: An existing directory; when an error is raised, the caller removes it.
        limits: How much the archive may bring.
        expected_diff_id: Digest that the archive must have.
        what: What messages call the archive.

    Raises:
        ArchiveError: The archive is damaged, not canonical, or larger than allowed.
        UnsafePathError: A member or link does not stay in the directory, or its name is not
            one that an archive may hold.
        CorruptError: The archive has another digest.
        StorageError: The disk is full or refuses.
    """
    with Extraction(directory, limits) as extraction:
        return extraction.add(stream, expected_diff_id=expected_diff_id, what=what)


class Extraction:
    """Several archives that go into one directory, under one budget.

    Archives may have folders in common, but no file or link; a link leads to something of its
    own archive. The limits hold for all of them together.
    """

    def __init__(self, directory: Path, limits: Limits = _DEFAULT) -> None:
        """Take an existing directory.

        Raises:
            StorageError: It is missing or not a directory.
        """
        self._limits = limits
        self._taken = Taken()
        self._left = limits.total_bytes
        self._place = Place(directory)

    def __enter__(self) -> Self:
        """Return the extraction itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the directory; the names that are taken there may be many, and are let go."""
        self._taken = Taken()
        self._place.__exit__(kind, error, trace)

    def add(
        self, stream: BinaryIO, *, expected_diff_id: str | None = None, what: str = "the archive"
    ) -> Extracted:
        """Unpack one archive; see `extract_archive`."""
        source = ByteSource(stream, self._left, what)
        table = MemberTable(self._taken, self._limits)
        for member in read_members(source, self._limits):
            table.add(member)
            if member.kind == FOLDER:
                self._place.add_folder(member.name)
            elif member.kind == FILE:
                content = source.chunks(member.size)
                self._place.add_file(member.name, content, executable=member.executable)
        table.close()
        found = source.digest()
        if expected_diff_id is not None and found != expected_diff_id:
            message = f"{what} is {found} where {expected_diff_id} is expected"
            raise CorruptError(message, hint=HINT)
        for path, target in table.links.items():
            self._place.add_link(str(path).encode("utf-8", "surrogateescape"), target)
        self._left -= source.position
        paths = (*table.files, *map(str, table.links))
        return Extracted(found, len(paths), source.position, paths)

    def add_file(
        self,
        stream: BinaryIO,
        path: str,
        *,
        executable: bool,
        expected_diff_id: str | None = None,
        here: VerifiedFile | None = None,
    ) -> Extracted:
        """Put one file that comes without an archive; folders on its way are made.

        Args:
            stream: The file's bytes, to their end.
            path: Where it goes, relative to the directory.
            executable: Whether it may be run.
            expected_diff_id: Digest that its bytes must have.
            here: The same bytes where they lie here already: where the file system gives a file
                two names and nobody may run it, they are neither read nor written again.

        Raises:
            UnsafePathError: The path is not one that an archive may hold, or it is taken.
            ArchiveError: The file is larger than allowed.
            CorruptError: It has another digest.
            StorageError: The disk is full or refuses.
        """
        pure = PurePosixPath(path)
        faults = list(name_faults(pure)) or ["path is not in its plain form"] * (str(pure) != path)
        if faults:
            raise unsafe(path, ", ".join(faults))
        for parent in reversed(pure.parents[:-1]):
            self._take(parent, folder=True)
            self._place.add_folder(_bytes(parent))
        self._take(pure, folder=False)
        room = min(self._left, self._limits.file_bytes)
        if here is not None and not executable and here.descriptor.size <= room:
            blob = here.descriptor
            if self._place.adopt_file(_bytes(pure), here.path):
                self._left -= blob.size
                return Extracted(blob.digest, 1, blob.size, (path,))
        source = ByteSource(stream, room, path)
        self._place.add_file(_bytes(pure), _rest(source), executable=executable)
        found = source.digest()
        if expected_diff_id is not None and found != expected_diff_id:
            raise CorruptError(f"{path} is {found} where {expected_diff_id} is expected", hint=HINT)
        self._left -= source.position
        return Extracted(found, 1, source.position, (path,))

    def _take(self, path: PurePosixPath, *, folder: bool) -> None:
        self._taken.add(path, len(_bytes(path)), self._limits, folder=folder)


def _rest(source: ByteSource) -> Iterator[memoryview]:
    while chunk := source.some():
        yield chunk


def _bytes(path: PurePosixPath) -> bytes:
    return str(path).encode("utf-8", "surrogateescape")
