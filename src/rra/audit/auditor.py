"""Auditing an artifact: every reported value gets a verdict with its trace.

First what is there is read: outputs and records. Then, when it is allowed and an environment can
be built, the auditor runs the launchers in a place of its own, compares, and asks whether the
results are copied. The artifact itself is never changed.
"""

from __future__ import annotations

import dataclasses
import functools
import secrets
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rra._base import clock
from rra.artifact import Artifact, layout
from rra.audit.agreement import Agreement, compare, steady
from rra.audit.copies import find_copies
from rra.audit.documents import AuditResult, Finding, Trace, ValueAudit
from rra.audit.groups import Group, group_outcomes
from rra.audit.inquiry import Budget, Progress
from rra.audit.integrity import evidence_findings
from rra.audit.predictions import not_recomputed
from rra.audit.rerun import Chain, Ground, Reruns, Surroundings, read_value
from rra.audit.suspects import search_place
from rra.audit.trace import Found, build_trace, derived_trace, find_value
from rra.audit.verdicts import worst
from rra.audit.wanted import Wanted
from rra.bundle.identity import core_digest
from rra.bundle.lock_state import lock_notes
from rra.environment import Built
from rra.errors import RraError, SelectError, UnavailableError, UsageError
from rra.evidence import EvidenceStore
from rra.launch import build_environment, isolation_level, order_launchers, stage_place
from rra.model import Manifest, Outcome
from rra.model.verdicts import EvidenceLevel
from rra.sandbox import Sandbox, best_sandbox
from rra.values.numbers import ReportedNumber
from rra.values.selectors import NotReadError, OutcomeValue, Value, locator_of

MAX_REPORTS = 3
"""Fresh reports of a launcher whose first one does not settle the matter."""

Builder = Callable[[Artifact, str], Built]


@dataclasses.dataclass(frozen=True)
class Options:
    """How an audit is done.

    Attributes:
        evidence: Folder of the records; that of the artifact by default.
        rerun: Whether launchers may be run.
        outcomes: Outcomes to look at; all by default.
        sandbox: How runs are isolated; the best that works by default.
        build: Makes an environment; from the cache by default.
        nonce: Nonce of the runs; drawn by default.
        budget: Bounds of the probe for hard-coding.
        progress: Told about steps.
        on_line: Told the newest line that a launcher prints.
    """

    evidence: Path | None = None
    rerun: bool = True
    outcomes: Sequence[str] | None = None
    sandbox: Sandbox | None = None
    build: Builder | None = None
    nonce: str | None = None
    budget: Budget | None = None
    progress: Progress | None = None
    on_line: Callable[[str], None] | None = None


def audit_artifact(artifact: Artifact, options: Options | None = None) -> AuditResult:
    """Give every reported value a verdict.

    Args:
        artifact: The artifact; it is only read.
        options: How.

    Raises:
        UsageError: An outcome that is asked for does not exist.
        FormatError: A file of the artifact has no place in an archive, so it has no core.
    """
    audit = _Audit(artifact, options or Options())
    return audit.run()


@dataclasses.dataclass(slots=True)
class _Fresh:
    """What the auditor's own runs gave for one outcome."""

    values: list[OutcomeValue] = dataclasses.field(default_factory=list)
    chains: list[Chain] = dataclasses.field(default_factory=list)
    failed: str = ""
    error: SelectError | None = None
    copies: list[Finding] = dataclasses.field(default_factory=list)


