"""All evidence that there is, what cannot be read of it included, and names for single records."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

from rra._base.files import STAGING_PREFIX
from rra.errors import CorruptError, Problem, UsageError
from rra.evidence.check import verify_record
from rra.evidence.names import printable
from rra.evidence.store import (
    EVENTS,
    OUTPUTS,
    RECORD,
    STDERR,
    STDOUT,
    EvidenceStore,
    StoredRecord,
    when,
)

_HEX = re.compile(r"[0-9a-f]{4,64}")
_NAMED = 6
_OWN = frozenset({RECORD, EVENTS, STDOUT, STDERR, OUTPUTS})


@dataclasses.dataclass(frozen=True, slots=True)
class Examined:
    """One folder of evidence.

    Attributes:
        directory: The folder, ``evidence/<launcher>/<name>``.
        stored: The record; None when it cannot be read.
        problems: What is not as the run left it; empty for a record that is intact.
    """

    directory: Path
    stored: StoredRecord | None
    problems: tuple[Problem, ...]

    @property
    def place(self) -> str:
        """Where it lies, relative to the artifact."""
        parts = (self.directory.parent.name, self.directory.name)
        return "/".join(("evidence", *map(printable, parts)))

    @property
    def intact(self) -> bool:
        """Whether everything is as the run left it."""
        return not self.problems


def examine(store: EvidenceStore, launcher: str | None = None) -> list[Examined]:
    """Check every folder of evidence, each by itself; what is damaged does not hide the rest.

    Args:
        store: The evidence.
        launcher: Only the runs of this one.

    Returns:
        The folders: records that can be read in the order of their ends, then the others.
    """
    read: dict[Path, StoredRecord] = {}
    broken: list[Examined] = []
    for folder in _folders(store.root, launcher):
        if not (folder / RECORD).is_file():
            broken.append(Examined(folder, None, (_missing(folder),)))
            continue
        try:
            read[folder] = store.read(folder)
        except CorruptError as error:
            broken.append(Examined(folder, None, _unreadable(folder, error)))
    return [*map(examine_one, sorted(read.values(), key=when)), *broken]


def examine_one(stored: StoredRecord) -> Examined:
    """Check one record that can be read, and that nothing lies beside it that no run left."""
    problems = (*verify_record(stored), *_foreign(stored.directory))
    return Examined(stored.directory, stored, problems)


def _foreign(folder: Path) -> Iterator[Problem]:
    """Name what somebody put beside a record; the format allows it, and it is no evidence."""
    place = f"evidence/{printable(folder.parent.name)}/{printable(folder.name)}"
    for path in sorted(folder.iterdir()):
        if path.name not in _OWN and not path.name.startswith(STAGING_PREFIX):
            hint = "it is no evidence of anything: put it elsewhere, or remove it"
            yield Problem("no run left it", f"{place}/{printable(path.name)}", hint=hint)


def _folders(root: Path, launcher: str | None) -> list[Path]:
    """Return the folders that lie where records do, those without a record included."""
    found = root.glob(f"{launcher or '*'}/*")
    return sorted(
        path
        for path in found
        if path.is_dir() and not any(part.startswith(STAGING_PREFIX) for part in path.parts[-2:])
    )


def _missing(folder: Path) -> Problem:
    place = f"evidence/{printable(folder.parent.name)}/{printable(folder.name)}/{RECORD}"
    hint = "take the folder again from where it was made, or remove it"
    message = "the record is not there"
    return Problem(message, place, clause="execution-record/files-present", hint=hint)


def _unreadable(folder: Path, error: CorruptError) -> tuple[Problem, ...]:
    place = f"evidence/{printable(folder.parent.name)}/{printable(folder.name)}/{RECORD}"
    if not error.problems:
        return (Problem(error.message, place, clause="execution-record/name", hint=error.hint),)
    return tuple(
        dataclasses.replace(one, path=place, hint=one.hint or error.hint)
        for one in error.problems
        if one.severity == "error"
    )


def choose(store: EvidenceStore, name: str) -> StoredRecord:
    """Return the record that a name stands for.

    Args:
        store: The evidence.
        name: A digest or its first digits (four at least), the folder of a record, or the id of
            a launcher, which stands for its newest run.

    Records that cannot be read do not hide the others, and a launcher with such a one has no
    newest run that anybody could know.

    Raises:
        UsageError: There is none, or several begin like that.
        CorruptError: The record that is meant, or one of the launcher, cannot be read.
    """
    records, broken = store.intact(), store.unreadable()
    short = name.rstrip("/").rpartition("/")[2].removeprefix("sha256:")
    if "/" not in name and not name.startswith("sha256:"):
        of_launcher = [one for one in records if one.record.launcher.id == name]
        for folder, error in broken.items():
            if folder.parent.name == name:
                message = f"which run of {name} is the newest cannot be told: {error.message}"
                hint = f"name a run by its digest (rra evidence list shows them); or {error.hint}"
                raise CorruptError(message, hint=hint, problems=error.problems)
        if of_launcher:
            return of_launcher[-1]
    for folder, error in broken.items():
        if _HEX.fullmatch(short) and folder.name.startswith(short[: len(folder.name)]):
            raise error
    found = [one for one in records if one.digest.removeprefix("sha256:").startswith(short)]
    if not _HEX.fullmatch(short) or not found:
        message = f"no record of a run is called {name}"
        raise UsageError(message, hint=_known(records))
    if len(found) > 1:
        names = ", ".join(one.digest for one in found[:_NAMED])
        message = f"{len(found)} records begin with {short}"
        raise UsageError(message, hint=f"give more of its digits: {names}")
    return found[0]


def _known(records: list[StoredRecord]) -> str:
    if not records:
        return "nothing has been recorded yet; run it first: rra run"
    launchers = ", ".join(dict.fromkeys(one.record.launcher.id for one in records))
    return f"name a launcher with records ({launchers}), or a digest that rra evidence list shows"
