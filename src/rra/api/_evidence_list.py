"""``rra evidence list``: the runs that are recorded."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._evidence import RunSummary, damaged_json, summarise
from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import layout

if TYPE_CHECKING:
    from rra.evidence import Examined


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvidenceList(VerbResult):
    """The recorded runs; the answer is no when a record is damaged.

    Attributes:
        artifact: The artifact, as it was named; bundles with their digest.
        runs: The runs whose record can be read, in the order of their ends.
        damaged: Folders with faults.
    """

    artifact: str
    runs: tuple[RunSummary, ...]
    damaged: tuple[Examined, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": self.artifact,
            "runs": [one.to_json() for one in self.runs],
            "damaged": [damaged_json(one) for one in self.damaged],
        }


def evidence_list(
    artifact: str | Path,
    *,
    launcher: str | None = None,
    plain_http: bool = False,
    progress: Progress = silent,
) -> EvidenceList:
    """List the runs of an artifact: when, how they ended, whether they are of its present state.

    Runs that were cut off are recorded first.

    Args:
        artifact: Directory of the artifact, or reference of a bundle.
        launcher: Only the runs of this one.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or launcher.
        CorruptError: A bundle is not what vouches for it.
    """
    from rra.api._evidence import insist_on_launcher, record_cut_off
    from rra.evidence import EvidenceStore, examine

    with open_artifact(artifact, progress=progress, plain_http=plain_http) as opened:
        store = EvidenceStore(opened.root / layout.EVIDENCE_DIR)
        insist_on_launcher(opened.artifact, store, launcher)
        left = record_cut_off(opened.artifact, progress) if opened.bundle is None else ()
        progress("reading the evidence")
        found = examine(store, launcher)
        runs = tuple(summarise(opened.artifact, one) for one in found if one.stored is not None)
        damaged = tuple(one for one in found if not one.intact)
        return EvidenceList(
            artifact=opened.name,
            runs=runs,
            damaged=damaged,
            exit_code=1 if damaged else 0,
            problems=(*opened.notices, *left),
        )
