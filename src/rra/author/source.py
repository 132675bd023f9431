"""Where the code comes from: commit, tree, and what the working tree changes.

Nothing is written into the repository: trees and patches are made with an index and an object
store of their own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from rra._base import process
from rra.artifact.tree import tree_id
from rra.errors import UnavailableError

_PREFIX = "swh:1:dir:"
_LARGE_PATCH = 20 * 1024 * 1024


@dataclasses.dataclass(frozen=True)
class SourceState:
    """What is known of the upstream tree.

    Attributes:
        swhid: Identifier of the tree that the code was made from.
        commit: Commit, or None without git.
        repository: Address of the upstream repository, if it is a public one.
        patch: Patch from that tree to the files as they are; None when there is none.
        changed: Files that the patch touches.
        ignored: Files that git ignores, folders with a slash at their end.
        notes: What the author should know.
    """

    swhid: str
    commit: str | None = None
    repository: str | None = None
    patch: bytes | None = None
    changed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def is_git_root(root: Path) -> bool:
    """Tell whether a directory is the top of a git working tree."""
    return (root / ".git").exists()


def ignored_files(root: Path) -> tuple[str, ...]:
    """Return what git ignores below a repository's root; folders end with a slash."""
    if not _usable(root):
        return ()
    done = _git(
        root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"
    )
    return tuple(sorted(name for name in done.stdout.split("\0") if name))


def tracked_files(root: Path) -> tuple[PurePosixPath, ...]:
    """Return the files that git tracks below a repository's root; none without git."""
    if not _usable(root):
        return ()
    names = _git(root, "ls-files", "-z").stdout.split("\0")
    return tuple(PurePosixPath(name) for name in names if name)


def read_source(root: Path, files: Iterable[PurePosixPath]) -> SourceState:
    """Find out which tree the code was made from, and what differs from it.

    Args:
        root: The repository as it is now.
        files: The files that will be the code, relative to it.

    Returns:
        HEAD's tree, commit and the differences for a git repository; the tree of the files
        themselves otherwise. Tracked files that will not be code (data that the manifest
        declares) are left out of the tree that is named.
    """
    code = tuple(files)
    now = tree_id(root, code)
    if not is_git_root(root):
        return SourceState(now, notes=("no git repository: the source is the tree as found",))
    if not _usable(root):
        note = "git cannot read this repository (or it has no commit): the source is as found"
        return SourceState(now, notes=(note,))
    commit = _git(root, "rev-parse", "HEAD").stdout.strip()
    repository = _repository(root)
    with _private_git(root) as environment:
        tree, patch, changed, notes = _compare(root, code, environment)
    return SourceState(_PREFIX + tree, commit, repository, patch, changed, notes=notes)


def _usable(root: Path) -> bool:
    if not is_git_root(root) or process.find_tool("git") is None:
        return False
    return _git(root, "rev-parse", "--verify", "--quiet", "HEAD^{tree}").ok


def _git(root: Path, *arguments: str, env: Mapping[str, str] | None = None) -> process.Completed:
    command = ["git", "-c", "core.quotePath=off", "-c", "core.fsmonitor=false", *arguments]
    return process.run(command, cwd=root, env={**os.environ, "LC_ALL": "C", **(env or {})})


def _repository(root: Path) -> str | None:
    """Return the address of origin, without user and password; None for a local path."""
    address = _git(root, "remote", "get-url", "origin").stdout.strip()
    if re.match(r"https?://", address):
        return re.sub(r"^(https?://)[^/@]*@", r"\1", address)
    return address if re.match(r"(?:ssh://)?git@[\w.-]+[:/]", address) else None


@contextlib.contextmanager
def _private_git(root: Path) -> Iterator[dict[str, str]]:
    """Yield variables that make git write its index and objects into a temporary folder."""
    objects = _git(root, "rev-parse", "--git-path", "objects").stdout.strip()
    with tempfile.TemporaryDirectory(prefix="rra-source-") as folder:
        store = Path(folder) / "objects"
        store.mkdir()
        yield {
            "GIT_INDEX_FILE": str(Path(folder) / "index"),
            "GIT_OBJECT_DIRECTORY": str(store),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str((root / objects).resolve()),
        }


