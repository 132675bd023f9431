"""Symbolic links of an artifact that is to be packed: each stays in its own layer."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from rra.bundle.names import check_links, printable
from rra.errors import Problem

_HINT = "replace the link by a copy of the file, or let the code name the file itself"
_AROUND_HINT = (
    "remove the link, or exclude it (code.exclude in rra.yaml): it leads around in a circle"
)
_DANGLING_HINT = "remove the link, or exclude it (code.exclude in rra.yaml): it leads to no file"


def check_artifact_links(root: Path, layers: Mapping[PurePosixPath, str]) -> Iterator[Problem]:
    """Yield a problem for each link that does not lead to something in its own layer.

    Layers unpack on their own and in any order, so a link between two of them would lead
    nowhere for who takes only one.

    Args:
        root: Folder of the artifact.
        layers: Name of the layer of each file.
    """
    links = _links(root, layers)
    for title in {layers[path] for path in links}:
        own = {path: target for path, target in links.items() if layers[path] == title}
        files = {str(p) for p, name in layers.items() if name == title} - set(map(str, own))
        folders = {
            str(parent)
            for path, name in layers.items()
            if name == title
            for parent in path.parents
            if parent.parts
        }
        for problem in check_links(own, files, folders):
            link = PurePosixPath(problem.path)
            other = _other_layer(link, own.get(link, ""), title, layers)
            if other:
                what = f"is a symbolic link from {title} into {other}: {printable(own[link])}"
                yield Problem(what, problem.path, clause="bundle/links", hint=_HINT)
            else:
                yield with_hint(root, link, problem)


def with_hint(root: Path, link: PurePosixPath, problem: Problem) -> Problem:
    """Return a problem of a link with another hint where there is no file that could be copied.

    Args:
        root: Folder that the link's path starts from.
        link: The link.
        problem: What is wrong with it.
    """
    target = os.path.realpath(root / link)
    if not os.path.exists(target):  # noqa: PTH110 - a loop of links is no error here
        return dataclasses.replace(problem, hint=_DANGLING_HINT)
    if Path(os.path.realpath(root / link.parent)).is_relative_to(target):
        return dataclasses.replace(problem, hint=_AROUND_HINT)
    return problem


def tied_by_links(root: Path, files: Iterable[PurePosixPath]) -> frozenset[PurePosixPath]:
    """Return the links among files and the files that they lead to, which stay together."""
    everything = list(files)
    links = _links(root, everything)
    landings = {_landing(path, target) for path, target in links.items()}
    return frozenset(
        path
        for path in everything
        if path in links or path in landings or not landings.isdisjoint(path.parents)
    )


def _links(root: Path, files: Iterable[PurePosixPath]) -> dict[PurePosixPath, str]:
    return {path: str((root / path).readlink()) for path in files if (root / path).is_symlink()}


def _landing(path: PurePosixPath, target: str) -> PurePosixPath:
    return PurePosixPath(os.path.normpath(path.parent / target))


def _other_layer(
    path: PurePosixPath, target: str, own: str, layers: Mapping[PurePosixPath, str]
) -> str:
    """Return the layer that a link leads into, when it is not its own."""
    landing = _landing(path, target)
    if not landing.parts:
        return ""  # all of them
    found = {name for file, name in layers.items() if file == landing or landing in file.parents}
    return next(iter(sorted(found - {own})), "")
