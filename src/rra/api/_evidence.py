"""What the verbs about evidence have in common."""

from __future__ import annotations

import dataclasses
import difflib
from typing import TYPE_CHECKING, Any

from rra._base.files import STAGING_PREFIX
from rra.api._result import Progress
from rra.artifact import layout
from rra.errors import Problem, UsageError

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.evidence import EvidenceStore, Examined
    from rra.model import ExecutionRecord


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One recorded run in a line.

    Attributes:
        digest: Digest of the record.
        place: Its folder, relative to the artifact.
        intact: Whether all of it is as the run left it.
        changed: Files that it used and that are others now; empty when it is of this state.
    """

    digest: str
    place: str
    record: ExecutionRecord
    intact: bool
    changed: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain JSON."""
        record = self.record
        return {
            "record": self.digest,
            "place": self.place,
            "launcher": record.launcher.id,
            "instance": record.instance,
            "parameters": dict(record.parameters),
            "seed": record.seed.declared,
            "started": record.started,
            "ended": record.ended,
            "seconds": record.resources.wall,
            "ok": record.ok,
            "termination": record.termination,
            "exit_code": record.exit_code,
            "missing_outputs": list(record.missing_outputs),
            "failed_cells": [one.to_json() for one in record.failed_cells or []],
            "outputs": len(record.outputs),
            "sandbox": record.sandbox.level,
            "recorder": record.recorder.level,
            "intact": self.intact,
            "current": not self.changed,
            "changed": list(self.changed),
        }


def summarise(artifact: Artifact, examined: Examined) -> RunSummary:
    """Return what a list says of a record that can be read."""
    from rra.evidence import changed_since

    stored = examined.stored
    assert stored is not None  # noqa: S101 - the caller asks for none that cannot be read
    return RunSummary(
        digest=stored.digest,
        place=examined.place,
        record=stored.record,
        intact=examined.intact,
        changed=tuple(changed_since(artifact, stored.record)),
    )


def damaged_json(examined: Examined) -> dict[str, Any]:
    """Return what is wrong with a folder of evidence as plain JSON."""
    return {
        "place": examined.place,
        "record": examined.stored.digest if examined.stored is not None else None,
        "faults": [
            {
                "path": one.path,
                "message": one.message,
                "clause": one.clause,
                **({} if one.line is None else {"line": one.line}),
            }
            for one in examined.problems
        ],
    }


def record_cut_off(artifact: Artifact, progress: Progress) -> tuple[Problem, ...]:
    """Record the runs of an artifact that were cut off; say which could not be, as warnings.

    Args:
        artifact: The artifact, where its author has it.
        progress: Called with one line for each run.
    """
    outputs = artifact.root / layout.OUTPUTS_DIR
    if not any(outputs.glob(f"{STAGING_PREFIX}*")):
        return ()
    from rra.evidence import EvidenceStore
    from rra.launch import recover_runs

    store = EvidenceStore(artifact.root / layout.EVIDENCE_DIR)
    left = []
    for one in recover_runs(artifact, outputs, store):
        progress(str(one))
        if one.stored is None:
            hint = "run rra there, or remove that folder if nothing needs it"
            left.append(Problem(str(one), layout.OUTPUTS_DIR, hint=hint, severity="warning"))
    return tuple(left)


def insist_on_launcher(artifact: Artifact, store: EvidenceStore, name: str | None) -> None:
    """Insist that a launcher is one of the artifact, or was when something was recorded.

    Raises:
        UsageError: It is neither.
    """
    known = artifact.manifest.launchers
    if name is None or name in known or (store.root / name).is_dir():
        return
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"launchers: {', '.join(known)}"
    raise UsageError(f"there is no launcher {name!r}", hint=hint)
