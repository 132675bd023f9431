"""What catalogues show of a bundle without reading it: the annotations of its manifest."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path
from typing import TYPE_CHECKING

from rra._base import clock, process
from rra.errors import UsageError

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.model import Manifest

OCI_PREFIX = "org.opencontainers.image."
OWN_PREFIX = "org.w3id.rra."
CORE = OWN_PREFIX + "core"
VERSION = OCI_PREFIX + "version"
_EPOCH = "SOURCE_DATE_EPOCH"
_LAST_SECOND = 253_402_300_799


def annotate(artifact: Artifact, core: str, created: str | None) -> dict[str, str]:
    """Return the annotations of an artifact's bundle, without those it has nothing to say for.

    Args:
        artifact: The artifact.
        core: Its core.
        created: Time of `creation_time`.
    """
    manifest = artifact.manifest
    source = manifest.source
    found = {
        "title": manifest.title or manifest.name,
        "version": manifest.version,
        "created": created,
        "source": source.repository if source else None,
        "revision": source.commit if source else None,
        "licenses": manifest.license,
        "description": manifest.description,
    }
    named = {OCI_PREFIX + key: text for key, text in found.items()} | _own(manifest, core)
    return {key: text for key, text in sorted(named.items()) if text}


def _own(manifest: Manifest, core: str) -> dict[str, str | None]:
    paper = manifest.paper
    return {
        CORE: core,
        OWN_PREFIX + "format": manifest.rra,
        OWN_PREFIX + "name": manifest.name,
        OWN_PREFIX + "paper.title": paper.title if paper else None,
        OWN_PREFIX + "paper.doi": paper.doi if paper else None,
        OWN_PREFIX + "paper.arxiv": paper.arxiv if paper else None,
        OWN_PREFIX + "paper.url": paper.url if paper else None,
    }


def creation_time(root: Path) -> str | None:
    """Return when an artifact was made, from what does not change with every packing.

    That is ``SOURCE_DATE_EPOCH``, else the time of the newest commit where the artifact is a
    git repository of its own, else nothing.

    Raises:
        UsageError: ``SOURCE_DATE_EPOCH`` is not a number of seconds.
    """
    given = os.environ.get(_EPOCH, "")
    if given:
        if not (given.isascii() and given.isdigit()) or int(given) > _LAST_SECOND:
            message = f"{_EPOCH} is {given!r}, not a number of seconds"
            raise UsageError(message, hint=f"unset {_EPOCH}, or give seconds since 1970")
        return _iso(int(given))
    committed = _newest_commit(root) if (root / ".git").exists() else None
    return None if committed is None else _iso(committed)


def _newest_commit(root: Path) -> int | None:
    """Return the committer's time of the newest commit; None without git or commit.

    The repository may belong to another user; nothing that its configuration names is run.
    """
    git = process.find_tool("git")
    if git is None:
        return None
    safely = ["-c", "safe.directory=*", "-c", "core.fsmonitor=false"]
    done = process.run([git, *safely, "cat-file", "commit", "HEAD"], cwd=root)
    for line in done.stdout.split("\n\n", 1)[0].splitlines() if done.ok else ():
        if line.startswith("committer "):
            seconds = line.rsplit(" ", 2)[-2]
            return int(seconds) if seconds.isdigit() else None
    return None


def _iso(seconds: int) -> str:
    return clock.iso(dt.datetime.fromtimestamp(seconds, dt.UTC))
