"""``rra evidence diff``: what differs between two recorded runs."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import layout

if TYPE_CHECKING:
    from rra.evidence import RecordDifference


@dataclasses.dataclass(frozen=True, kw_only=True)
class EvidenceDiff(VerbResult):
    """What differs; the answer is yes when nothing does.

    Attributes:
        before: Digest of the first record.
        after: Digest of the second.
        difference: What differs, field by field.
    """

    before: str
    after: str
    difference: RecordDifference

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "before": self.before,
            "after": self.after,
            "same": self.difference.same,
            "groups": list(self.difference.groups),
            "unexplained": self.difference.unexplained,
            "fields": [dataclasses.asdict(one) for one in self.difference.fields],
        }


def evidence_diff(
    before: str,
    after: str,
    artifact: str | Path = ".",
    *,
    plain_http: bool = False,
    progress: Progress = silent,
) -> EvidenceDiff:
    """Compare two recorded runs: code, parameters, environment, inputs, platform, outputs.

    Args:
        before: Name of the first record (see `rra.evidence.choose`).
        after: Name of the second.
        artifact: Directory of the artifact, or reference of a bundle.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or record.
        CorruptError: A record cannot be read.
    """
    from rra.evidence import EvidenceStore, choose, compare_records

    with open_artifact(artifact, progress=progress, plain_http=plain_http) as opened:
        store = EvidenceStore(opened.root / layout.EVIDENCE_DIR)
        left, right = choose(store, before), choose(store, after)
        found = compare_records(left.record, right.record)
        return EvidenceDiff(
            before=left.digest,
            after=right.digest,
            difference=found,
            exit_code=0 if found.same else 1,
            problems=opened.notices,
        )
