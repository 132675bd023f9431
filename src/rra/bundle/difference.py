"""What differs between two artifacts: elements, files, outcomes."""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from rra._base.files import sha256_bytes, sha256_file
from rra.artifact import Artifact
from rra.bundle.canonical import diff_id
from rra.bundle.identity import core_digest, core_locks
from rra.bundle.layers import ORDER, assign_files

Change = Literal["added", "removed", "changed"]


@dataclasses.dataclass(frozen=True, slots=True)
class ElementDifference:
    """One element on both sides: digests of its canonical archives."""

    element: str
    before: str
    after: str

    @property
    def same(self) -> bool:
        """Whether its files are the same."""
        return self.before == self.after


@dataclasses.dataclass(frozen=True, slots=True)
class FileDifference:
    """One file that is on one side only, or not the same on both.

    Attributes:
        path: Its path, relative to the artifact.
        element: Element that it belongs to.
        change: What became of it.
        before: Digest of its content on the first side; None where it is not.
        after: Digest on the second side.
    """

    path: str
    element: str
    change: Change
    before: str | None
    after: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class OutcomeDifference:
    """One outcome that is declared on one side only, or otherwise on both.

    Attributes:
        outcome: Its id.
        change: What became of it.
        before: Keys of its definition that differ, on the first side.
        after: The same keys on the second side.
    """

    outcome: str
    change: Change
    before: dict[str, Any]
    after: dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """Everything that differs between two artifacts.

    Attributes:
        cores: Core of each.
        elements: Every element, also those that are the same.
        files: Files that differ, byte-sorted.
        outcomes: Outcomes that differ.
    """

    cores: tuple[str, str]
    elements: tuple[ElementDifference, ...]
    files: tuple[FileDifference, ...]
    outcomes: tuple[OutcomeDifference, ...]

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.files and not self.outcomes and self.cores[0] == self.cores[1]


def compare(before: Artifact, after: Artifact) -> Difference:
    """Compare two artifacts, element by element and file by file.

    What a file is, is its content, whether it may be run, and where it leads if it is a link.

    Raises:
        FormatError: A file or name that no archive may hold.
    """
    elements = tuple(
        ElementDifference(
            name,
            diff_id(before.root, before.packed_files(name)).diff_id,
            diff_id(after.root, after.packed_files(name)).diff_id,
        )
        for name in sorted(ORDER)
    )
    cores = (core_digest(before, core_locks(before, ())), core_digest(after, core_locks(after, ())))
    return Difference(cores, elements, _files(before, after), _outcomes(before, after))


def _files(before: Artifact, after: Artifact) -> tuple[FileDifference, ...]:
    left, right = assign_files(before), assign_files(after)
    found = []
    for path in sorted(left.keys() | right.keys(), key=os.fsencode):
        one = _content(before.root, path) if path in left else None
        other = _content(after.root, path) if path in right else None
        if one == other:
            continue
        element = right[path] if path in right else left[path]
        change: Change = "added" if one is None else "removed" if other is None else "changed"
        digests = [side[1] if side else None for side in (one, other)]
        found.append(FileDifference(str(path), element, change, digests[0], digests[1]))
    return tuple(found)


def _content(root: Path, path: PurePosixPath) -> tuple[str, str]:
    """Return what kind of file it is and the digest of its content, or of a link's target."""
    place = root / path
    status = place.lstat()
    if stat.S_ISLNK(status.st_mode):
        return "link", sha256_bytes(os.fsencode(place.readlink()))
    return ("program" if status.st_mode & 0o111 else "file"), sha256_file(place)


def _outcomes(before: Artifact, after: Artifact) -> tuple[OutcomeDifference, ...]:
    left, right = _definitions(before), _definitions(after)
    found = []
    for name in [*left, *(name for name in right if name not in left)]:
        one, other = left.get(name, {}), right.get(name, {})
        keys = sorted(k for k in one.keys() | other.keys() if one.get(k) != other.get(k))
        if not keys:
            continue
        change: Change = "added" if not one else "removed" if not other else "changed"
        sides = [{key: side[key] for key in keys if key in side} for side in (one, other)]
        found.append(OutcomeDifference(name, change, sides[0], sides[1]))
    return tuple(found)


def _definitions(artifact: Artifact) -> Mapping[str, dict[str, Any]]:
    return {name: one.to_json() for name, one in artifact.manifest.reported_values().items()}
