"""``rra evidence verify``: is the evidence as the runs left it?"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._evidence import damaged_json
from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import layout

if TYPE_CHECKING:
    from rra.evidence import Examined


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvidenceVerification(VerbResult):
    """What was checked; the answer is yes when there is evidence and all of it is intact.

    Attributes:
        artifact: The artifact, as it was named.
        examined: The folders of evidence that were checked.
    """

    artifact: str
    examined: tuple[Examined, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": self.artifact,
            "checked": len(self.examined),
            "intact": [
                {"place": one.place, "record": one.stored.digest}
                for one in self.examined
                if one.intact and one.stored is not None
            ],
            "damaged": [damaged_json(one) for one in self.examined if not one.intact],
        }


def evidence_verify(
    artifact: str | Path,
    *,
    records: tuple[str, ...] = (),
    plain_http: bool = False,
    progress: Progress = silent,
) -> EvidenceVerification:
    """Check records against what lies beside them: name, chain of events, digests, outputs.

    Whoever writes a record of their own passes; only a new run tells (`rra.api.verify`). Runs
    that were cut off are recorded first.

    Args:
        artifact: Directory of the artifact, or reference of a bundle.
        records: Names of records (see `rra.evidence.choose`); all by default.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or record.
        CorruptError: A bundle is not what vouches for it.
    """
    from rra.api._evidence import record_cut_off
    from rra.evidence import EvidenceStore, choose, examine, examine_one

    with open_artifact(artifact, progress=progress, plain_http=plain_http) as opened:
        store = EvidenceStore(opened.root / layout.EVIDENCE_DIR)
        left = record_cut_off(opened.artifact, progress) if opened.bundle is None else ()
        progress("hashing the evidence")
        if records:
            chosen = dict.fromkeys(choose(store, name).directory for name in records)
            found = tuple(examine_one(store.read(folder)) for folder in chosen)
        else:
            found = tuple(examine(store))
        return EvidenceVerification(
            artifact=opened.name,
            examined=found,
            exit_code=0 if found and all(one.intact for one in found) else 1,
            problems=(*opened.notices, *left, *(fault for one in found for fault in one.problems)),
        )
