"""Is the evidence of a value whole, unchanged, and of the artifact as it is now?"""

from __future__ import annotations

from rra.artifact import Artifact
from rra.audit.documents import Finding
from rra.audit.trace import Found
from rra.errors import CorruptError
from rra.evidence import EvidenceStore, StoredRecord, changed_since, verify_record
from rra.model import ExecutionRecord, Outcome

_SHOWN = 3


def evidence_findings(
    artifact: Artifact, outcome: Outcome, found: Found, store: EvidenceStore, core: str
) -> list[Finding]:
    """Check the record behind a value.

    Args:
        artifact: The artifact as it is now.
        outcome: The outcome.
        found: Its value and record.
        store: All records.
        core: Core digest of the artifact now.
    """
    if found.stored is None:
        return [_unexecuted(outcome, store)]
    runs = (found.stored, *found.others)
    findings = [finding for stored in runs for finding in _tampered(stored)]
    findings += _edited(outcome, found)
    for stored in runs:
        findings += _stale(artifact, stored, core)
        findings += _stored_outputs(outcome, stored.record)
        findings += _incomplete(outcome, stored.record)
    return findings


def _unexecuted(outcome: Outcome, store: EvidenceStore) -> Finding:
    launcher = outcome.selector.launcher
    code = "UNEXECUTED"
    try:
        failed = store.latest(launcher, ok=False)
    except CorruptError as error:
        return Finding(code="TAMPERED", status="refuted", material=True, message=error.message)
    message = f"no record says that launcher {launcher} ran"
    if failed is not None:
        how = failed.record.end
        message = f"no run of launcher {launcher} succeeded; the newest ended with {how}"
    return Finding(code=code, status="refuted", material=True, message=message)


def _tampered(stored: StoredRecord) -> list[Finding]:
    problems = verify_record(stored)
    if not problems:
        return []
    shown = "; ".join(f"{problem.path}: {problem.message}" for problem in problems[:_SHOWN])
    return [
        Finding(
            code="TAMPERED",
            status="refuted",
            material=True,
            message=f"the evidence is not as the run left it: {shown}",
            places=[problem.path for problem in problems],
        )
    ]


def _edited(outcome: Outcome, found: Found) -> list[Finding]:
    if not found.edited:
        return []
    file = f"outputs/{outcome.selector.launcher}/{outcome.selector.file}"
    message = f"{file} is not what any recorded run left; it was changed afterwards"
    return [
        Finding(code="TAMPERED", status="refuted", material=True, message=message, places=[file])
    ]


def _stale(artifact: Artifact, stored: StoredRecord, core: str) -> list[Finding]:
    """Compare what the run used with what the artifact holds now."""
    record = stored.record
    changed = changed_since(artifact, record)
    if changed:
        listed = ", ".join(changed[:_SHOWN])
        more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        message = f"the recorded run is of an earlier state: {listed}{more} differ now"
        return [
            Finding(code="STALE", status="refuted", material=True, message=message, places=changed)
        ]
    if record.core != core:
        message = "the record names another core, though everything that this run read is as it was"
        return [Finding(code="STALE", status="supported", material=False, message=message)]
    return []


def _stored_outputs(outcome: Outcome, record: ExecutionRecord) -> list[Finding]:
    """Say where a value is read from a notebook that a run left just as it had found it.

    Its outputs may be those that somebody stored, of another state of the code. A notebook that was
    executed may come out the same, too, so only a new run tells.
    """
    file = outcome.selector.file
    left = next((one.sha256 for one in record.outputs if one.path == file), None)
    same = [one.path for one in record.inputs if one.sha256 == left and file.endswith(".ipynb")]
    if not same:
        return []
    message = (
        f"{file} is {same[0]} byte for byte: the value was stored there, and nothing shows that it "
        "was produced by this code state"
    )
    return [Finding(code="STALE", status="uncertain", material=True, message=message, places=same)]


def _incomplete(outcome: Outcome, record: ExecutionRecord) -> list[Finding]:
    messages = []
    if record.recorder.level == "imported":
        messages.append("the record was imported, not made by a recorder")
    if record.stdout.truncated and outcome.selector.file == "stdout.txt":
        messages.append("the output that the value is read from was cut off")
    return [
        Finding(code="INCOMPLETE_RECORD", status="refuted", material=True, message=message)
        for message in messages
    ]
