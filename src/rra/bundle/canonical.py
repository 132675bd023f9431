"""The canonical tar of a set of files: the same bytes from the same files, everywhere.

The stream depends on paths, contents, the executable bit and link targets, and on nothing
else: not on times, owners, the order of a directory, the umask or the machine.

- entries byte-sorted by full path, each folder on the way explicit, before what it holds;
- mtime 315532800 (1980-01-01) everywhere, because zip-based builds refuse earlier times;
- uid and gid 0, owner names empty, device numbers 0; modes 0755 (folders, links, and files
  with any executable bit) and 0644;
- ustar headers: a path over 100 bytes is split at the last slash within its first 156 bytes;
  pax records (``path``, ``linkpath``, ``size``) only for a path or link target that does not
  fit or is not ASCII, and for 8 GiB and more; the pax header is called `PAX_NAME`;
- a hard link is a file; a symbolic link is relative and leads to an entry that is there;
- two zero blocks at the end, no padding to a record.

Source: POSIX.1-2017, pax interchange format and ustar interchange format.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from rra._base.files import storage_errors
from rra.bundle.blocks import Blocks, Stamp, stamp
from rra.bundle.links import with_hint
from rra.bundle.names import check_links, check_names, folders_of, printable
from rra.errors import FormatError, Problem

if TYPE_CHECKING:
    from rra.model import ElementLock

MTIME = 315_532_800
"""Time of every entry: 1980-01-01T00:00:00Z."""

PAX_NAME = b"././@PaxHeader"
"""Name of every pax extended header."""

_BLOCK = 512
_END = bytes(2 * _BLOCK)
_USTAR_SIZE = 8 << 30
_NAME, _PREFIX = 100, 155

_OWNER = b"\0" + b"0000000\0" * 2
_TIME = b"\0%011o\0" % MTIME
_MAGIC = b"ustar\00000" + bytes(64) + b"0000000\0" * 2
_FILLED = bytes(12)
_CONSTANT_SUM = sum(_OWNER) + sum(_TIME) + 8 * ord(" ") + sum(_MAGIC)
"""What the parts of a header that are always the same add to its checksum."""

FILE, LINK, FOLDER, PAX = b"0", b"2", b"5", b"x"
"""Type of a regular file, a symbolic link, a folder, a pax extended header."""


@dataclasses.dataclass(slots=True)
class _Entry:
    """One member of the archive.

    Attributes:
        path: Its path, as text and as bytes.
        name: Its path in the bytes that the archive holds.
        kind: `FILE`, `LINK` or `FOLDER`.
        mode: Permission bits.
        target: Where a link leads.
        before: Stamp of a file when the archive was planned.
    """

    path: str
    name: bytes
    kind: bytes
    mode: int
    target: str = ""
    before: Stamp = (0, 0, 0, 0)


def diff_id(root: Path, files: Iterable[PurePosixPath]) -> ElementLock:
    """Return digest, number of files and length in bytes of the canonical archive of files.

    Works in constant memory; nothing is written.

    Args:
        root: Folder that the files lie in.
        files: Paths relative to it, symbolic links as entries of their own. Folders need not
            be named.

    Raises:
        FormatError: Names or links that an archive may not hold; carries every problem.
        UnavailableError: A file changes while it is read.
    """
    return _archive(root, files, None)


def write_archive(root: Path, files: Iterable[PurePosixPath], stream: IO[bytes]) -> ElementLock:
    """Write the canonical archive of files to a stream and return what `diff_id` returns.

    Raises:
        FormatError: Names or links that an archive may not hold; carries every problem.
        UnavailableError: A file changes while it is read.
        StorageError: The stream's disk is full.
    """
    return _archive(root, files, stream)


class CanonicalArchive:
    """The canonical archive of files, planned: its names and links are fine.

    Attributes:
        size: Its length in bytes.
        files: Files and links in it.
    """

    def __init__(self, root: Path, files: Iterable[PurePosixPath]) -> None:
        """Look at files; none is read yet.

        Raises:
            FormatError: Names or links that an archive may not hold; carries every problem.
        """
        self._root = root
        self._entries = _plan(root, files)
        self.files = sum(entry.kind != FOLDER for entry in self._entries)
        self.size = len(_END) + sum(map(_length, self._entries))

    def blocks(self) -> Iterator[memoryview]:
        """Yield the archive in pieces, the same ones each time.

        All pieces but the last have `rra.bundle.blocks.BLOCK` bytes. Each holds only until the
        next one is asked for: they share their memory.

        Raises:
            UnavailableError: A file changed since it was looked at, or is gone.
        """
        return _stream(self._root, self._entries)


def archive_blocks(root: Path, files: Iterable[PurePosixPath]) -> Iterator[memoryview]:
    """Return the pieces of the canonical archive of files (`CanonicalArchive.blocks`).

    Raises:
        FormatError: At once: names or links that an archive may not hold; every problem.
        UnavailableError: While it is read: a file changes or goes away.
    """
    return CanonicalArchive(root, files).blocks()


def _archive(root: Path, files: Iterable[PurePosixPath], stream: IO[bytes] | None) -> ElementLock:
    state = hashlib.sha256()
    archive = CanonicalArchive(root, files)
    for block in archive.blocks():
        state.update(block)
        if stream is not None:
            with storage_errors(Path(getattr(stream, "name", "archive"))):
                stream.write(block)
    from rra.model import ElementLock  # sending a bundle writes archives too, and needs no models

    digest = "sha256:" + state.hexdigest()
    return ElementLock(diff_id=digest, files=archive.files, size=archive.size)


def _plan(root: Path, files: Iterable[PurePosixPath]) -> list[_Entry]:
    """Return the entries in the order of the archive, or every reason why there is none."""
    wanted = set(map(str, files))
    folders = folders_of(wanted)
    entries: list[_Entry] = []
    problems: list[Problem] = []
    for folder in folders:
        entries.append(_Entry(folder, os.fsencode(folder), FOLDER, 0o755))
        if os.path.islink(f"{root}/{folder}"):  # noqa: PTH114 - many paths: a Path each is slow
            message = "is a symbolic link and cannot hold files"
            hint = "replace the link by a copy of the folder"
            problems.append(
                Problem(message, printable(folder), clause="canonical-tar/links", hint=hint)
            )
    for path in wanted:
        entry = _look(root, path)
        if isinstance(entry, Problem):
            problems.append(entry)
        else:
            entries.append(entry)
    entries.sort(key=lambda entry: entry.name)
    problems += check_names(entry.path for entry in entries)
    problems += _check_links(root, entries, folders)
    if problems:
        problems.sort(key=lambda problem: (problem.path, problem.message))
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        message = f"cannot be archived: {first.path} {first.message}{more}"
        raise FormatError(message, hint=first.hint, problems=tuple(problems))
    return entries


def _check_links(root: Path, entries: Iterable[_Entry], folders: set[str]) -> Iterator[Problem]:
    links = {PurePosixPath(entry.path): entry.target for entry in entries if entry.kind == LINK}
    if links:
        regular = {entry.path for entry in entries if entry.kind == FILE}
        for problem in check_links(links, regular, folders):
            yield with_hint(root, PurePosixPath(problem.path), problem)


def _look(root: Path, path: str) -> _Entry | Problem:
    place = f"{root}/{path}"
    try:
        status = os.lstat(place)
        if stat.S_ISREG(status.st_mode):
            mode = 0o755 if status.st_mode & 0o111 else 0o644
            return _Entry(path, os.fsencode(path), FILE, mode, before=stamp(status))
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(place)  # noqa: PTH115 - as it stands there
            return _Entry(path, os.fsencode(path), LINK, 0o755, target=str(PurePosixPath(target)))
    except OSError as error:
        why = error.strerror or str(error)
        return Problem(
            f"cannot be read: {why}", printable(path), clause="canonical-tar/whole-files"
        )
    return special_file(path, status.st_mode)


def special_file(path: PurePosixPath | str, mode: int) -> Problem:
    """Return the problem that a file is which is neither a regular file nor a link."""
    names = {
        stat.S_IFDIR: "folder",
        stat.S_IFSOCK: "socket",
        stat.S_IFIFO: "named pipe",
        stat.S_IFCHR: "device",
        stat.S_IFBLK: "device",
    }
    return Problem(
        f"is a {names.get(stat.S_IFMT(mode), 'special file')}, not a file",
        printable(path),
        clause="canonical-tar/kinds",
        hint="remove it, or exclude it with code.exclude in rra.yaml",
    )


def _length(entry: _Entry) -> int:
    """Return the bytes of a member, headers and padding included."""
    size = entry.before[2]
    content = size + -size % _BLOCK
    short = len(entry.name) < _NAME and entry.name.isascii() and size < _USTAR_SIZE
    if short and entry.kind != LINK:
        return _BLOCK + content
    return content + sum(map(len, _headers(entry)))


def _headers(entry: _Entry) -> Iterator[bytes]:
    target = os.fsencode(entry.target)
    return member_headers(entry.name, entry.kind, entry.mode, entry.before[2], target)


def _stream(root: Path, entries: Iterable[_Entry]) -> Iterator[memoryview]:
    blocks = Blocks()
    for entry in entries:
        for header in _headers(entry):
            if not blocks.fits(header):
                yield from blocks.spill(header)
        if entry.kind == FILE:
            yield from blocks.file(f"{root}/{entry.path}", entry.before, entry.path)
            padding = bytes(-entry.before[2] % _BLOCK)
            if not blocks.fits(padding):
                yield from blocks.spill(padding)
    yield from blocks.spill(_END)
    if rest := blocks.rest():
        yield rest


def member_headers(
    path: bytes, kind: bytes, mode: int, size: int, target: bytes = b""
) -> Iterator[bytes]:
    """Yield the header block of a member, behind its pax header when one is needed.

    A member has no other headers than these, so whoever reads an archive can compare.

    Args:
        path: Full path, without a slash at its end.
        kind: `FILE`, `LINK` or `FOLDER`.
        mode: Permission bits.
        size: Length of the content in bytes.
        target: Where a link leads.
    """
    name = path + b"/" if kind == FOLDER else path
    link = target
    records: dict[bytes, bytes] = {}
    split = _split(name)
    if split is None:
        records[b"path"] = name
        split = (b"", _ascii(name))
    if len(link) > _NAME or not link.isascii():
        records[b"linkpath"] = link
        link = _ascii(link)
    shown_size = size
    if size >= _USTAR_SIZE:
        records[b"size"] = b"%d" % size
        shown_size = 0
    if records:
        body = b"".join(_record(key, records[key]) for key in sorted(records))
        yield _header(b"", PAX_NAME, 0o644, len(body), PAX, b"")
        yield body + bytes(-len(body) % _BLOCK)
    yield _header(*split, mode, shown_size, kind, link)


def _split(name: bytes) -> tuple[bytes, bytes] | None:
    """Return ustar's (prefix, name), or None when the path needs a pax record."""
    if not name.isascii():
        return None
    if len(name) <= _NAME:
        return b"", name
    slash = name.rfind(b"/", 0, min(_PREFIX + 1, len(name) - 1))
    if slash < 1 or len(name) - slash - 1 > _NAME:
        return None
    return name[:slash], name[slash + 1 :]


