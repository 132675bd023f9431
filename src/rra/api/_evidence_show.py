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
        refused_writes: Those of its other writes of which every try was refused.
        left_out: Pairs of something in the outputs that was not kept, and why.
        left_behind: How many processes outlived the launcher and were ended; None where its
            events do not say.
    """

    artifact: str
    run: RunSummary
    examined: Examined
    refused_writes: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    left_behind: int | None

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
            "refused_writes": list(self.refused_writes),
            "left_out": [{"path": path, "why": why} for path, why in self.left_out],
            "left_behind": self.left_behind,
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
    from rra.evidence import EVENTS, EvidenceStore, choose, examine_one, read_log

    with open_artifact(artifact, progress=progress, plain_http=plain_http) as opened:
        stored = choose(EvidenceStore(opened.root / layout.EVIDENCE_DIR), name)
        examined = examine_one(stored)
        events, _ = read_log(stored.directory / EVENTS)
        return ShownRecord(
            artifact=opened.name,
            run=summarise(opened.artifact, examined),
            examined=examined,
            refused_writes=_refused(events),
            left_out=tuple(
                (str(one.get("path")), str(one.get("why")))
                for one in events
                if one.get("kind") == "left-out"
            ),
            left_behind=_left_behind(events),
            exit_code=0 if examined.intact else 1,
            problems=(*opened.notices, *examined.problems),
        )


def _refused(events: list[dict[str, Any]]) -> tuple[str, ...]:
    """Return the paths that a run tried to write and never did."""
    tries = [one for one in events if one.get("kind") == "write"]
    written = {str(one.get("path")) for one in tries if one.get("refused") is not True}
    return tuple(sorted({str(one.get("path")) for one in tries} - written))


def _left_behind(events: list[dict[str, Any]]) -> int | None:
    """Return how many processes had to be ended, as the last event says."""
    found = events[-1].get("left_behind") if events else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None
