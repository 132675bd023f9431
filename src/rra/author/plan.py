"""What `init` is going to do, before anything is written."""

from __future__ import annotations

import dataclasses
from pathlib import Path, PurePosixPath


@dataclasses.dataclass(frozen=True)
class PlannedFile:
    """A file to be written: its bytes and permission bits."""

    data: bytes
    mode: int = 0o644


@dataclasses.dataclass(frozen=True)
class Replacement:
    """A file that is there and differs: its place, and the difference as a unified diff."""

    path: PurePosixPath
    diff: str


@dataclasses.dataclass(frozen=True)
class InitPlan:
    """What `init` is going to do; nothing is written yet.

    Attributes:
        root: Directory of the artifact.
        name: Id of the artifact.
        files: Files to write, by place; those that are already there with the same bytes
            are left out.
        moves: Entries of the root to move, as (from, to).
        replacements: Files that will be replaced, with the author's consent.
        blanks: Place and text of each blank that the draft leaves.
        notes: What the author should know.
        exists: Whether there is an artifact already and nothing has to be done.
    """

    root: Path
    name: str
    files: dict[PurePosixPath, PlannedFile]
    moves: tuple[tuple[PurePosixPath, PurePosixPath], ...] = ()
    replacements: tuple[Replacement, ...] = ()
    blanks: tuple[tuple[PurePosixPath, int, str], ...] = ()
    notes: tuple[str, ...] = ()
    exists: bool = False

    @property
    def changes(self) -> bool:
        """Whether carrying the plan out changes anything."""
        return bool(self.files or self.moves)