class _Audit:
    def __init__(self, artifact: Artifact, options: Options) -> None:
        self._artifact = artifact
        self._options = options
        manifest = artifact.manifest
        names = options.outcomes
        self._names = (
            list(manifest.outcomes()) if names is None else [artifact.outcome(n)[0] for n in names]
        )
        self._outcomes = {name: manifest.outcomes()[name] for name in self._names}
        self._derived = list(manifest.derived_outcomes()) if names is None else []
        self._store = EvidenceStore(options.evidence or artifact.root / layout.EVIDENCE_DIR)
        self._core = core_digest(artifact)
        self._notes: list[str] = lock_notes(artifact, self._core)
        self._isolation: str | None = None

    def run(self) -> AuditResult:
        started = clock.iso(clock.now())
        fresh = self._rerun() if self._options.rerun else None
        manifest = self._artifact.manifest
        return AuditResult(
            type="audit/v1",
            artifact=manifest.name,
            version=manifest.version,
            core=self._core,
            started=started,
            ended=clock.iso(clock.now()),
            rerun=fresh is not None,
            sandbox=self._isolation,
            values=[
                *(
                    self._value(name, outcome, fresh.get(name) if fresh is not None else None)
                    for name, outcome in self._outcomes.items()
                ),
                *(_derived(manifest, name) for name in self._derived),
            ],
            notes=[*self._notes, *not_recomputed(manifest, self._names)],
        )

    def _say(self, text: str) -> None:
        if self._options.progress is not None:
            self._options.progress(text)

    # ------------------------------------------------------------------ own runs

    def _rerun(self) -> dict[str, _Fresh] | None:
        """Run everything once in a place of our own; None when that is not possible here."""
        manifest = self._artifact.manifest
        groups = group_outcomes(manifest, self._names)
        try:
            environments = self._environments(groups)
        except (UnavailableError, UsageError) as error:
            self._notes.append(f"nothing was run again: {error.message}")
            return None
        sandbox = self._options.sandbox or best_sandbox()
        self._isolation = isolation_level(self._artifact, environments, sandbox)
        surroundings = Surroundings(environments, sandbox, self._options.on_line, core=self._core)
        fresh = {name: _Fresh() for name in self._names}
        with tempfile.TemporaryDirectory(prefix="rra-audit-") as folder:
            scratch = Path(folder).resolve()
            place = stage_place(self._artifact, scratch / "place")
            nonce = self._options.nonce or secrets.token_hex(16)
            ground = Ground(place, surroundings, scratch, nonce)
            reruns = Reruns(place, surroundings, outputs=scratch / "outputs", nonce=nonce)
            for group in groups:
                self._run_group(group, reruns, fresh)
                self._probe(group, ground, fresh)
        return fresh

    def _environments(self, groups: Sequence[Group]) -> dict[str, Built]:
        manifest = self._artifact.manifest
        launchers = order_launchers(manifest, [group.launcher for group in groups])
        needed = dict.fromkeys(manifest.launchers[name].environment for name in launchers)
        build = self._options.build or functools.partial(
            build_environment, sandbox=self._options.sandbox
        )
        environments = {}
        for name in needed:
            self._say(f"environment {name}")
            environments[name] = build(self._artifact, name)
        return environments

    def _run_group(self, group: Group, reruns: Reruns, fresh: Mapping[str, _Fresh]) -> None:
        """Make reports until every outcome of the group is settled."""
        launcher = self._artifact.manifest.launchers[group.launcher]
        most = 1 if steady(launcher) else MAX_REPORTS
        for number in range(most):
            again = f" ({number + 1} of at most {most})" if number else ""
            self._say(f"running {group.launcher}{again}")
            try:
                chains = reruns.report(group, number)
            except RraError as error:
                for name in group.outcomes:
                    fresh[name].failed = error.message
                return
            for name in group.outcomes:
                self._read(name, chains, fresh[name])
            states = [fresh[name] for name in group.outcomes]
            if any(state.failed for state in states) or all(
                map(self._settled, group.outcomes, states)
            ):
                return

    def _read(self, name: str, chains: list[Chain], fresh: _Fresh) -> None:
        fresh.chains = fresh.chains or chains
        if not chains[-1].ok:
            fresh.failed = chains[-1].message
            return
        try:
            fresh.values.append(read_value(chains, self._outcomes[name]))
        except SelectError as error:
            fresh.error = error

    def _settled(self, name: str, fresh: _Fresh) -> bool:
        if fresh.error is not None:
            return True
        return self._compare(name, [value.value for value in fresh.values]).agrees

    def _probe(self, group: Group, ground: Ground, fresh: Mapping[str, _Fresh]) -> None:
        values: dict[str, Sequence[Value]] = {
            name: [value.value for value in fresh[name].values]
            for name in group.outcomes
            if fresh[name].values and fresh[name].error is None and not fresh[name].failed
        }
        if not values:
            return
        found = find_copies(
            ground,
            group,
            values,
            self._outcomes,
            budget=self._options.budget,
            progress=self._options.progress,
        )
        for name, findings in found.items():
            fresh[name].copies = findings

    # ------------------------------------------------------------------ verdicts

    def _compare(self, name: str, values: Sequence[Value]) -> Agreement:
        outcome = self._outcomes[name]
        launcher = self._artifact.manifest.launchers[outcome.selector.launcher]
        return compare(outcome, launcher, values)

    def _value(self, name: str, outcome: Outcome, fresh: _Fresh | None) -> ValueAudit:
        try:
            locator_of(outcome.selector)
        except NotReadError as error:
            trace = build_trace(self._artifact, name, outcome, None, None, None)
            return _not_assessed(trace, f"{error.message}; {error.hint}")
        found = find_value(self._artifact, outcome, self._store)
        findings = evidence_findings(self._artifact, outcome, found, self._store, self._core)
        values = [found.value] if found.value is not None else []
        reran = fresh is not None and bool(fresh.values) and fresh.error is None
        if fresh is not None:
            values = [*values, *fresh.values]
            findings = [*_with_own_run(findings, ran=reran), *fresh.copies]
            findings += _rerun_problem(fresh)
        if found.error is not None and not reran:
            findings.append(_no_value(found.error))
        agreement = self._compare(name, [value.value for value in values]) if values else None
        if agreement is not None:
            findings += agreement.findings
        elif found.error is None and (fresh is None or fresh.error is None):
            findings.append(_nothing(outcome))
        documented = agreement is not None and agreement.documented
        agrees = agreement is not None and agreement.agrees
        return ValueAudit(
            outcome=name,
            reported=_reported(outcome),
            unit=outcome.unit,
            obtained=_shown(values[-1]) if values else None,
            evidence_level=self._level(
                outcome, found, findings, reran=reran and (agrees or documented)
            ),
            verdict=worst(findings, documented=documented),
            documented=documented,
            findings=findings,
            trace=self._trace(name, outcome, found, fresh),
        )

    def _level(
        self, outcome: Outcome, found: Found, findings: Sequence[Finding], *, reran: bool
    ) -> EvidenceLevel:
        if reran:
            return "E4"
        broken = {finding.code for finding in findings if finding.status == "refuted"}
        if found.value is None:
            return "E1" if self._occurs(outcome) else "E0"
        if found.stored is None or broken & {"TAMPERED", "STALE", "INCOMPLETE_RECORD"}:
            return "E2"
        return "E3"

    def _occurs(self, outcome: Outcome) -> bool:
        """Tell whether the reported number stands in any file that could be a result."""
        if outcome.type != "number" or not isinstance(outcome.reported, str):
            return False
        try:
            reported = ReportedNumber.parse(outcome.reported)
        except SelectError:
            return False
        search = search_place(self._artifact, [Wanted("", reported, reported.value)])
        told = {layout.MANIFEST, "README.md"}
        return any(
            str(suspect.path) not in told
            and suspect.path.parts[0] != layout.GUIDE_DIR
            and suspect.spot.divisor == 1
            for suspect in search.suspects
        )

    def _trace(self, name: str, outcome: Outcome, found: Found, fresh: _Fresh | None) -> Trace:
        """Return the trace of the shipped evidence, or of the auditor's own run without it."""
        if found.value is not None and found.stored is not None:
            stored, selected = found.stored, found.value.parts[0]
            return build_trace(
                self._artifact, name, outcome, selected, stored.record, stored.digest
            )
        if fresh is not None and fresh.values:
            result = fresh.chains[0].result
            record = result.record if result is not None else None
            digest = result.record_digest if result is not None else None
            selected = fresh.values[0].parts[0]
            return build_trace(self._artifact, name, outcome, selected, record, digest)
        part = found.value.parts[0] if found.value is not None else None
        return build_trace(self._artifact, name, outcome, part, None, None)


