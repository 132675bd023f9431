"""The part of ``rra pack`` and ``rra push`` that makes an artifact anonymous first."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra._base import places
from rra.api._result import Progress
from rra.bundle.reference import ArchiveReference, LayoutReference
from rra.errors import Problem, UsageError

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.author.anonymous import AnonymousCopy


@dataclasses.dataclass(frozen=True, slots=True)
class Anonymity:
    """That a bundle is to be anonymous, and what its author says of who they are.

    Attributes:
        also: Texts that identify the authors and that no file says.
        keep: Texts that identify nobody, whatever they look like.
        keep_paper: Whether the paper is somebody else's, and stays named.
        mapping: Where the private mapping goes; beside the bundle by default.
    """

    also: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    keep_paper: bool = False
    mapping: Path | None = None

    def __post_init__(self) -> None:
        """Refuse texts that every file holds: a script's variable may be empty.

        Raises:
            UsageError: One of them has no letter and no digit.
        """
        for option, texts in (("--also", self.also), ("--keep", self.keep)):
            if any(not any(map(str.isalnum, text)) for text in texts):
                message = f"{option} names no text: it has no letter and no digit"
                raise UsageError(message, hint=f"leave {option} away, or give a name")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AnonymousReport:
    """What became of an artifact when it was made anonymous.

    Attributes:
        original: Core of the artifact, which stays private.
        files: Files of the copy that were rewritten.
        records: Records that have another digest now.
        searched: How many files were searched, and their bytes.
        unsearched: What could be searched only in part, and why.
        notes: What the author should know.
        mapping: The private file that tells what was replaced by what; None when nothing was
            packed.
    """

    original: str
    files: int
    records: int
    searched: tuple[int, int]
    unsearched: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    mapping: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON."""
        return {
            "original_core": self.original,
            "files_rewritten": self.files,
            "records_renamed": self.records,
            "searched": {"files": self.searched[0], "bytes": self.searched[1]},
            "unsearched": [{"path": path, "why": why} for path, why in self.unsearched],
            "notes": list(self.notes),
            "mapping": None if self.mapping is None else str(self.mapping),
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Blanked:
    """An artifact that is to be packed in place of another.

    Attributes:
        artifact: The anonymous copy; None where something stands against it.
        problems: What stands against it.
        warnings: What may or may not identify.
        report: What became of the artifact.
        copy: The copy with all that is private about it.
    """

    artifact: Artifact | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    report: AnonymousReport
    copy: AnonymousCopy


@contextlib.contextmanager
def blanked(artifact: Artifact, wanted: Anonymity, progress: Progress) -> Iterator[Blanked]:
    """Give the anonymous copy of an artifact for as long as it is packed.

    Args:
        artifact: The artifact, which no rule objects to; it is only read.
        wanted: What its author says.
        progress: Called with one line for each step.

    Raises:
        UsageError: The artifact is not locked.
        PatchError: Its repairs do not lead from the source to the code.
        StorageError: There is no room for the copy.
    """
    from rra.artifact import load_artifact
    from rra.author.anonymous import AnonymousOptions, anonymous_copy

    options = AnonymousOptions(wanted.also, wanted.keep, wanted.keep_paper)
    with anonymous_copy(artifact, options, progress=progress) as copy:
        findings = copy.findings
        report = AnonymousReport(
            original=copy.before,
            files=len(copy.files),
            records=len(copy.records),
            searched=(findings.files, findings.size),
            unsearched=tuple((one.path, one.why) for one in findings.unsearched),
            notes=copy.notes,
        )
        loaded = None if copy.problems else load_artifact(copy.root)
        yield Blanked(loaded, copy.problems, tuple(findings.perhaps), report, copy)


def keep_mapping(done: Blanked, wanted: Anonymity, place: Path, digest: str) -> AnonymousReport:
    """Write the private mapping, and return the report that names it.

    Where the mapping of another bundle has that name, it gets one with its digest.

    Raises:
        StorageError: The disk is full or refuses.
    """
    from rra.author.anonymous import AnonymousOptions, mapping_document, write_mapping

    options = AnonymousOptions(wanted.also, wanted.keep, wanted.keep_paper)
    written = write_mapping(place, mapping_document(done.copy, options, digest=digest))
    return dataclasses.replace(done.report, mapping=written)


def mapping_place(
    artifact: Artifact, wanted: Anonymity, target: LayoutReference | ArchiveReference | None
) -> Path:
    """Return where the private mapping goes, which is never inside of what is shared.

    Beside a folder or file ``NAME`` it is ``NAME.private.json``; of a bundle that goes to a
    registry it is ``anonymous/ARTIFACT-VERSION.private.json`` in the folder of the state.

    Raises:
        UsageError: It would lie in the artifact or in the bundle.
    """
    manifest = artifact.manifest
    if wanted.mapping is not None:
        place = wanted.mapping
    elif target is None:
        folder = places.make_state() / "anonymous"
        place = folder / f"{manifest.name}-{manifest.version}.private.json"
    else:
        beside = target.path.absolute()
        place = beside.with_name(f"{beside.name}.private.json")
    whole = place.absolute()
    inside = [artifact.root, target.path.absolute()] if target is not None else [artifact.root]
    for folder in inside:
        if whole.resolve().is_relative_to(folder.resolve()):
            message = f"the private mapping would lie in what is shared: {place}"
            hint = "give another place with --mapping, or make the bundle outside of the artifact"
            raise UsageError(message, hint=hint)
    return place
