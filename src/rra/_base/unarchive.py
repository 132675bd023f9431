"""Unpacking an archive that somebody else made, as the source of an artifact.

Archives of the format have a stricter reader of their own (`rra.bundle`); these come from the
web. Only folders, regular files and links that stay inside are made, nothing is ever written
through a link, sizes are bounded by what is read and not by what is declared, and a ``.git``
folder is left out: git obeys the configuration that lies in it.
"""

from __future__ import annotations

import dataclasses
import io
import lzma
import posixpath
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from rra._base.files import STAGING_PREFIX, remove_tree, storage_errors
from rra.errors import ArchiveError, UnsafePathError

MAX_FILES = 200_000
MAX_BYTES = 16 * 1024**3
_CHUNK = 1 << 20
_LONGEST_LINK = 4096
_PASSED_OVER = frozenset({".git", "__macosx"})
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError)
_ZIP = b"PK\x03\x04"
"""First bytes of a zip archive; what it holds stands at its end."""
_HINT = "ask for another copy, or unpack it by hand and give the directory"


@dataclasses.dataclass(frozen=True)
class Member:
    """One entry of an archive.

    Attributes:
        path: Its place; the folders that enclose everything are still in it.
        kind: What it is.
        executable: Whether it can be started.
        open: Opens its content.
        target: Where a link leads.
    """

    path: PurePosixPath
    kind: str
    executable: bool = False
    open: Callable[[], IO[bytes]] = io.BytesIO
    target: str = ""


@dataclasses.dataclass(frozen=True)
class Limits:
    """What an archive may hold: files, and bytes of all of them."""

    files: int = MAX_FILES
    size: int = MAX_BYTES


def is_archive(path: Path) -> bool:
    """Tell whether a file is an archive that `unarchive` reads: zip, or tar of any compression."""
    return zipfile.is_zipfile(path) or tarfile.is_tarfile(path)


def looks_cut_off(path: Path) -> bool:
    """Tell whether a file that `is_archive` does not know begins as a zip archive does."""
    with path.open("rb") as file:
        return file.read(len(_ZIP)) == _ZIP


def unarchive(path: Path, target: Path, limits: Limits = Limits()) -> tuple[str, ...]:
    """Unpack an archive into an empty directory and return what its author should know.

    A folder that encloses everything else is left away, as archives of hosts have one.

    Args:
        path: A ``.zip`` or ``.tar`` file, the latter however compressed.
        target: The directory.
        limits: The most that is unpacked.

    Raises:
        UnsafePathError: An entry leads outside, or is neither file, folder nor link.
        ArchiveError: The archive is damaged, too large, or not one.
        StorageError: The disk is full or refuses.
    """
    try:
        with storage_errors(target):
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as opened:
                    passed = _unpack(_zip_members(opened), target, limits)
            else:
                with tarfile.open(path, errorlevel=2) as archive:
                    passed = _unpack(_tar_members(archive), target, limits)
    except _BROKEN as error:
        message = f"{path} cannot be read to its end: {str(error) or type(error).__name__}"
        raise ArchiveError(message, hint=_HINT) from error
    except (RuntimeError, NotImplementedError) as error:  # a password, an unknown method
        raise ArchiveError(f"{path} cannot be unpacked: {error}", hint=_HINT) from error
    _leave_away_the_enclosing_folder(target)
    names = ", ".join(sorted(passed))
    return (f"left out of the archive: {names}",) if passed else ()


def _unpack(members: Iterator[Member], target: Path, limits: Limits) -> set[str]:
    """Make files and folders first and links last, so that nothing is written through one."""
    links: dict[PurePosixPath, str] = {}
    seen: set[PurePosixPath] = set()
    passed: set[str] = set()
    size = 0
    for count, member in enumerate(members, start=1):
        if count > limits.files:
            raise ArchiveError(f"more than {limits.files:,} entries", hint=_HINT)
        skipped = {name for name in member.path.parts if _is_passed_over(name)}
        if skipped:
            passed |= skipped
        elif member.kind == "link":
            links[member.path] = member.target
        elif member.kind == "folder":
            _make_folder(target, member.path)
        else:
            if member.path in seen:
                raise ArchiveError(f"{_shown(member.path)} is in the archive twice", hint=_HINT)
            seen.add(member.path)
            size += _write(target, member, limits.size - size)
    for path, to in links.items():
        _make_link(target, path, to)
    return passed


