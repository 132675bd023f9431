"""``rra diff``: what differs between two artifacts, wherever they are."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent

if TYPE_CHECKING:
    from rra.bundle.difference import Difference


@dataclasses.dataclass(frozen=True, kw_only=True)
class DiffResult(VerbResult):
    """What differs; the answer is yes when nothing does.

    Attributes:
        before: The first artifact, as it was named; bundles with their digest.
        after: The second.
        difference: What differs.
    """

    before: str
    after: str
    difference: Difference

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        found = self.difference
        return {
            "before": {"artifact": self.before, "core": found.cores[0]},
            "after": {"artifact": self.after, "core": found.cores[1]},
            "same": found.same,
            "elements": {
                one.element: {"same": one.same, "before": one.before, "after": one.after}
                for one in found.elements
            },
            "files": [
                {key: value for key, value in dataclasses.asdict(one).items() if value is not None}
                for one in found.files
            ],
            "outcomes": [dataclasses.asdict(one) for one in found.outcomes],
        }


def diff(
    before: str | Path,
    after: str | Path,
    *,
    plain_http: bool = False,
    progress: Progress = silent,
) -> DiffResult:
    """Compare two artifacts: elements, files, and what their outcomes declare.

    Args:
        before: Directory of an artifact, or reference of a bundle.
        after: Another one.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such artifact or bundle.
        CorruptError: A bundle is not what vouches for it.
    """
    from rra.bundle.difference import compare

    with (
        open_artifact(before, progress=progress, plain_http=plain_http) as left,
        open_artifact(after, progress=progress, plain_http=plain_http) as right,
    ):
        progress("comparing")
        found = compare(left.artifact, right.artifact)
    return DiffResult(
        before=left.name,
        after=right.name,
        difference=found,
        exit_code=0 if found.same else 1,
        problems=tuple(dict.fromkeys((*left.notices, *right.notices))),
    )
