"""Files: whole or not at all, inside their place, with their digests.

Writers stage beside the target and rename, so that a kill at any moment leaves the old
content or the new, never a half. Leftovers carry `STAGING_PREFIX` and every reader skips them.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from rra.errors import StorageError, UnsafePathError, UsageError

STAGING_PREFIX = ".rra-staging-"
"""Start of the name of everything that is being written and not yet whole."""

_CHUNK = 1 << 20
_MOST_SYNCED = 1000
_MOST_LEVELS, _MOST_LETTERS = 100, 600
"""How deep a folder may lie in a tree that is removed: a path holds 4096 bytes, so 1024 letters."""

_ARCHIVE = re.compile(r"\.(?:zip|tar|tgz|tar\.\w+)$", re.IGNORECASE)
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY}


def missing(path: Path) -> str:
    """Say that something a user names is not there, by what its name says it would be."""
    what = "file" if is_archive_name(path.name) else "directory"
    return f"no such {what}: {path}"


def plain(path: Path) -> Path:
    """Return an absolute path without ``..``, as people read it; links stay where none is left."""
    return path.resolve() if ".." in path.parts else path.absolute()


def is_archive_name(name: str) -> bool:
    """Tell whether a file is called as archives are."""
    return _ARCHIVE.search(name) is not None


@contextlib.contextmanager
def storage_errors(target: Path) -> Iterator[None]:
    """Turn a full disk, a refused write or a path through a file into a `StorageError`."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            message = f"no space left while writing {target}"
            hint = "free some space on that disk and run the same command again"
        elif error.errno in _REFUSED:
            message = f"not allowed to write {error.filename or target}: {error.strerror}"
            hint = "check the owner and mode of that directory, or choose another place"
        elif error.errno in {errno.ENOTDIR, errno.EEXIST}:
            message = f"{error.filename or target} cannot be made: {error.strerror}"
            hint = "a folder in that path is a file; choose another place"
        else:
            raise
        raise StorageError(message, hint=hint) from error


def full_disk(error: OSError) -> StorageError | None:
    """Return what to say where a disk was full while something was written that nobody guarded.

    Nothing of an artifact is half-written then: that goes through `atomic_write` and `Staging`.

    Args:
        error: Any error of the system; None is returned for one that is not about space.
    """
    import tempfile

    hint = (
        "free some space and run the same command again; TMPDIR names another place for temporary "
        "files, RRA_CACHE for what is kept"
    )
    if error.errno in _FULL:
        message = f"no space left on the disk of {error.filename or tempfile.gettempdir()}"
    elif isinstance(error, FileNotFoundError) and "temporary directory" in str(error.strerror):
        message = f"no directory takes temporary files, each is full or refuses: {error.strerror}"
    else:
        return None
    return StorageError(message, hint=hint)


def atomic_write(
    path: Path, data: bytes | str, *, mode: int = 0o644, owner: tuple[int, int] | None = None
) -> None:
    """Write a file so that it is never seen half-written, nor by anybody before it has its mode.

    Args:
        path: Target; its directory is made when missing.
        data: Content; text is written as UTF-8 with the line ends it has.
        mode: Permission bits of the new file.
        owner: User and group of the new file; ours by default.

    Raises:
        StorageError: The disk is full or refuses; the target is as it was.
    """
    content = data.encode() if isinstance(data, str) else data
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.parent / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
        try:
            made = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(made, "wb") as file:
                if owner is not None:
                    os.fchown(made, *owner)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(mode)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def append_durably(path: Path, line: bytes) -> None:
    """Add a line to a file, and return when it would also be there after the power was cut.

    A kill in the middle leaves at most the beginning of the line.

    Raises:
        StorageError: The disk is full or refuses.
    """
    with storage_errors(path):
        new = not path.exists()
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(file, rest) :]
            os.fsync(file)
        finally:
            os.close(file)
        if new:
            sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder would also be there after the power was cut."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some file systems cannot, and need not
            os.fsync(number)
    finally:
        os.close(number)


def sync_tree(root: Path) -> None:
    """Return when everything below a folder would also be there after the power was cut.

    Raises:
        OSError: The disk is full or refuses.
    """
    found = [(Path(folder), names) for folder, _, names in os.walk(root)]
    if sum(len(names) for _, names in found) > _MOST_SYNCED:
        os.sync()
        return
    for folder, names in found:
        for name in names:
            path = folder / name
            if stat.S_ISREG(path.lstat().st_mode):
                number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    os.fsync(number)
                finally:
                    os.close(number)
        sync_folder(folder)


