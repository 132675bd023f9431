"""The verdict on one outcome: what was obtained, how it is judged, what the probe says."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from rra.artifact import Artifact
from rra.audit import Finding, Trace
from rra.audit.agreement import steady
from rra.audit.rerun import Chain, read_value
from rra.audit.trace import build_trace
from rra.errors import SelectError
from rra.model import Reference, ReportedValue
from rra.values.selectors import NotReadError, OutcomeValue, Value
from rra.values.success import Judgement, judge
from rra.verify.documents import OutcomeReproduction

_TERMINATIONS = {"timeout": "timeout", "disk": "storage", "memory": "memory"}


@dataclasses.dataclass(frozen=True)
class Obtained:
    """What the fresh runs gave for one outcome.

    Attributes:
        reports: One value for each report.
        first: The runs of the first report, for the trace.
        hindrance: A word and a sentence, when there is no verdict to be had.
    """

    reports: tuple[OutcomeValue, ...] = ()
    first: tuple[Chain, ...] = ()
    hindrance: tuple[str, str] | None = None

    @classmethod
    def read(
        cls,
        artifact: Artifact,
        name: str,
        reports: Sequence[Sequence[Chain]],
        hindrance: tuple[str, str] | None,
    ) -> Obtained:
        """Read an outcome from the runs of all reports."""
        if hindrance is not None:
            return cls(hindrance=hindrance)
        outcome = artifact.manifest.outcomes()[name]
        values: list[OutcomeValue] = []
        first = tuple(reports[0]) if reports else ()
        for chains in reports:
            if not chains[-1].ok:
                return cls(tuple(values), first, _failure(chains[-1]))
            try:
                values.append(read_value(chains, outcome))
            except NotReadError as error:
                return cls(tuple(values), first, ("not read", f"{error.message} ({error.hint})"))
            except SelectError as error:
                hint = f" ({error.hint})" if error.hint else ""
                return cls(tuple(values), first, ("no value", error.message + hint))
        return cls(tuple(values), first)

    @property
    def values(self) -> list[Value]:
        """The values in the unit of the outcome."""
        return [report.value for report in self.reports]


def _failure(chain: Chain) -> tuple[str, str]:
    result = chain.result or next((one for one in chain.results.values() if not one.ok), None)
    word = result.record.termination if result is not None else ""
    return _TERMINATIONS.get(word, "launcher failed"), chain.message


def conclude(
    artifact: Artifact,
    name: str,
    obtained: Obtained,
    references: Reference | None,
    *,
    alpha: float,
    run_count: int,
) -> OutcomeReproduction:
    """Judge what was obtained by the success rule.

    Args:
        artifact: The artifact.
        name: Id of the outcome.
        obtained: What the fresh runs gave.
        references: Values of earlier runs.
        alpha: Two-sided level for all outcomes together.
        run_count: Number of outcomes in the suite.
    """
    outcome = artifact.manifest.outcomes()[name]
    if obtained.hindrance is not None:
        return blocked(artifact, name, obtained)
    launcher = artifact.manifest.launchers[outcome.selector.launcher]
    try:
        judgement = judge(
            outcome,
            obtained.values,
            references,
            alpha=alpha,
            outcomes=run_count,
            deterministic=steady(launcher),
        )
    except SelectError as error:
        stopped = dataclasses.replace(obtained, hindrance=("no value", error.message))
        return blocked(artifact, name, stopped)
    return _judged(artifact, name, obtained, references, judgement)


def _judged(
    artifact: Artifact,
    name: str,
    obtained: Obtained,
    references: Reference | None,
    judgement: Judgement,
) -> OutcomeReproduction:
    return _document(artifact, name, obtained, judged_facts(judgement, references))


def judged_facts(judgement: Judgement, references: Reference | None) -> dict[str, object]:
    """Return what a judgement says of an outcome, by the keys of its reproduction."""
    document = judgement.to_json()
    deciding = judgement.deciding.to_json()
    scores = references.scores if references is not None else []
    findings = [
        Finding(code=finding.code, status="uncertain", material=False, message=finding.message)
        for finding in judgement.findings
    ]
    return {
        "references": [_text(score.value) for score in scores],
        "mean": document["mean"],
        "centre": deciding["centre"],
        "half_width": deciding["h"],
        "interval": deciding["interval"],
        "agreement": judgement.agreement,
        "repeatability": judgement.repeatability,
        "verdict": judgement.verdict,
        "detail": judgement.detail,
        "label": judgement.label,
        "reason": judgement.reason,
        "judgement": document,
        "findings": [finding.to_json() for finding in findings],
    }


def blocked(artifact: Artifact, name: str, obtained: Obtained | None = None) -> OutcomeReproduction:
    """Return the verdict on an outcome that nothing was obtained for."""
    given = obtained or Obtained(hindrance=("launcher failed", "it was not run"))
    word, why = given.hindrance or ("launcher failed", "it was not run")
    return _document(artifact, name, given, blocked_facts(word, why))


def blocked_facts(word: str, why: str) -> dict[str, object]:
    """Return what is said of an outcome that there is no value for."""
    return {
        "agreement": "not_assessed",
        "repeatability": "not_assessed",
        "verdict": "could_not_run",
        "detail": word,
        "label": f"could_not_run({word})",
        "reason": why,
    }


def probed(outcome: OutcomeReproduction, findings: Sequence[Finding]) -> OutcomeReproduction:
    """Add what the probe found.

    An outcome that is copied is not reproduced; one whose probe ended before it was settled is
    inconclusive, since a printed number would look the same.
    """
    together = [*outcome.findings, *findings]
    copied = [finding for finding in findings if finding.invalidates]
    unsettled = [f for f in findings if f.material and f.status == "uncertain"]
    if copied:
        reason = f"{copied[0].code}: {copied[0].message}"
        changes = {"verdict": "not_reproduced", "detail": "", "label": "not_reproduced"}
    elif unsettled:
        reason = f"the value came out, but whether it is copied is {unsettled[0].message}"
        detail = "copy not excluded"
        label = f"inconclusive({detail})"
        changes = {"verdict": "inconclusive", "detail": detail, "label": label}
    else:
        return outcome.model_copy(update={"findings": together})
    return outcome.model_copy(update={**changes, "reason": reason, "findings": together})


def _document(
    artifact: Artifact, name: str, obtained: Obtained, facts: Mapping[str, object]
) -> OutcomeReproduction:
    outcome = artifact.manifest.outcomes()[name]
    result = obtained.first[0].result if obtained.first else None
    selected = obtained.reports[0].parts[0] if obtained.reports else None
    record = result.record if result is not None else None
    digest = result.record_digest if result is not None else None
    trace = build_trace(artifact, name, outcome, selected, record, digest)
    own = {
        "values": [_text(report.value) for report in obtained.reports],
        "texts": [report.text for report in obtained.reports],
    }
    return described(outcome, trace, {**own, **facts})


def described(
    outcome: ReportedValue, trace: Trace, facts: Mapping[str, object]
) -> OutcomeReproduction:
    """Put together what the artifact says of an outcome and what was found.

    Args:
        outcome: The outcome.
        trace: From the value to what made it.
        facts: What was found, by the keys of its reproduction.
    """
    return OutcomeReproduction.model_validate(
        {
            "outcome": trace.outcome,
            "type": outcome.type,
            "reported": trace.reported,
            "reported_uncertainty": _uncertainty(outcome),
            "unit": outcome.unit,
            "location": outcome.location,
            "metric": outcome.metric,
            "scope": outcome.scope,
            "deviation": outcome.deviation.to_json() if outcome.deviation is not None else None,
            "trace": trace.to_json(),
            **facts,
        }
    )


def _uncertainty(outcome: ReportedValue) -> str | None:
    spread = outcome.reported_uncertainty
    return f"± {spread.value} ({spread.kind} of {spread.runs} runs)" if spread else None


def _text(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(str(item) for item in value)
    return str(value)
