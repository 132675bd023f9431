"""The verdict on an outcome that follows from others: computed from their fresh values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from rra.artifact import Artifact
from rra.audit.agreement import steady
from rra.audit.trace import derived_trace
from rra.errors import SelectError
from rra.model import Reference
from rra.values.derive import derive
from rra.values.success import judge
from rra.verify.documents import OutcomeReproduction
from rra.verify.outcomes import blocked_facts, described, judged_facts

Judged = Mapping[str, OutcomeReproduction]


def conclude_derived(
    artifact: Artifact,
    judged: Judged,
    references: Mapping[str, Reference],
    *,
    alpha: float,
    run_count: int,
) -> dict[str, OutcomeReproduction]:
    """Judge every outcome that follows from others, by the rule for all outcomes.

    Report by report the values of its operands give one value. It is no better than they are: an
    operand without a value leaves it without one, and an operand that is copied refutes it.

    Args:
        artifact: The artifact.
        judged: The outcomes that launchers make.
        references: Values of earlier runs, by outcome.
        alpha: Two-sided level for all outcomes together.
        run_count: Number of outcomes in the suite.
    """
    known = dict(judged)
    waiting = dict(artifact.manifest.derived_outcomes())
    while waiting:
        ready = [
            name
            for name, outcome in waiting.items()
            if not any(one in waiting for one in outcome.operands(name.partition("/")[0]))
        ]
        for name in ready:
            del waiting[name]
            known[name] = _conclude(
                artifact, name, known, references.get(name), alpha=alpha, run_count=run_count
            )
        if not ready:
            break
    return {name: one for name, one in known.items() if name not in judged}


def _conclude(
    artifact: Artifact,
    name: str,
    known: Judged,
    references: Reference | None,
    *,
    alpha: float,
    run_count: int,
) -> OutcomeReproduction:
    manifest = artifact.manifest
    outcome = manifest.derived_outcomes()[name]
    trace = derived_trace(manifest, name)
    operands = [known[one] for one in outcome.operands(name.partition("/")[0])]
    without = next((one for one in operands if not one.values), None)
    if without is not None:
        why = f"it follows from {without.outcome}: {without.reason}"
        return described(outcome, trace, blocked_facts(without.detail or "no value", why))
    launchers = {manifest.outcomes()[one].selector.launcher for one in manifest.sources(name)}
    states = [steady(manifest.launchers[launcher]) for launcher in launchers]
    all_steady = True if all(states) else (False if False in states else None)
    try:
        values = list(_values(artifact, name, operands))
        judgement = judge(
            outcome,
            values,
            references,
            alpha=alpha,
            outcomes=run_count,
            deterministic=all_steady,
        )
    except SelectError as error:
        return described(outcome, trace, blocked_facts("no value", error.message))
    texts = [str(value) for value in values]
    found = {"values": texts, "texts": texts, **judged_facts(judgement, references)}
    return _no_better(described(outcome, trace, found), operands)


def _values(
    artifact: Artifact, name: str, operands: list[OutcomeReproduction]
) -> Iterator[Decimal]:
    """Yield one value for each report that all operands have."""
    outcome = artifact.manifest.derived_outcomes()[name]
    for texts in zip(*(operand.values for operand in operands), strict=False):
        pairs = [
            (Decimal(text), operand.unit) for text, operand in zip(texts, operands, strict=True)
        ]
        yield derive(outcome.derived, pairs, outcome.unit)


def _no_better(
    verdict: OutcomeReproduction, operands: list[OutcomeReproduction]
) -> OutcomeReproduction:
    """Take from a verdict what its operands do not carry."""
    copied = next((one for one in operands if one.refuted), None)
    if copied is not None:
        reason = f"it follows from {copied.outcome}, which is not believed: {copied.reason}"
        changes = {"verdict": "not_reproduced", "detail": "", "label": "not_reproduced"}
        findings = [*verdict.findings, *(f for f in copied.findings if f.invalidates)]
        return verdict.model_copy(update={**changes, "reason": reason, "findings": findings})
    open_ = next((one for one in operands if one.detail == "copy not excluded"), None)
    if open_ is not None and verdict.verdict in {"reproduced", "deviates_as_documented"}:
        reason = f"it follows from {open_.outcome}: {open_.reason}"
        label = f"inconclusive({open_.detail})"
        changes = {"verdict": "inconclusive", "detail": open_.detail, "label": label}
        return verdict.model_copy(update={**changes, "reason": reason})
    return verdict