def _compare(
    root: Path, code: tuple[PurePosixPath, ...], env: dict[str, str]
) -> tuple[str, bytes | None, tuple[str, ...], tuple[str, ...]]:
    """Return HEAD's tree of the code's files, the patch to them, and the files it touches."""
    notes: list[str] = []
    kept = {str(path) for path in code}
    head = _entries(root, "HEAD", env)
    if any(mode == "160000" for mode, _ in head.values()):
        notes.append("submodules are not part of the tree that is compared")
    elsewhere = {
        name
        for name, (mode, _) in head.items()
        if mode == "160000" or (name not in kept and os.path.lexists(root / name))
    }
    gone = _unavailable(root, {n: b for n, (_, b) in head.items() if n not in kept | elsewhere})
    if gone:
        notes.append(f"neither in the working tree nor in git's store: {', '.join(gone[:5])}")
        elsewhere |= set(gone)
    lines = [f"{m} {b}\t{n}" for n, (m, b) in head.items() if n not in elsewhere]
    base = _write_tree(root, lines, env)
    if elsewhere:
        names = ", ".join(sorted(elsewhere)[:5]) + (", …" if len(elsewhere) > 5 else "")
        notes.append(f"source.swhid is the tree of HEAD without what is not code here: {names}")
    entries = {n: e for n, e in head.items() if n not in elsewhere}
    now = dict(_present(root, code, entries, env))
    if now == entries:
        return base, None, (), tuple(notes)
    work = _write_tree(root, [f"{m} {b}\t{n}" for n, (m, b) in now.items()], env)
    changed = sorted(n for n in {*now, *entries} if now.get(n) != entries.get(n))
    patch = _patch(root, base, work, env)
    if len(patch) > _LARGE_PATCH:
        notes.append(f"the uncommitted changes are large ({len(patch) >> 20} MiB): commit them")
    return base, patch, tuple(changed), tuple(notes)


def _unavailable(root: Path, blobs: Mapping[str, str]) -> list[str]:
    """Return the names of blobs that a partial clone does not have; nothing is fetched."""
    if not blobs:
        return []
    done = process.run(
        ["git", "cat-file", "--batch-check"],
        cwd=root,
        env={**os.environ, "GIT_NO_LAZY_FETCH": "1"},
        input_text="".join(f"{blob}\n" for blob in blobs.values()),
    )
    answers = done.stdout.splitlines()
    return [n for n, a in zip(blobs, answers, strict=False) if a.endswith(" missing")]


def _entries(root: Path, tree: str, env: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    listed = _git(root, "ls-tree", "-r", "-z", tree, env=env).stdout
    entries = {}
    for line in listed.split("\0"):
        facts, _, name = line.partition("\t")
        if name:
            mode, _, blob = facts.split()
            entries[name] = (mode, blob)
    return entries


def _present(
    root: Path,
    code: tuple[PurePosixPath, ...],
    head: Mapping[str, tuple[str, str]],
    env: Mapping[str, str],
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the entries of the files as they are, storing those that HEAD does not have."""
    for path in code:
        place, name = root / path, str(path)
        if place.is_symlink():
            text = str(place.readlink())
            done = process.run(
                ["git", "hash-object", "-w", "--stdin"],
                cwd=root,
                env={**os.environ, **env},
                input_text=text,
            )
            yield name, ("120000", done.stdout.strip())
            continue
        mode = "100755" if os.access(place, os.X_OK) and place.stat().st_mode & 0o100 else "100644"
        blob = _blob_id(place)
        if head.get(name, ("", ""))[1] != blob:
            _git(root, "hash-object", "-w", "--no-filters", "--", name, env=env)
        yield name, (mode, blob)


def _blob_id(path: Path) -> str:
    state = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            state.update(chunk)
    return state.hexdigest()


def _write_tree(root: Path, lines: list[str], env: Mapping[str, str]) -> str:
    _git(root, "read-tree", "--empty", env=env)
    done = process.run(
        ["git", "update-index", "-z", "--add", "--index-info"],
        cwd=root,
        env={**os.environ, **env},
        input_text="".join(f"{line}\0" for line in lines),
    )
    written = _git(root, "write-tree", "--missing-ok", env=env)
    if not (done.ok and written.ok):
        failed = written if done.ok else done
        message = f"git cannot describe the working tree: {failed.last_error(2)}"
        raise UnavailableError(message, hint="check the repository with: git status")
    return written.stdout.strip()


def _patch(root: Path, base: str, work: str, env: Mapping[str, str]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="rra-patch-") as folder:
        target = Path(folder) / "patch"
        _git(
            root,
            "diff",
            "--binary",
            "--full-index",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            f"--output={target}",
            base,
            work,
            env=env,
        )
        return target.read_bytes() if target.exists() else b""
