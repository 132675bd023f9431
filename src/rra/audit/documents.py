# ruff: noqa: RUF012 - pydantic gives each object its own copy of a default
"""What an audit says: findings, trials of the probe, traces, verdicts (`audit.json`)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rra.model.base import Digest, Id, Object, OutcomeId, Timestamp
from rra.model.verdicts import (
    SUPPORTED_VERDICTS,
    AuditVerdict,
    EvidenceLevel,
    FindingStatus,
)

Count = Annotated[int, Field(ge=0)]
Number = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]
Code = Annotated[str, Field(pattern=r"^([A-Z][A-Z_]*|[a-z][a-z0-9-]*)$")]


class Replacement(Object):
    """A number that a trial replaced.

    Attributes:
        place: ``file:line``, or file, part and offset.
        original: The number as it stood.
        decoy: What stood there in the trial.
    """

    place: str
    original: str
    decoy: str


class Trial(Object):
    """One run of a launcher with something changed in the artifact's files.

    Attributes:
        number: Counted from 1 within a probe; 0 for one that was not made.
        launcher: The launcher whose result was read.
        replaced: Numbers that were replaced; the first fifty.
        replaced_count: How many were replaced.
        removed: Files that were taken away.
        obtained: Value of each outcome, or null where there was none.
        failed: Why there was no value, for a run that failed.
    """

    number: Count
    launcher: Id
    replaced: list[Replacement] = []
    replaced_count: Count = 0
    removed: list[str] = []
    obtained: dict[OutcomeId, str | None] = {}
    failed: str | None = None


class Finding(Object):
    """One thing found out about an outcome.

    Attributes:
        code: A verdict word, or a short name for what has none.
        status: Whether the finding speaks for the outcome, against it, or leaves it open.
        material: Whether the outcome stands or falls with it.
        message: One or two sentences with values and places.
        places: Files (with lines) that it is about.
        trials: Runs that show it.
    """

    code: Code
    status: FindingStatus
    material: bool
    message: Text
    places: list[str] = []
    trials: list[Trial] = []

    @property
    def invalidates(self) -> bool:
        """Whether this finding alone keeps the outcome from standing."""
        return self.material and self.status == "refuted"


class FileRef(Object):
    """A file with its digest; the path is relative to the artifact or the run's outputs."""

    path: str
    sha256: Digest
    role: str | None = None


class Trace(Object):
    """The way from a reported value to what made it.

    Attributes:
        outcome: ``<experiment>/<outcome>``.
        reported: The value as the paper has it.
        selector: The selector in one line, for a person.
        value: What the selector found, as text in the file.
        file: File in the launcher's outputs.
        sha256: Its digest.
        place: Place in that file, such as a JSON pointer.
        line: 1-based line.
        record: Digest of the execution record that lists that file.
        launcher: Id of the launcher.
        entry: The launcher's file.
        scripts: Files of the code that the launcher names.
        inputs: What the run could read or was seen to read.
        inputs_total: How many there were; `inputs` holds at most two hundred.
        recorder: How the inputs were observed.
        started: When the run began.
    """

    outcome: OutcomeId
    reported: str
    unit: str | None = None
    selector: str
    value: str | None = None
    file: str | None = None
    sha256: Digest | None = None
    place: str | None = None
    line: Number | None = None
    record: Digest | None = None
    launcher: Id
    entry: FileRef | None = None
    scripts: list[FileRef] = []
    inputs: list[FileRef] = []
    inputs_total: Count = 0
    recorder: str | None = None
    started: Timestamp | None = None


class ValueAudit(Object):
    """The verdict on one reported value.

    Attributes:
        outcome: ``<experiment>/<outcome>``.
        reported: The value as the paper has it.
        obtained: What the evidence or the auditor's own run gives, in the outcome's unit.
        evidence_level: How far the value could be followed.
        verdict: The worst thing found, by a fixed table.
        documented: The value contradicts the paper exactly as the artifact says it does.
        findings: All that was found.
        trace: Where the value comes from.
    """

    outcome: OutcomeId
    reported: str
    unit: str | None = None
    obtained: str | None = None
    evidence_level: EvidenceLevel
    verdict: AuditVerdict
    documented: bool = False
    findings: list[Finding] = []
    trace: Trace

    @property
    def stands(self) -> bool:
        """Whether the value is supported and nothing material speaks against it."""
        return self.verdict in SUPPORTED_VERDICTS


class AuditResult(Object):
    """The audit of an artifact.

    Attributes:
        artifact: Name and version.
        core: Core digest at the time.
        started: When the audit began.
        ended: When it ended.
        rerun: Whether the auditor ran the launchers.
        sandbox: How those runs were isolated.
        values: One for each outcome, in the order of the manifest.
        notes: What holds for the whole audit, such as why nothing was run.
    """

    type: Literal["audit/v1"]
    artifact: Text
    version: Text
    core: Digest
    started: Timestamp
    ended: Timestamp
    rerun: bool
    sandbox: str | None = None
    values: list[ValueAudit]
    notes: list[str] = []

    def ok(self, *, accept_documented: bool = False) -> bool:
        """Whether every value stands.

        Args:
            accept_documented: Count values that deviate exactly as documented.
        """
        return all(
            value.stands or (accept_documented and value.documented) for value in self.values
        )
