"""Writes the members of archives below one directory and nowhere else.

Every name is opened part by part through directory descriptors, none of which follows a link
(``O_NOFOLLOW``), and every file is made anew (``O_EXCL``). Whatever else may have happened to the
directory, nothing outside of it is opened, and nothing that is there is written to.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from rra._base.files import storage_errors
from rra.bundle.tarparser import shown, unsafe
from rra.errors import RraError, StorageError

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_IN_THE_WAY = {errno.EEXIST, errno.ELOOP, errno.ENOTDIR, errno.EISDIR}


class Place:
    """A directory that members are put into; holds one descriptor a level, at most."""

    def __init__(self, directory: Path) -> None:
        """Take an existing directory.

        Raises:
            StorageError: It is missing, a link, or no directory.
        """
        self._directory = directory
        self._names: list[bytes] = []
        with self._placing(b""):
            self._descriptors = [os.open(directory, _DIRECTORY)]

    def __enter__(self) -> Self:
        """Return the place itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the descriptors."""
        while self._descriptors:
            os.close(self._descriptors.pop())

    def add_folder(self, name: bytes) -> None:
        """Make a folder of mode 0755 in one that is there; a real folder of that name may be.

        Raises:
            UnsafePathError: Something else is at that place.
            StorageError: The disk is full or refuses.
        """
        parts = name.split(b"/")
        with self._placing(name):
            parent = self._enter(parts[:-1])
            with contextlib.suppress(FileExistsError):
                os.mkdir(parts[-1], 0o700, dir_fd=parent)
            os.fchmod(self._enter(parts), 0o755)

    def add_file(self, name: bytes, chunks: Iterable[memoryview], *, executable: bool) -> None:
        """Make a file of mode 0644, or 0755, in a folder that is there.

        Raises:
            UnsafePathError: Something is at that place.
            StorageError: The disk is full or refuses.
        """
        folder, _, last = name.rpartition(b"/")
        with self._placing(name):
            parent = self._enter(folder.split(b"/") if folder else [])
            descriptor = os.open(last, _NEW_FILE, 0o600, dir_fd=parent)
            try:
                os.fchmod(descriptor, 0o755 if executable else 0o644)
                for chunk in chunks:
                    _write(descriptor, chunk)
            finally:
                os.close(descriptor)

    def adopt_file(self, name: bytes, source: Path) -> bool:
        """Give a file that lies elsewhere a second name, of mode 0644, in a folder that is there.

        Returns:
            False where the file system does not give a file two names; nothing happened then.

        Raises:
            UnsafePathError: Something is at that place.
            StorageError: The disk refuses.
        """
        folder, _, last = name.rpartition(b"/")
        with self._placing(name):
            parent = self._enter(folder.split(b"/") if folder else [])
            try:
                os.link(os.fsencode(source), last, dst_dir_fd=parent, follow_symlinks=False)
            except OSError as error:
                if error.errno in _IN_THE_WAY:
                    raise
                return False
            descriptor = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
            try:
                os.fchmod(descriptor, 0o644)
            finally:
                os.close(descriptor)
        return True

    def add_link(self, name: bytes, target: bytes) -> None:
        """Make a symbolic link in a folder that is there; the caller knows where it leads.

        Raises:
            UnsafePathError: Something is at that place.
            StorageError: The disk is full or refuses.
        """
        folder, _, last = name.rpartition(b"/")
        with self._placing(name):
            parent = self._enter(folder.split(b"/") if folder else [])
            os.symlink(target, last, dir_fd=parent)

    def _enter(self, parts: list[bytes]) -> int:
        """Return a descriptor of a folder, from the nearest one that is open."""
        common = 0
        while common < min(len(parts), len(self._names)) and parts[common] == self._names[common]:
            common += 1
        while len(self._names) > common:
            os.close(self._descriptors.pop())
            self._names.pop()
        for part in parts[common:]:
            self._descriptors.append(os.open(part, _DIRECTORY, dir_fd=self._descriptors[-1]))
            self._names.append(part)
        return self._descriptors[-1]

    @contextlib.contextmanager
    def _placing(self, name: bytes) -> Iterator[None]:
        """Turn what the system says about a member into one of our errors."""
        try:
            with storage_errors(self._directory):
                try:
                    yield
                except OSError as error:
                    if error.errno in _IN_THE_WAY:
                        raise self._in_the_way(name, error) from error
                    raise
        except OSError as error:
            raise self._cannot_write(name, error) from error

    def _in_the_way(self, name: bytes, error: OSError) -> RraError:
        if name:
            return unsafe(name, "something else is already at that place")
        return self._cannot_write(name, error)

    def _cannot_write(self, name: bytes, error: OSError) -> StorageError:
        where = f"{self._directory}/{shown(name)}" if name else str(self._directory)
        message = f"cannot write {where}: {error.strerror or error}"
        return StorageError(message, hint="choose another directory")


def _write(descriptor: int, chunk: memoryview) -> None:
    while chunk:
        chunk = chunk[os.write(descriptor, chunk) :]
