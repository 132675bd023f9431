# ruff: noqa: RUF012 - pydantic gives each object its own copy of a default
"""What verify writes: `plan.json` before anything runs, `reproduction.json` at the end."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pydantic
from pydantic import Field

from rra.audit import Finding, Trace
from rra.audit.documents import Count, Number, Text
from rra.model.base import Digest, Id, Object, OutcomeId, Timestamp
from rra.model.record import Instance
from rra.model.verdicts import Level, Verdict
from rra.values.success.judgement import Rule

Alpha = Annotated[float, Field(gt=0, lt=1)]
Answer = Literal["pass", "fail", "inconclusive", "not_assessed"]
Interval = Annotated[list[str], Field(min_length=2, max_length=2)]
Scope = Literal["aggregated", "rescored", "re-evaluated", "retrained"]


class PlannedOutcome(Object):
    """One outcome of the plan.

    Attributes:
        outcome: ``<experiment>/<outcome>``.
        reported: The paper's value.
        alpha: Level at which it is tested.
        reports: Fresh values that are made.
        runs_per_report: Runs that make one value.
        references: Values of earlier runs that it is compared with.
        deterministic: Declared, refuted by seeds, or null for unknown.
    """

    outcome: OutcomeId
    launcher: Id
    reported: str
    unit: str | None = None
    alpha: Alpha
    reports: Number
    runs_per_report: Number
    references: Count
    deterministic: bool | None = None


class PlannedRuns(Object):
    """The runs of one launcher with one set of parameters.

    Attributes:
        seeds: Seeds in the order of the runs, drawn from the nonce; null where none is taken.
    """

    launcher: Id
    instance: Instance
    parameters: dict[str, Any] = {}
    outcomes: list[OutcomeId]
    reports: Number
    runs_per_report: Number
    seeds: list[int | None]


class VerificationPlan(Object):
    """What will be run and how it will be judged, written before anything runs.

    Attributes:
        core: What is verified.
        nonce: Drawn for this verification; seeds are drawn from it.
        attempt: How many verifications of this core this place has begun, this one included.
        alpha: Two-sided level for all outcomes together.
        sandbox: How runs are isolated.
        references: Digest of the references, when there are any.
    """

    type: Literal["verification-plan/v1"]
    artifact: Text
    version: Text
    core: Digest
    created: Timestamp
    nonce: Text
    attempt: Number
    alpha: Alpha
    launchers: list[Id]
    runs: list[PlannedRuns]
    outcomes: list[PlannedOutcome]
    sandbox: Text
    references: Digest | None = None


class LauncherRun(Object):
    """One run that was made.

    Attributes:
        command: What was executed.
        seconds: Wall time.
        peak_bytes: Memory of the largest process.
        sandbox: How it was isolated, with what that does not hold back.
        recorder: How reads and writes were observed.
        message: What went wrong; empty for success.
    """

    launcher: Id
    instance: Instance
    report: Number
    seed: int | None = None
    ok: bool
    message: str = ""
    termination: str | None = None
    command: list[str] = []
    record: Digest | None = None
    seconds: Annotated[float, Field(ge=0)] | None = None
    peak_bytes: Count | None = None
    sandbox: str | None = None
    sandbox_gaps: list[str] = []
    recorder: str | None = None
    recorder_gaps: list[str] = []


class EnvironmentFacts(Object):
    """One environment as it was built for this verification.

    Attributes:
        interpreter: Digest of the carried interpreter, where that one was used.
    """

    id: Id
    ok: bool
    message: str = ""
    python: str | None = None
    packages: Count | None = None
    lock: Digest | None = None
    installed: Digest | None = None
    interpreter: Digest | None = None


class DocumentedDeviation(Object):
    """What the artifact says it gives instead of the reported value."""

    observed: str
    explanation: str | None = None


class _Shape(pydantic.BaseModel):
    """A part of a judgement; where there is no number, there may be null."""

    model_config = pydantic.ConfigDict(extra="allow", strict=True)


class _AssessmentShape(_Shape):
    answer: Answer
    reason: str
    rule: Rule
    centre: str | None = None
    h: str | None = None
    interval: Interval | None = None
    z: str | None = None
    detectable: Interval | None = None
    more_runs: Number | None = None


class _FindingShape(_Shape):
    code: str
    message: str


class _JudgementShape(_Shape):
    rule: Literal["rra-success/v1"]
    verdict: Verdict
    detail: str = ""
    label: str = ""
    reason: str
    agreement: _AssessmentShape
    repeatability: _AssessmentShape
    mean: str | None = None
    reported: str
    g: str | None = None
    fresh: Number
    references: Count
    alpha: Alpha
    findings: list[_FindingShape] = []


def _is_judgement(document: dict[str, Any]) -> dict[str, Any]:
    """Insist on what a judgement of the success rule says; it is kept as it came."""
    _JudgementShape.model_validate(document)
    return document


JudgementDocument = Annotated[dict[str, Any], pydantic.AfterValidator(_is_judgement)]


class OutcomeReproduction(Object):
    """The verdict on one outcome, with everything behind it.

    Attributes:
        values: Fresh values in the outcome's unit, first report first.
        texts: The same as they stood in the files.
        mean: Mean of the values.
        references: Values of earlier runs.
        centre: Middle of the interval that decided.
        half_width: Its half-width.
        interval: Its ends, clipped to the bounds.
        agreement: Is the paper's value what this artifact gives?
        repeatability: Does a new run give what earlier runs gave?
        verdict: Both together with what the probe found.
        detail: Of an inconclusive verdict or of one that could not run.
        label: Verdict with detail, as in ``could_not_run(environment)``.
        reason: One or two sentences.
        deviation: What the artifact documents, when it does.
        judgement: The success rule's answer in full.
        findings: What else was found, the probe for hard-coding included.
        trace: From the value to file, record, launcher and scripts.
    """

    outcome: OutcomeId
    type: Literal["number", "category", "list"]
    reported: str
    reported_uncertainty: str | None = None
    unit: str | None = None
    location: str | None = None
    metric: str | None = None
    scope: Scope
    values: list[str] = []
    texts: list[str] = []
    mean: str | None = None
    references: list[str] = []
    centre: str | None = None
    half_width: str | None = None
    interval: Interval | None = None
    agreement: Answer
    repeatability: Answer
    verdict: Verdict
    detail: str = ""
    label: Text
    reason: Text
    deviation: DocumentedDeviation | None = None
    judgement: JudgementDocument | None = None
    findings: list[Finding] = []
    trace: Trace

    @property
    def refuted(self) -> bool:
        """Whether a material finding speaks against the outcome."""
        return any(finding.invalidates for finding in self.findings)


class Reproduction(Object):
    """The whole of a verification.

    Attributes:
        plan: What had been planned.
        attempts: Verifications of this core begun here, the later ones included.
        machine: Facts of the machine.
        experiments: Verdict of each experiment.
        verdict: Verdict of the artifact.
        level: Level that the execution earned.
        level_reasons: Why it is that level and not the next.
        coverage: How much the level speaks about, for a reader.
        accepted_documented: The reader accepts deviations that are documented.
    """

    type: Literal["reproduction/v1"]
    artifact: Text
    version: Text
    core: Digest
    plan: VerificationPlan
    attempts: Number
    started: Timestamp
    ended: Timestamp
    machine: dict[str, Any]
    environments: list[EnvironmentFacts]
    runs: list[LauncherRun]
    outcomes: list[OutcomeReproduction]
    experiments: dict[Id, Verdict]
    verdict: Verdict
    level: Level
    level_reasons: list[str] = []
    coverage: Text
    accepted_documented: bool = False
    notes: list[str] = []

    @property
    def nonce(self) -> str:
        """Nonce of this verification."""
        return self.plan.nonce

    @property
    def ok(self) -> bool:
        """Whether every outcome is reproduced, or deviates as documented where that is accepted."""
        good = {"reproduced", "not_assessed"}
        if self.accepted_documented:
            good.add("deviates_as_documented")
        verdicts = {outcome.verdict for outcome in self.outcomes}
        return verdicts <= good and bool(verdicts - {"not_assessed"})

    @property
    def exit_code(self) -> int:
        """0 yes, 3 when something outside kept everything that failed from running, else 1."""
        if self.ok:
            return 0
        bad = [o for o in self.outcomes if o.verdict not in {"reproduced", "not_assessed"}]
        outside = bool(bad) and all(
            o.verdict == "could_not_run" and o.detail in OUTSIDE for o in bad
        )
        return 3 if outside else 1


OUTSIDE = frozenset({"environment", "platform", "no hardware", "data unavailable", "storage"})
"""Reasons why a launcher could not run that lie outside the artifact."""
