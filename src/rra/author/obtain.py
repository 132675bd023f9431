"""Getting the repository that an artifact is drafted from: cloned by git, or out of an archive."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

from rra._base import process
from rra._base.files import is_archive_name, sha256_file, staged_directory
from rra._base.unarchive import is_archive, looks_cut_off, unarchive
from rra.errors import ArchiveError, UnavailableError, UsageError

_SCHEME = re.compile(r"^([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_SSH = re.compile(r"^(?:[\w.-]+@)?[\w.-]+:(?!//)\S")
_SECRET = re.compile(r"([a-z][a-z0-9+.-]*://)[^/@\s]*@", re.IGNORECASE)
_BY_GIT = frozenset({"https", "http", "ssh", "git", "file", "git+ssh", "git+https"})


@dataclasses.dataclass(frozen=True)
class SourceRequest:
    """Where a repository is to be had.

    Attributes:
        source: Address that git understands, path of a repository without files of its own (a
            bare one), or path of an archive.
        into: Directory to make; by default named after the source, in the current one.
        ref: Branch, tag or commit; by default what the repository shows first.
    """

    source: str
    into: Path | None = None
    ref: str | None = None


@dataclasses.dataclass(frozen=True)
class Obtained:
    """A repository that was brought here: its directory, and what its author should know."""

    root: Path
    notes: tuple[str, ...]


def is_elsewhere(source: str) -> bool:
    """Tell whether a word names a repository or an archive, and not a directory to work in."""
    path = Path(source)
    if path.is_dir():
        return _is_bare(path)
    if path.is_file():
        return True
    return bool(_SCHEME.match(source) or _SSH.match(source))


def target_of(request: SourceRequest) -> Path:
    """Return the directory that a source is put into.

    Raises:
        UsageError: It is there and holds something, or the source is a file and no archive.
        ArchiveError: The source begins as an archive and is cut off.
    """
    _insist_on_archive(Path(request.source))
    target = request.into or Path(_name(request.source))
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        message = f"{target} is there already"
        hint = f"to draft from it: rra init {target}; or name another: rra init SOURCE DIRECTORY"
        raise UsageError(message, hint=hint)
    return target


def obtain(request: SourceRequest, target: Path) -> Obtained:
    """Bring a repository into a directory; nothing of it is run, and no submodule is followed.

    Args:
        request: Where it is to be had.
        target: Directory to make, whole or not at all.

    Raises:
        UsageError: The source is of no known kind, or has no such branch, tag or commit.
        UnavailableError: git cannot get it.
        UnsafePathError: An archive leads outside.
        ArchiveError: An archive is damaged or too large.
    """
    path = Path(request.source)
    if path.is_file():
        return _from_archive(path, request, target)
    found = _SCHEME.match(request.source)
    if found and found[1].lower() not in _BY_GIT:
        message = f"git does not fetch {found[1]}:// addresses"
        raise UsageError(message, hint="give an https://, ssh:// or file:// address, or a path")
    if found and found[1].lower().startswith("http") and is_archive_name(request.source):
        message = f"{_shown(request.source)} is an archive, which git cannot fetch"
        raise UsageError(message, hint="download it first, then: rra init FILE")
    return _by_git(request, target)


def _from_archive(path: Path, request: SourceRequest, target: Path) -> Obtained:
    if request.ref is not None:
        raise UsageError("an archive has no branches", hint="leave --ref away")
    _insist_on_archive(path)
    with staged_directory(target) as staging:
        notes = unarchive(path, staging)
        staging.chmod(0o755)
    return Obtained(target, (f"unpacked from {path.name}, {sha256_file(path)}", *notes))


def _insist_on_archive(path: Path) -> None:
    if not path.is_file() or is_archive(path):
        return
    if looks_cut_off(path):
        message = f"{path} is a zip archive that is cut off: its first {_size(path)} are here"
        raise ArchiveError(message, hint="get it again, and compare its size with that of its host")
    if path.stat().st_size == 0:
        message = f"{path} is empty"
        raise UsageError(message, hint="get it again")
    message = f"{path} is a file, and not an archive that is known here"
    raise UsageError(message, hint="give a directory, a .zip or a .tar file, or an address")


def _size(path: Path) -> str:
    return f"{path.stat().st_size:,} bytes"


def _by_git(request: SourceRequest, target: Path) -> Obtained:
    process.require_tool(
        "git", why="it fetches repositories", install="install git, or give a directory"
    )
    source = request.source
    if Path(source).is_dir():
        source = str(Path(source).resolve())
    with staged_directory(target) as staging:
        _git(staging, "clone", "--quiet", "--no-checkout", "--", source, ".", of=source)
        if _SECRET.search(source):
            _git(staging, "remote", "set-url", "origin", _shown(source), of=source)
        _check_out(staging, request.ref, source)
    notes = [f"cloned from {_shown(source)}"]
    if (target / ".gitmodules").is_file():
        notes.append("it has submodules, which were not fetched: git submodule update --init")
    return Obtained(target, tuple(notes))


def _check_out(root: Path, ref: str | None, source: str) -> None:
    if ref is None:
        if _run(root, "rev-parse", "--verify", "--quiet", "HEAD").ok:
            _git(root, "checkout", "--quiet", of=source)
        return
    for name in (f"refs/remotes/origin/{ref}", ref):
        commit = _run(
            root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        )
        if commit.ok:
            _git(root, "checkout", "--quiet", "--detach", commit.stdout.strip(), of=source)
            return
    message = f"{_shown(source)} has no branch, tag or commit {ref}"
    raise UsageError(message, hint=f"see what there is: git ls-remote {_shown(source)}")


def _run(root: Path, *arguments: str) -> process.Completed:
    env = {
        **os.environ,
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file",
    }
    return process.run(["git", *arguments], cwd=root, env=env)


def _git(root: Path, *arguments: str, of: str) -> None:
    done = _run(root, *arguments)
    if not done.ok:
        said = _SECRET.sub(r"\1", done.last_error(3))
        message = f"git cannot get {_shown(of)}: {said}"
        raise UnavailableError(message, hint="check the address, and that git may read it")


def _shown(source: str) -> str:
    """Return an address without the user and password that may stand in it."""
    return source if source.startswith("ssh://") else _SECRET.sub(r"\1", source)


def _name(source: str) -> str:
    last = re.split(r"[/:]", source.rstrip("/"))[-1]
    if last == "repo.git" or not last.strip("."):
        last = "repository"
    return re.sub(r"(?:\.git|\.zip|\.tgz|\.tar(?:\.\w+)?)$", "", last) or "repository"


def _is_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()
