"""Suspect places: every number in the files of a place that could be where a result comes from.

A committed number alone proves nothing: most two-digit percentages occur somewhere by chance.
So this only says where to look; `rra.audit.hardcoding` changes these places and runs again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path, PurePosixPath

from rra._base.files import walk_files
from rra.artifact import Artifact, layout
from rra.audit.binary_search import binary_spots
from rra.audit.containers import open_container
from rra.audit.forms import Spot
from rra.audit.manifest_search import manifest_spots
from rra.audit.text_search import text_spots
from rra.audit.wanted import Wanted

MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 4
MAX_SPOTS = 20_000
MAX_BINARY_SPOTS = 200


@dataclasses.dataclass(frozen=True)
class Suspect:
    """A number in a file that matches an outcome.

    Attributes:
        path: File, relative to the artifact.
        members: Way into containers: names of parts, outermost first.
        spot: The number in the innermost part.
        scales: For each outcome that the number matches, the factor that takes it there.
    """

    path: PurePosixPath
    members: tuple[str, ...]
    spot: Spot
    scales: Mapping[str, Decimal]

    @property
    def place(self) -> str:
        """Where the number stands, for a person: ``file:line``, or file, part and offset."""
        line = self.spot.line
        if not self.members:
            return f"{self.path}:{line}" if line else f"{self.path} (byte {self.spot.start})"
        inside = [*self.members, f"line {line}" if line else f"byte {self.spot.start}"]
        return f"{self.path} ({', '.join(inside)})"

    def __hash__(self) -> int:
        return hash((self.path, self.members, self.spot.start))


@dataclasses.dataclass(frozen=True, slots=True)
class Search:
    """What a search of a place gave.

    Attributes:
        suspects: The numbers found, by file and offset.
        unsearched: Files whose content could not be searched, with the reason.
    """

    suspects: tuple[Suspect, ...]
    unsearched: Mapping[PurePosixPath, str]


def search_place(place: Artifact, wanted: Sequence[Wanted]) -> Search:
    """Find every number in the files of a place that matches an outcome.

    The locks of environments and ``rra.lock`` are not searched: no launcher reads its result
    there, and environments are built from them. Of ``rra.yaml`` only what launchers get and
    what is reported is searched, so that selectors stay what they are.

    Args:
        place: The artifact as a stranger has it.
        wanted: The outcomes.
    """
    suspects: list[Suspect] = []
    unsearched: dict[PurePosixPath, str] = {}
    for path in place_files(place.root):
        if path == PurePosixPath(layout.MANIFEST):
            spots = manifest_spots(place, wanted)
            suspects += _suspects(path, (), spots, wanted)
            continue
        file = place.root / path
        if file.stat().st_size > MAX_FILE_BYTES:
            unsearched[path] = f"larger than {MAX_FILE_BYTES >> 20} MiB"
            continue
        found, reason = _search(path, (), file.read_bytes(), wanted)
        suspects += found
        if reason:
            unsearched[path] = reason
    return Search(tuple(suspects), unsearched)


def place_files(root: Path) -> Iterator[PurePosixPath]:
    """Yield the files of a place that a launcher can have its result from."""
    for path in walk_files(root):
        if path.parts[0] in {layout.ENVIRONMENT_DIR, layout.EVIDENCE_DIR, layout.OUTPUTS_DIR}:
            continue
        if path == PurePosixPath(layout.LOCK) or ".git" in path.parts:
            continue
        if not (root / path).is_symlink() and (root / path).is_file():
            yield path


def _search(
    path: PurePosixPath, members: tuple[str, ...], data: bytes, wanted: Sequence[Wanted]
) -> tuple[list[Suspect], str]:
    """Search one file or part of it; return the suspects and why it is not all searched."""
    container = open_container(data) if len(members) < MAX_DEPTH else None
    if container is not None:
        suspects: list[Suspect] = []
        reasons = []
        for name, part in container.parts.items():
            found, reason = _search(path, (*members, name), part, wanted)
            suspects += found
            reasons += [f"{name}: {reason}"] if reason else []
        return suspects, "; ".join(reasons[:3])
    spots, limit, reason = text_spots(data, wanted), MAX_SPOTS, ""
    if spots is None:
        spots, understood = binary_spots(data, wanted)
        limit, reason = MAX_BINARY_SPOTS, "" if understood else "binary data of unknown form"
    if len(spots) > limit:
        return [], f"{len(spots)} numbers match, too many to tell apart"
    return list(_suspects(path, members, spots, wanted)), reason


def _suspects(
    path: PurePosixPath, members: tuple[str, ...], spots: Sequence[Spot], wanted: Sequence[Wanted]
) -> Iterator[Suspect]:
    for spot in spots:
        scales = {}
        for item in wanted:
            scale = item.scale_of(spot.value, spot.divisor)
            if scale is not None and not _below(path, item.excluded):
                scales[item.outcome] = scale
        if scales:
            yield Suspect(path, members, spot, scales)


def _below(path: PurePosixPath, folders: Sequence[str]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
