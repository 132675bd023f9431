"""`rra-success/v1`: judging one outcome (spec: success).

Two questions are answered and never merged. *Agreement*: is the paper's value what this artifact
gives? *Repeatability*: does a new run give what earlier runs gave?
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from rra.errors import SelectError
from rra.model import Reference, ReportedValue
from rra.values.aggregate import mean
from rra.values.numbers import ReportedNumber, rounds_to
from rra.values.selectors import Value
from rra.values.success import checks
from rra.values.success.agreement import Evidence, agrees_with_paper
from rra.values.success.comparison import Sample
from rra.values.success.discrete import judge_discrete
from rra.values.success.granularity import Scale, granularity, reported_number
from rra.values.success.judgement import Assessment, Finding, Judgement, listed
from rra.values.success.repeatability import (
    MINIMUM_REFERENCES,
    outlier_finding,
    repeats,
    variance_finding,
)
from rra.values.success.suite import family_alpha
from rra.values.success.verdict import combine

RunKind = Literal["full", "smoke", "shortened"]
"""What was run: everything, the declared smoke run, or with reduced parameters."""

DEFAULT_ALPHA = 0.05
"""Two-sided level when nothing else is asked for."""

_NO_REFERENCES = Assessment("not_assessed", "there are no references")


def judge(
    outcome: ReportedValue,
    fresh: Sequence[Value],
    references: Reference | None = None,
    *,
    alpha: float = DEFAULT_ALPHA,
    outcomes: int = 1,
    deterministic: bool | None = None,
    run: RunKind = "full",
    same_hardware: bool = True,
) -> Judgement:
    """Judge one outcome by the values of fresh runs.

    Args:
        outcome: What was reported, and how it may be compared.
        fresh: Values of independent fresh runs at full precision, in the unit of the outcome;
            each a report of the same kind as the references (a mean of five seeds is one).
        references: Values of earlier runs, in the unit of the outcome.
        alpha: Two-sided level for all outcomes of the suite together.
        outcomes: Number of outcomes in the suite; each is tested at ``alpha / outcomes``.
        deterministic: True when declared, False when the launcher takes seeds. None: observed,
            which needs two equal values or more.
        run: A smoke or shortened run decides nothing.
        same_hardware: Whether the machine is like the one of the paper, for durations.

    Raises:
        SelectError: There is no fresh value, or a declared or fresh value has not the type of
            the outcome.
    """
    if not fresh:
        raise SelectError("there is no fresh value to judge", hint="run the launcher first")
    draft = _Draft(outcome, list(fresh), references, family_alpha(alpha, outcomes))
    barrier = checks.barrier(outcome, same_hardware=same_hardware)
    if barrier:
        draft.agreement = draft.repeatability = Assessment("not_assessed", barrier)
    elif run != "full":
        reason = f"a {run} run cannot support the reported value"
        draft.agreement = draft.repeatability = Assessment("inconclusive", reason)
        draft.detail = run
    elif outcome.type == "number":
        _judge_numbers(draft, deterministic=deterministic)
    else:
        draft.agreement, draft.repeatability = judge_discrete(outcome, fresh, references)
        if references is not None and len(references.scores) >= MINIMUM_REFERENCES:
            draft.note(_self_referenced(references))
        if outcome.deviation is not None:
            observed = outcome.model_copy(update={"reported": outcome.deviation.observed})
            draft.documented = judge_discrete(observed, fresh, None)[0].answer == "pass"
    return draft.finish()


@dataclasses.dataclass(slots=True)
class _Draft:
    """A judgement in the making."""

    outcome: ReportedValue
    fresh: list[Value]
    references: Reference | None
    alpha: float
    agreement: Assessment = _NO_REFERENCES
    repeatability: Assessment = _NO_REFERENCES
    detail: str = ""
    documented: bool = False
    mean: Decimal | None = None
    g: Decimal | None = None
    findings: list[Finding] = dataclasses.field(default_factory=list)

    def note(self, finding: Finding | None) -> None:
        if finding is not None:
            self.findings.append(finding)

    def finish(self) -> Judgement:
        reported, deviation = self.outcome.reported, self.outcome.deviation
        verdict, detail, reason = combine(
            self.agreement,
            self.repeatability,
            detail=self.detail,
            deviation=deviation,
            documented=self.documented,
        )
        if deviation is not None and verdict == "reproduced":
            message = f"a deviation to {deviation.observed} is documented, and was not seen"
            self.note(Finding("deviation-not-seen", message))
        return Judgement(
            verdict,
            detail,
            reason,
            self.agreement,
            self.repeatability,
            self.mean,
            listed(reported),
            self.g,
            len(self.fresh),
            len(self.references.scores) if self.references is not None else 0,
            self.alpha,
            tuple(self.findings),
        )


def _judge_numbers(draft: _Draft, *, deterministic: bool | None) -> None:
    outcome = draft.outcome
    scale = Scale(log=outcome.scale == "log")
    reported, draft.g = reported_number(outcome), granularity(outcome)
    if scale.log and reported.value <= 0:
        message = f"the reported {reported.text} has no logarithm"
        raise SelectError(message, hint="declare scale: linear")
    numbers = [value for value in draft.fresh if isinstance(value, Decimal)]
    if len(numbers) < len(draft.fresh):
        raise SelectError("a fresh value of a number is not a number")
    invalid = checks.invalid_value(numbers, scale, "fresh")
    if invalid:
        draft.note(Finding("non-finite", invalid))
        draft.agreement = Assessment("fail", invalid)
        if draft.references is not None:
            draft.repeatability = draft.agreement
        return
    draft.mean = mean(numbers)
    draft.note(checks.bounds_finding(outcome, numbers))
    fresh = Sample.of([scale.to(number) for number in numbers])
    independent = _assess_repeatability(draft, fresh, scale)
    draft.note(checks.spread_finding(outcome, scale))
    steady = _is_deterministic(draft, numbers, deterministic=deterministic)
    evidence = Evidence(fresh, independent, steady, scale, draft.alpha)
    draft.agreement = agrees_with_paper(outcome, evidence)
    if draft.agreement.answer == "inconclusive":
        draft.detail = "single run"
    if draft.agreement.answer == "fail":
        value = scale.back(fresh.mean) if scale.log else draft.mean
        draft.findings.extend(checks.disagreement_findings(outcome, value))
    if outcome.deviation is not None:
        draft.documented = rounds_to(draft.mean, ReportedNumber.parse(outcome.deviation.observed))


def _assess_repeatability(draft: _Draft, fresh: Sample, scale: Scale) -> Sample | None:
    """Answer the second question; return the references that may answer the first one too."""
    outcome = draft.outcome
    known, problem = checks.reference_numbers(draft.references, scale)
    if problem is not None:
        draft.note(problem)
        draft.repeatability = Assessment("not_assessed", problem.message)
    if known is None or draft.references is None or draft.g is None:
        return None
    sample = Sample.of(known)
    g = scale.width(reported_number(outcome).value, draft.g)
    draft.repeatability = repeats(outcome, sample, fresh, scale, g, draft.alpha)
    draft.note(outlier_finding(known, sample, scale, g))
    draft.note(variance_finding(sample, fresh, scale, g, draft.alpha))
    if draft.repeatability.answer == "fail" and checks.better(outcome, fresh.mean, sample.mean):
        message = "the fresh value is better than the references allow; look for a leak"
        draft.note(Finding("better", message))
    draft.note(_self_referenced(draft.references))
    return None if draft.references.self_referenced else sample


def _self_referenced(references: Reference) -> Finding | None:
    """Say that references by the author answer only the second question."""
    if not references.self_referenced:
        return None
    message = "the references were made by the artifact's own author: repeatability only"
    return Finding("self-referenced", message)


def _is_deterministic(
    draft: _Draft, numbers: Sequence[Decimal], *, deterministic: bool | None
) -> bool:
    distinct = len(set(numbers))
    if deterministic is None:
        return len(numbers) > 1 and distinct == 1
    if deterministic and distinct > 1:
        message = f"declared deterministic, but {len(numbers)} runs gave {distinct} values"
        draft.note(Finding("not-deterministic", message))
        return False
    return deterministic