def _is_passed_over(name: str) -> bool:
    return name.lower() in _PASSED_OVER or name.startswith(STAGING_PREFIX)


def _make_folder(target: Path, path: PurePosixPath) -> None:
    try:
        (target / path).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ArchiveError(f"{_shown(path)} is a file and a folder", hint=_HINT) from error


def _write(target: Path, member: Member, left: int) -> int:
    """Write a file and return its size."""
    _make_folder(target, member.path.parent)
    place = target / member.path
    written = 0
    try:
        with member.open() as source, place.open("xb") as file:
            while chunk := source.read(_CHUNK):
                written += len(chunk)
                if written > left:
                    message = f"{_shown(member.path)} makes the archive larger than is unpacked"
                    raise ArchiveError(message, hint=_HINT)
                file.write(chunk)
    except FileExistsError as error:
        raise ArchiveError(f"{_shown(member.path)} is in the archive twice", hint=_HINT) from error
    place.chmod(0o755 if member.executable else 0o644)
    return written


def _make_link(target: Path, path: PurePosixPath, to: str) -> None:
    """Make a link that stays inside; links are made last, so its own folders are real ones."""
    leads = posixpath.normpath(posixpath.join(str(path.parent), to))
    if to.startswith("/") or leads == ".." or leads.startswith("../") or "\0" in to:
        message = f"{_shown(path)} is a link to {to!r}, outside the archive"
        raise UnsafePathError(message, hint=_HINT)
    place = target / path
    for parent in path.parents:
        if (target / parent).is_symlink():
            raise UnsafePathError(f"{_shown(path)} lies behind another link", hint=_HINT)
    _make_folder(target, path.parent)
    if place.is_symlink() or place.exists():
        raise ArchiveError(f"{_shown(path)} is in the archive twice", hint=_HINT)
    place.symlink_to(to)


def _path(name: str) -> PurePosixPath:
    """Return the place of an entry, or refuse it."""
    path = PurePosixPath(name)
    if not name or "\0" in name or path.is_absolute() or ".." in path.parts or "\\" in name:
        message = f"an entry would be written outside: {name!r}"
        raise UnsafePathError(message, hint=_HINT)
    return path


def _shown(path: PurePosixPath) -> str:
    return repr(str(path))


def _zip_members(archive: zipfile.ZipFile) -> Iterator[Member]:
    for info in archive.infolist():
        path = _path(info.filename)
        mode = info.external_attr >> 16
        if info.is_dir():
            yield Member(path, "folder")
        elif stat.S_ISLNK(mode):
            with archive.open(info) as file:
                target = file.read(_LONGEST_LINK).decode("utf-8", "surrogateescape")
            yield Member(path, "link", target=target)
        elif stat.S_IFMT(mode) in {0, stat.S_IFREG}:
            yield Member(path, "file", bool(mode & 0o100), _opener(archive, info))
        else:
            raise UnsafePathError(f"{_shown(path)} is a special file", hint=_HINT)


def _opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: archive.open(info)


def _tar_members(archive: tarfile.TarFile) -> Iterator[Member]:
    for info in archive:
        path = _path(info.name)
        if info.isdir():
            yield Member(path, "folder")
        elif info.issym():
            yield Member(path, "link", target=info.linkname)
        elif info.islnk():  # to an entry before it: its bytes again
            _path(info.linkname)
            yield Member(path, "file", bool(info.mode & 0o100), _tar_opener(archive, info))
        elif info.isreg():
            yield Member(path, "file", bool(info.mode & 0o100), _tar_opener(archive, info))
        else:
            raise UnsafePathError(f"{_shown(path)} is a special file", hint=_HINT)


def _tar_opener(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], IO[bytes]]:
    def opened() -> IO[bytes]:
        source: tarfile.TarInfo = info
        if info.islnk():
            found = [m for m in archive.getmembers() if m.name == info.linkname and m.isreg()]
            if not found:
                raise tarfile.TarError(f"{info.name} is a link to nothing")
            source = found[0]
        file = archive.extractfile(source)
        if file is None:
            raise tarfile.TarError(f"{info.name} has no content")
        return file

    return opened


def _leave_away_the_enclosing_folder(target: Path) -> None:
    entries = list(target.iterdir())
    if len(entries) != 1 or entries[0].is_symlink() or not entries[0].is_dir():
        return
    only = entries[0].rename(target / f"{STAGING_PREFIX}enclosing")
    for entry in list(only.iterdir()):
        entry.rename(target / entry.name)
    remove_tree(only)
