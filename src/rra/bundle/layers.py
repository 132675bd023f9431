"""Which files go into which layer of a bundle.

Every file of an artifact's elements goes into exactly one layer. Small layers come first. A
layer is the canonical archive of its files; large files that no compression helps, and large
wheels, which artifacts share, are layers of their own, byte for byte. Files and groups of
files that are larger than what hosted registries take are cut into numbered parts.
"""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TypeVar

from rra.artifact import Artifact, layout
from rra.artifact.inventory import lies_in
from rra.bundle.belonging import foreign_files, references_among
from rra.bundle.canonical import special_file
from rra.bundle.compress import is_worthwhile
from rra.bundle.config import BundleElement, Part
from rra.bundle.links import check_artifact_links, tied_by_links
from rra.bundle.missing import missing_files
from rra.bundle.names import check_names, printable
from rra.errors import FormatError, Problem

ORDER: tuple[BundleElement, ...] = (
    "data",
    "code",
    "guide",
    "environment",
    "launchers",
    "evidence",
    "meta",
)
"""Who gets a file that several elements claim: data within the code is data, and so on."""


@dataclasses.dataclass(frozen=True, slots=True)
class Thresholds:
    """From which sizes on layers are made, in bytes.

    Attributes:
        wheel: A wheel, or a packed interpreter or root file system, of its own.
        file: A data file of its own.
        group: Data files that go together into one archive, at most.
        part: Largest layer; larger files are cut.
        layers: Layers of a bundle, at most.
    """

    wheel: int = 16 << 20
    file: int = 64 << 20
    group: int = 2 << 30
    part: int = 9_000_000_000
    layers: int = 120


DEFAULT_THRESHOLDS = Thresholds()


@dataclasses.dataclass(frozen=True, slots=True)
class PlannedLayer:
    """One layer before it is made.

    Attributes:
        element: Element that the files belong to.
        title: Name of the layer.
        files: Its files, relative to the artifact's root, byte-sorted.
        size: Bytes of the files.
        raw: Whether the one file is the layer, without an archive.
        part: Which part of the file it is; None for the whole.
        start: First byte of the part.
    """

    element: BundleElement
    title: str
    files: tuple[PurePosixPath, ...]
    size: int
    raw: bool = False
    part: Part | None = None
    start: int = 0


def list_files(artifact: Artifact) -> dict[BundleElement, tuple[PurePosixPath, ...]]:
    """Return the files of each element that travel; several may claim the same file."""
    return {element: artifact.packed_files(element) for element in ORDER}


def assign_files(
    artifact: Artifact,
    listed: Mapping[BundleElement, Iterable[PurePosixPath]] | None = None,
) -> dict[PurePosixPath, BundleElement]:
    """Return the element of every file that travels; each file has one.

    Args:
        artifact: The artifact.
        listed: What `list_files` gave, to save looking for them again.
    """
    found: dict[PurePosixPath, BundleElement] = {}
    places = (list_files(artifact) if listed is None else listed).items()
    for path, owner in _claims(artifact, places):
        found.setdefault(path, owner)
    return found


def claimed_names(artifact: Artifact) -> Iterator[tuple[str, BundleElement]]:
    """Yield each file that travels with its element, as text: there may be many.

    What comes later claims nothing that was claimed before; see `assign_files`.
    """
    yield from _claims(artifact, ((element, artifact.packed_names(element)) for element in ORDER))


_Name = TypeVar("_Name", str, PurePosixPath)


def _claims(
    artifact: Artifact, listed: Iterable[tuple[BundleElement, Iterable[_Name]]]
) -> Iterator[tuple[_Name, BundleElement]]:
    """Yield the element that claims a file, for each element that does."""
    own = {name for name in layout.OWNED_FILES if name in layout.META_FILES}
    environments = artifact.manifest.environments.values()
    wheels = frozenset(str(PurePosixPath(e.wheels)) for e in environments if e.wheels)
    carried = [name for e in environments for name in (e.interpreter, e.rootfs) if name]
    runtime = frozenset(str(PurePosixPath(name)) for name in carried)
    for element, files in listed:
        for path in files:
            if element != "meta" and str(path) in own:
                continue
            owner: BundleElement = element
            if element == "environment" and lies_in(path, wheels):
                owner = "wheels"
            elif element == "environment" and lies_in(path, runtime):
                owner = "runtime"
            yield path, owner


def plan_layers(
    artifact: Artifact,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
    listed: Mapping[BundleElement, Iterable[PurePosixPath]] | None = None,
) -> tuple[PlannedLayer, ...]:
    """Return the layers of an artifact's bundle, small first.

    Args:
        artifact: The artifact.
        thresholds: From which sizes on files are layers of their own.
        listed: What `list_files` gave, to save looking for them again.

    Raises:
        FormatError: A file that the manifest names is missing, or a name or link is one that
            no archive may hold; carries every problem.
    """
    owners = assign_files(artifact, listed)
    sizes, links, problems = _look(artifact.root, owners)
    problems += missing_files(artifact, owners)
    problems += check_names(owners)
    problems += references_among(artifact.root, owners)
    for element in set(owners.values()):
        own = (path for path, owner in owners.items() if owner == element)
        problems += foreign_files(artifact.manifest, element, own)
    if not problems:
        layers = _layers(artifact, owners, sizes, thresholds)
        if links:
            titles = {path: layer.title for layer in layers for path in layer.files}
            problems += check_artifact_links(artifact.root, titles)
    if problems:
        problems.sort(key=lambda problem: (problem.path, problem.message))
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        message = f"cannot be packed: {first.path} {first.message}{more}"
        raise FormatError(message, hint=first.hint, problems=tuple(problems))
    return tuple(sorted(layers, key=lambda layer: (layer.size, layer.title)))