def write_new(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write a file that may not be there before, never seen half-written.

    At no moment has anybody more rights on its content than `mode` says.

    Args:
        path: Target; its directory is made when missing.
        data: Content.
        mode: Permission bits.

    Raises:
        UsageError: The file is there already, also when somebody else made it meanwhile.
        StorageError: The disk is full or refuses.
    """
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.parent / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with open(os.open(temporary, flags, mode & 0o600), "wb") as file:  # noqa: PTH123 - a descriptor
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                os.fchmod(file.fileno(), mode)
            os.link(temporary, path)  # unlike a rename it fails when there is something
        except FileExistsError as error:
            message = f"{path} is there already"
            raise UsageError(message, hint="give another name, or move it away") from error
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def staged_directory(target: Path) -> Iterator[Path]:
    """Yield an empty directory that becomes `target` when the block ends without error.

    An existing target is replaced as a whole. When the block raises, the staging directory
    is removed and the target is as it was.

    Raises:
        StorageError: The disk is full or refuses.
    """
    with storage_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = target.parent / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
        staging.mkdir()
        try:
            yield staging
            _replace_directory(staging, target)
        finally:
            if staging.exists():
                remove_tree(staging)


def _replace_directory(staging: Path, target: Path) -> None:
    """Rename `staging` to `target`, moving an existing target aside first."""
    if not target.exists():
        staging.rename(target)
        return
    aside = target.parent / f"{STAGING_PREFIX}{secrets.token_hex(6)}"
    target.rename(aside)
    staging.rename(target)
    remove_tree(aside)


def sweep_staging(directory: Path) -> None:
    """Remove what earlier killed writers left in a directory."""
    if directory.is_dir():
        for leftover in directory.glob(f"{STAGING_PREFIX}*"):
            remove_tree(leftover)


def remove_tree(path: Path) -> None:
    """Remove a file or a whole directory, also one whose parts are read-only."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    _open_and_flatten(str(path))
    shutil.rmtree(path)


def _open_and_flatten(root: str) -> None:
    """Let the owner write into every folder, and move those up that lie too deep for a path."""
    pending = [(root, 0)]
    while pending:
        folder, depth = pending.pop()
        os.chmod(folder, stat.S_IRWXU)  # noqa: PTH101 - text, as there may be many
        with os.scandir(folder) as entries:
            below = [one.path for one in entries if one.is_dir(follow_symlinks=False)]
        if depth < _MOST_LEVELS and len(folder) - len(root) < _MOST_LETTERS:
            pending += [(one, depth + 1) for one in below]
            continue
        for one in below:
            os.chmod(one, stat.S_IRWXU)  # noqa: PTH101
            higher = f"{root}/{STAGING_PREFIX}{secrets.token_hex(6)}"
            os.rename(one, higher)  # noqa: PTH104
            pending.append((higher, 1))


def sha256_bytes(data: bytes) -> str:
    """Return the digest of bytes as ``sha256:<hex>``."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """Return the digest of a file's content as ``sha256:<hex>``, in constant memory."""
    state = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            state.update(chunk)
    return "sha256:" + state.hexdigest()


def safe_join(root: Path, relative: str | PurePosixPath) -> Path:
    """Join a path of a document onto a root and insist that it stays inside.

    Args:
        root: Directory that the result must lie in.
        relative: Path with forward slashes, as documents of the format write it.

    Raises:
        UnsafePathError: The path is absolute, climbs out, or passes a link that leads out.
    """
    pure = PurePosixPath(relative)
    message = ""
    if pure.is_absolute():
        message = f"absolute path in an artifact: {pure}"
    elif ".." in pure.parts:
        message = f"path climbs out of the artifact: {pure}"
    elif not (root / pure).resolve().is_relative_to(root.resolve()):
        message = f"path passes a symbolic link out of the artifact: {pure}"
    if message:
        hint = "copy the file into the artifact and name it by its place there"
        raise UnsafePathError(message, hint=hint)
    return root / pure


def walk_files(root: Path) -> Iterator[PurePosixPath]:
    """Yield every file and symbolic link below a directory, byte-sorted, links not followed.

    Staging leftovers are passed over.
    """
    yield from map(PurePosixPath, walk_names(root))


def walk_names(root: Path) -> list[str]:
    """Return what `walk_files` yields as text."""
    names = list(_walk(str(root), ""))
    # Texts without surrogates stand in the order of their UTF-8; a key takes twice the memory.
    names.sort(key=None if all(map(str.isascii, names)) else os.fsencode)
    return names


def _walk(root: str, inside: str) -> Iterator[str]:
    """Yield paths as text: a tree may have many, and each object of a path takes long."""
    with os.scandir(f"{root}/{inside}") as entries:
        for entry in entries:
            if entry.name.startswith(STAGING_PREFIX):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(root, f"{inside}{entry.name}/")
            else:
                yield inside + entry.name


def copy_files(source: Path, target: Path, files: Iterable[PurePosixPath]) -> None:
    """Copy the named files of one tree into another, with modes, times and links kept.

    Pipes, sockets and devices hold nothing that could be copied, and are passed over.

    Raises:
        StorageError: The disk is full or refuses.
    """
    with storage_errors(target):
        target.mkdir(parents=True, exist_ok=True)
        for relative in files:
            if not _holds_content((source / relative).lstat().st_mode):
                continue
            destination = target / relative
            destination.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / relative, destination, follow_symlinks=False)


def _holds_content(mode: int) -> bool:
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def copy_tree(source: Path, target: Path) -> None:
    """Copy a whole directory, with modes, times and links kept."""
    copy_files(source, target, walk_files(source))