def _with_own_run(findings: Sequence[Finding], *, ran: bool) -> list[Finding]:
    """Take the weight from what is missing or old when the auditor's own run stands in."""
    replaced = {"UNEXECUTED", "STALE", "INCOMPLETE_RECORD"}
    return [
        finding.model_copy(
            update={
                "material": False,
                "message": f"{finding.message}; the auditor's own run stands in",
            }
        )
        if ran and finding.code in replaced and finding.invalidates
        else finding
        for finding in findings
    ]


def _rerun_problem(fresh: _Fresh) -> list[Finding]:
    """Say why the auditor's own run gave no value; that it could not run refutes nothing."""
    if fresh.error is not None:
        return [_no_value(fresh.error)]
    if fresh.failed:
        message = f"the auditor could not run it: {fresh.failed}"
        return [Finding(code="UNEXECUTED", status="uncertain", material=False, message=message)]
    return []


def _derived(manifest: Manifest, name: str) -> ValueAudit:
    """Say of an outcome that follows from others that it has no trace of its own."""
    trace = derived_trace(manifest, name)
    message = f"it is the {trace.selector}, whose verdicts stand beside it; rra verify computes it"
    return _not_assessed(trace, message)


def _not_assessed(trace: Trace, message: str) -> ValueAudit:
    finding = Finding(code="NOT_ASSESSED", status="uncertain", material=True, message=message)
    return ValueAudit(
        outcome=trace.outcome,
        reported=trace.reported,
        unit=trace.unit,
        evidence_level="E0",
        verdict="NOT_ASSESSED",
        findings=[finding],
        trace=trace,
    )


def _no_value(error: SelectError) -> Finding:
    code, status = "UNTRACEABLE", "refuted"
    if "places match" in error.message:
        code, status = "AMBIGUOUS", "uncertain"
    elif error.message.startswith("cannot convert"):
        code = "UNIT_SUSPECT"
    return Finding.model_validate(
        {"code": code, "status": status, "material": True, "message": error.message}
    )


def _nothing(outcome: Outcome) -> Finding:
    message = f"there is no output {outcome.selector.file} of {outcome.selector.launcher}"
    return Finding(code="UNTRACEABLE", status="refuted", material=True, message=message)


def _reported(outcome: Outcome) -> str:
    reported = outcome.reported
    return reported if isinstance(reported, str) else ", ".join(reported)


def _shown(value: OutcomeValue) -> str:
    if isinstance(value.value, tuple):
        return ", ".join(value.value)
    return str(value.value)
