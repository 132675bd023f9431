"""Which files of the code are not those of the source, where its repository is at hand."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from rra._base import process
from rra.artifact.tree import tree_entries
from rra.model import Source

_SHOWN = 3
_TREE = "swh:1:dir:"
_NOTHING_FETCHED = {"LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}


def files_that_differ(
    repository: Path, source: Source, code: Path, files: Iterable[PurePosixPath]
) -> tuple[str, ...]:
    """Return the files that differ from the source, each with what became of it.

    Known is the source only where its commit or its tree is in a git repository around; without
    one nothing is returned. Nothing is fetched and nothing of the repository runs.

    Args:
        repository: Folder of the code in the artifact, in which git is asked.
        source: What the manifest says of the source.
        code: Folder with the code, all patches taken back.
        files: Files of the code, relative to it.
    """
    if process.find_tool("git") is None or not repository.is_dir():
        return ()
    theirs = _entries(repository, source)
    if theirs is None:
        return ()
    ours = tree_entries(code, files)
    return tuple(_differences(ours, theirs, repository))


def shown(differing: tuple[str, ...]) -> str:
    """Name up to three files that differ, and how many more there are."""
    more = f" and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
    return ", ".join(differing[:_SHOWN]) + more


def _differences(
    ours: dict[str, tuple[str, str]], theirs: dict[str, tuple[str, str]], repository: Path
) -> Iterator[str]:
    for name in sorted({*ours, *theirs}):
        if name not in theirs:
            yield f"{name} is new"
        elif name not in ours:
            # What is there and not code is data, or excluded.
            if not os.path.lexists(repository / name):
                yield f"{name} is gone"
        elif ours[name] != theirs[name]:
            how = "has another mode" if ours[name][1] == theirs[name][1] else "is changed"
            yield f"{name} {how}"


def _entries(repository: Path, source: Source) -> dict[str, tuple[str, str]] | None:
    """Return mode and object of each file of the source; None where it is not here."""
    asked = []
    if source.swhid is not None:
        asked.append(["--full-tree", "--end-of-options", source.swhid.removeprefix(_TREE)])
    if source.commit is not None:
        asked.append(["--end-of-options", source.commit])
    for words in asked:
        done = process.run(
            ["git", "-c", "core.fsmonitor=false", "ls-tree", "-r", "-z", *words],
            cwd=repository,
            env={**os.environ, **_NOTHING_FETCHED},
        )
        if done.ok:
            return dict(_listed(done.stdout_bytes))
    return None


def _listed(data: bytes) -> Iterator[tuple[str, tuple[str, str]]]:
    for line in data.split(b"\0"):
        facts, _, name = line.partition(b"\t")
        if name and not facts.startswith(b"160000"):
            mode, _, blob = facts.decode().split()
            yield os.fsdecode(name), (mode, blob)
