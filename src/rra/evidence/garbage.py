"""Which records can go: failed runs that a later success has replaced, and nothing else.

Successful runs stay, however many there are: which of them were made and left out of a report
is part of what evidence tells.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

from rra._base.files import STAGING_PREFIX, remove_tree, storage_errors, walk_files
from rra.artifact import layout
from rra.evidence.examining import Examined, examine
from rra.evidence.store import EvidenceStore, StoredRecord
from rra.model import ExecutionRecord

_NOT_SEARCHED = frozenset({layout.EVIDENCE_DIR, layout.OUTPUTS_DIR, *layout.SKIPPED_DIRS})
_SEARCHED = frozenset({".json", ".jsonl", ".yaml", ".yml", ".md", ".html", ".txt"})
_MAX_BYTES = 64 * 1024 * 1024
_DIGITS = re.compile(rb"[0-9a-f]{16,64}")
_SHORT = 16


@dataclasses.dataclass(frozen=True, slots=True)
class Garbage:
    """A record that can go, and what that frees.

    Attributes:
        stored: The record of the failed run.
        replaced_by: Digest of the later success.
        size: Bytes of its folder.
    """

    stored: StoredRecord
    replaced_by: str
    size: int


@dataclasses.dataclass(frozen=True, slots=True)
class Sorted:
    """What can go and what stays.

    Attributes:
        garbage: Records that can go.
        kept: Failed runs that stay, each with the reason.
        damaged: Folders that cannot be judged; they are left to a person.
    """

    garbage: tuple[Garbage, ...]
    kept: tuple[tuple[StoredRecord, str], ...]
    damaged: tuple[Examined, ...]


def find_garbage(store: EvidenceStore, root: Path) -> Sorted:
    """Sort the failed runs of an artifact into those that can go and those that are needed.

    A failed run can go when the same configuration (launcher, instance, parameters, seed)
    succeeded later, no document of the artifact names it, and no other run read what it left.

    Args:
        store: The evidence.
        root: Folder of the artifact, whose documents are searched for names of records.
    """
    found = examine(store)
    readable = [one.stored for one in found if one.stored is not None]
    named = _named(root)
    read = {
        item.sha256
        for one in readable
        for item in one.record.inputs
        if item.role == "output" and one.record.ok
    }
    garbage, kept = [], []
    for position, one in enumerate(readable):
        if one.record.ok:
            continue
        later = _later_success(one.record, readable[position:])
        if later is None:
            kept.append((one, "no later run of the same configuration succeeded"))
        elif one.digest.removeprefix("sha256:")[:_SHORT] in named:
            kept.append((one, "a document of the artifact names it"))
        elif any(output.sha256 in read for output in one.record.outputs if output.size):
            kept.append((one, "another run read what it left"))
        else:
            garbage.append(Garbage(one, later.digest, _size(one.directory)))
    damaged = tuple(one for one in found if not one.intact)
    broken = {one.directory for one in damaged}
    return Sorted(
        tuple(one for one in garbage if one.stored.directory not in broken), tuple(kept), damaged
    )


def remove_record(store: EvidenceStore, stored: StoredRecord) -> None:
    """Remove a record with all that belongs to it, as a whole.

    Raises:
        StorageError: That is not allowed.
    """
    with storage_errors(stored.directory):
        aside = store.root / f"{STAGING_PREFIX}gone-{stored.directory.name}"
        stored.directory.rename(aside)
        remove_tree(aside)


def _later_success(record: ExecutionRecord, later: list[StoredRecord]) -> StoredRecord | None:
    wanted = _configuration(record)
    return next(
        (
            one
            for one in reversed(later)
            if one.record.ok
            and one.record.recorder.level != "imported"
            and _configuration(one.record) == wanted
        ),
        None,
    )


def _configuration(record: ExecutionRecord) -> tuple[object, ...]:
    parameters = tuple(sorted((name, repr(value)) for name, value in record.parameters.items()))
    return record.launcher.id, record.instance, parameters, record.seed.declared


def _named(root: Path) -> set[str]:
    """Return the beginnings of digests that documents and names of files hold."""
    found: set[str] = set()
    for path in _documents(root):
        texts = [str(path).encode()]
        place = root / path
        if path.suffix.lower() in _SEARCHED and place.stat().st_size <= _MAX_BYTES:
            texts.append(place.read_bytes())
        for text in texts:
            found.update(digits[:_SHORT].decode() for digits in _DIGITS.findall(text))
    return found


def _documents(root: Path) -> Iterator[Path]:
    for path in walk_files(root):
        if not _NOT_SEARCHED.intersection(path.parts) and (root / path).is_file():
            yield Path(path)


def _size(folder: Path) -> int:
    return sum((folder / path).lstat().st_size for path in walk_files(folder))
