"""``rra evidence gc``: which records can go."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._result import Progress, VerbResult, silent
from rra.artifact import layout, load_artifact

if TYPE_CHECKING:
    from rra.evidence import Sorted


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvidenceGc(VerbResult):
    """What can go, and whether it went.

    Attributes:
        root: The artifact.
        found: What can go, and what stays for which reason.
        removed: Whether what can go was removed.
    """

    root: Path
    found: Sorted
    removed: bool

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": str(self.root),
            "removed": self.removed,
            "bytes": sum(one.size for one in self.found.garbage),
            "garbage": [
                {
                    "record": one.stored.digest,
                    "launcher": one.stored.record.launcher.id,
                    "termination": one.stored.record.termination,
                    "ended": one.stored.record.ended,
                    "replaced_by": one.replaced_by,
                    "bytes": one.size,
                }
                for one in self.found.garbage
            ],
            "kept": [
                {"record": one.digest, "launcher": one.record.launcher.id, "why": why}
                for one, why in self.found.kept
            ],
            "damaged": [one.place for one in self.found.damaged],
        }


def evidence_gc(artifact: Path, *, yes: bool = False, progress: Progress = silent) -> EvidenceGc:
    """Find failed runs that a later success replaced and nothing needs; remove them when told to.

    Runs that were cut off are recorded first.

    Args:
        artifact: Directory of the artifact.
        yes: Remove them.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact.
        StorageError: Removing is not allowed.
    """
    from rra.api._evidence import record_cut_off
    from rra.evidence import EvidenceStore, find_garbage, remove_record, sweep_stale

    loaded = load_artifact(artifact)
    store = EvidenceStore(loaded.root / layout.EVIDENCE_DIR)
    left = record_cut_off(loaded, progress)
    progress("looking for records that nothing needs")
    found = find_garbage(store, loaded.root)
    if yes:
        for one in found.garbage:
            progress(f"removing {one.stored.digest}")
            remove_record(store, one.stored)
        sweep_stale(store.root)
    return EvidenceGc(root=loaded.root, found=found, removed=yes, problems=left)