def _ascii(name: bytes) -> bytes:
    """Return what stands in the ustar field where the pax record holds the real name."""
    return bytes(byte if byte < 0x80 else ord("_") for byte in name)[:_NAME]


def _record(key: bytes, value: bytes) -> bytes:
    """Return a pax record, length, key and value, where the length counts its own digits."""
    bare = len(key) + len(value) + 3
    length = bare + len(str(bare))
    length = bare + len(str(length))
    return b"%d %s=%s\n" % (length, key, value)


def _header(prefix: bytes, name: bytes, mode: int, size: int, kind: bytes, link: bytes) -> bytes:
    """Return a ustar header block (POSIX.1-2017, ustar interchange format)."""
    length = b"%011o" % size
    shown_mode = b"%07o" % mode
    total = _CONSTANT_SUM + sum(name) + sum(shown_mode) + sum(length) + kind[0]
    if link or prefix:
        total += sum(link) + sum(prefix)
    return b"".join(
        (
            name.ljust(_NAME, b"\0"),
            shown_mode,
            _OWNER,
            length,
            _TIME,
            b"%06o\0 " % total,
            kind,
            link.ljust(_NAME, b"\0"),
            _MAGIC,
            prefix.ljust(_PREFIX, b"\0"),
            _FILLED,
        )
    )
