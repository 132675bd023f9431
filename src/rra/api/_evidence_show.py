"""``rra evidence show``: one recorded run, whole."""

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
class ShownRecord(VerbResult):
    """One record; the answer is no when it is not as the run left it.

    Attributes:
        artifact: The artifact, as it was named.
        run: The record and how it stands.
        examined: Its folder, with what is wrong with it.
    """

    artifact: str
    run: RunSummary
    examined: Examined

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": self.artifact,
            "record": self.run.digest,
            "place": self.run.place,
            "intact": self.run.intact,
            "current": not self.run.changed,
            "changed": list(self.run.changed),
            "faults": damaged_json(self.examined)["faults"],
            "document": self.run.record.to_json(),
        }


def evidence_show(
    name: str,
    artifact: str | Path = ".",
    *,
    plain_http: bool = False,
    progress: Progress = silent,
) -> ShownRecord:
    """Show one recorded run: what it was, what it read and left, how closely it was watched.

    Args:
        name: See `rra.evidence.choose`.
        artifact: Directory of the artifact, or reference of a bundle.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or record, or several are called so.
        CorruptError: A record cannot be read.
    """
    from rra.evidence import EvidenceStore, choose, examine_one

    with open_artifact(artifact, progress=progress, plain_http=plain_http) as opened:
        stored = choose(EvidenceStore(opened.root / layout.EVIDENCE_DIR), name)
        examined = examine_one(stored)
        return ShownRecord(
            artifact=opened.name,
            run=summarise(opened.artifact, examined),
            examined=examined,
            exit_code=0 if examined.intact else 1,
            problems=(*opened.notices, *examined.problems),
        )