def _look(
    root: Path, files: Iterable[PurePosixPath]
) -> tuple[dict[PurePosixPath, int], set[PurePosixPath], list[Problem]]:
    """Return the size of each file, which of them are links, and what cannot be packed."""
    sizes: dict[PurePosixPath, int] = {}
    links: set[PurePosixPath] = set()
    problems: list[Problem] = []
    for path in files:
        try:
            status = os.lstat(f"{root}/{path}")
        except OSError as error:
            what = f"cannot be read: {error.strerror or error}"
            problems.append(Problem(what, printable(path), clause="bundle/files"))
            continue
        if stat.S_ISLNK(status.st_mode):
            links.add(path)
        elif not stat.S_ISREG(status.st_mode):
            problems.append(special_file(path, status.st_mode))
        sizes[path] = status.st_size if stat.S_ISREG(status.st_mode) else 0
    return sizes, links, problems


def _layers(
    artifact: Artifact,
    owners: Mapping[PurePosixPath, BundleElement],
    sizes: Mapping[PurePosixPath, int],
    thresholds: Thresholds,
) -> list[PlannedLayer]:
    """Plan with as many layers of single files as there is room for."""
    alone = _standing_alone(artifact, owners, sizes, thresholds)
    whole_evidence = False
    while True:
        layers = _draft(artifact, owners, sizes, thresholds, alone, whole_evidence)
        over = len(layers) - thresholds.layers
        if over <= 0:
            return _named(layers)
        if not whole_evidence:
            whole_evidence = True
            continue
        smallest = sorted(
            (path for path in alone if sizes[path] <= thresholds.part),
            key=lambda path: (sizes[path], str(path)),
        )
        if not smallest:
            message = f"the artifact needs {len(layers)} layers; {thresholds.layers} are allowed"
            raise FormatError(message, hint="let large data be fetched (access: fetch)")
        alone = alone - set(smallest[: over + 1])


def _standing_alone(
    artifact: Artifact,
    owners: Mapping[PurePosixPath, BundleElement],
    sizes: Mapping[PurePosixPath, int],
    thresholds: Thresholds,
) -> frozenset[PurePosixPath]:
    """Return the files that are layers of their own."""
    limit = {"wheels": thresholds.wheel, "runtime": thresholds.wheel, "data": thresholds.file}
    found = {p for p, element in owners.items() if element in limit and sizes[p] >= limit[element]}
    if found:
        found -= tied_by_links(artifact.root, [p for p, e in owners.items() if e in limit])
    return frozenset(found)


def _draft(
    artifact: Artifact,
    owners: Mapping[PurePosixPath, BundleElement],
    sizes: Mapping[PurePosixPath, int],
    thresholds: Thresholds,
    alone: frozenset[PurePosixPath],
    whole_evidence: bool,  # noqa: FBT001 - private
) -> list[PlannedLayer]:
    layers: list[PlannedLayer] = []
    groups: dict[tuple[BundleElement, str], list[PurePosixPath]] = {}
    for path, element in sorted(owners.items(), key=lambda item: str(item[0]).encode()):
        if path in alone:
            layers += _single(artifact, path, element, sizes[path], thresholds)
            continue
        title: str = element
        if element == "evidence" and len(path.parts) > 2 and not whole_evidence:
            title = f"evidence-{path.parts[1]}"
        groups.setdefault((element, title), []).append(path)
    for (element, title), files in groups.items():
        cuts = _cut(files, sizes, thresholds.group) if element == "data" else [files]
        for number, members in enumerate(cuts, 1):
            name = title if number == 1 else f"{title}-{number}"
            layers.append(_group(element, name, members, sizes))
    return layers


def _group(
    element: BundleElement,
    title: str,
    files: Sequence[PurePosixPath],
    sizes: Mapping[PurePosixPath, int],
) -> PlannedLayer:
    return PlannedLayer(element, title, tuple(files), sum(sizes[path] for path in files))


def _single(
    artifact: Artifact,
    path: PurePosixPath,
    element: BundleElement,
    size: int,
    thresholds: Thresholds,
) -> Iterator[PlannedLayer]:
    """Yield the layer of one large file, or the layers of its parts."""
    if size > thresholds.part:
        count = -(-size // thresholds.part)
        for number in range(1, count + 1):
            start = (number - 1) * thresholds.part
            length = min(thresholds.part, size - start)
            title = f"{path}.part-{number:03}"
            part = Part(number=number, of=count)
            yield PlannedLayer(element, title, (path,), length, raw=True, part=part, start=start)
        return
    place = artifact.root / path
    executable = place.stat().st_mode & 0o111
    with place.open("rb") as file:
        raw = not executable and (element == "wheels" or not is_worthwhile(file, size))
    yield PlannedLayer(element, str(path) if raw else f"{path}.tar", (path,), size, raw=raw)


def _cut(
    files: Sequence[PurePosixPath], sizes: Mapping[PurePosixPath, int], limit: int
) -> Iterator[list[PurePosixPath]]:
    """Cut a list of files into runs that hold at most so many bytes."""
    run: list[PurePosixPath] = []
    total = 0
    for path in files:
        if run and total + sizes[path] > limit:
            yield run
            run, total = [], 0
        run.append(path)
        total += sizes[path]
    if run:
        yield run


def _named(layers: list[PlannedLayer]) -> list[PlannedLayer]:
    """Give archives another title where a file's own layer has a path below it.

    Tools that write blobs to their titles could not write both.
    """
    below = {
        str(parent)
        for layer in layers
        for parent in PurePosixPath(layer.title).parents
        if parent.parts
    }
    return [
        dataclasses.replace(layer, title=f"{layer.title}.tar") if layer.title in below else layer
        for layer in layers
    ]
