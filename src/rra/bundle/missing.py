"""Files that a manifest names and an artifact lacks."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from rra._base.yaml import Key
from rra.artifact import Artifact
from rra.bundle.names import folders_of
from rra.errors import Problem

_CLAUSE = "bundle/files"


def missing_files(artifact: Artifact, files: Collection[PurePosixPath]) -> list[Problem]:
    """Return a problem for each file that the manifest names and that would not be packed.

    Args:
        artifact: The artifact.
        files: Every file that is to be packed.
    """
    known = {str(path) for path in files}
    known |= folders_of(known)
    problems = []
    for name, place, what in _named(artifact):
        if str(PurePosixPath(name)) in known:
            continue
        problems.append(
            artifact.document.problem(
                place,
                f"{what} {name} is not there, or not part of the artifact",
                clause=_CLAUSE,
                hint=_near(name, known),
            )
        )
    return problems


def _named(artifact: Artifact) -> Iterator[tuple[str, tuple[Key, ...], str]]:
    """Yield each path that must travel, its place in the manifest, and what it is."""
    manifest = artifact.manifest
    if manifest.guide:
        yield manifest.guide, ("guide",), "guide"
    for key, environment in manifest.environments.items():
        here = ("environments", key)
        if environment.lock:
            yield environment.lock, (*here, "lock"), "lock"
            if environment.kind == "pylock":
                beside = PurePosixPath(environment.lock).with_name("requirements.txt")
                yield str(beside), (*here, "lock"), "the lock's"
        for what in ("wheels", "interpreter", "rootfs"):
            name = getattr(environment, what)
            if name:
                yield name, (*here, what), what
    for key, launcher in manifest.launchers.items():
        yield launcher.entry, ("launchers", key, "entry"), "launcher"
    for key, item in manifest.data.items():
        if item.access == "bundled" and not any(character in item.path for character in "*?"):
            yield item.path, ("data", key, "path"), "data"


def _near(name: str, known: Collection[str]) -> str:
    """Suggest what is there under a name that is almost the one that is missing."""
    wanted = PurePosixPath(name)
    same = [k for k in known if PurePosixPath(k).stem.lower() == wanted.stem.lower()]
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    near = near or difflib.get_close_matches(name, sorted(same), n=1, cutoff=0)
    if near:
        return f"did you mean {near[0]}?"
    return "put the file there, or correct the path in rra.yaml"
