"""From the verdicts of outcomes to those of experiments, the artifact's, and the level."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rra.artifact.semantics.reproduction import RUNS_FOR_L3
from rra.model.verdicts import Level
from rra.verify.documents import (
    EnvironmentFacts,
    LauncherRun,
    OutcomeReproduction,
    VerificationPlan,
)


@dataclasses.dataclass(frozen=True, slots=True)
class LevelResult:
    """A level with why it is no higher."""

    level: Level
    reasons: list[str]


def level_of(
    plan: VerificationPlan,
    environments: Sequence[EnvironmentFacts],
    runs: Sequence[LauncherRun],
    outcomes: Sequence[OutcomeReproduction],
    well_formed: tuple[bool, list[str]],
) -> LevelResult:
    """Return the level that the execution earned (spec: levels), with what the next one lacks.

    Args:
        plan: What was planned.
        environments: Environments as built.
        runs: Runs as made.
        outcomes: Verdicts.
        well_formed: Whether level 0 holds, and why not.
    """
    holds, why = well_formed
    if not holds:
        return LevelResult("none", why or ["the artifact is not well-formed"])
    failed = [f"environment {e.id}: {e.message}" for e in environments if not e.ok]
    if failed:
        return LevelResult("L0", failed)
    failed = _unsuccessful(plan, runs)
    if failed:
        return LevelResult("L1", failed)
    lacking = [
        *_open_outcomes(outcomes),
        *_too_few_runs(plan, outcomes),
    ]
    return LevelResult("L2", lacking) if lacking else LevelResult("L3", _remarks(plan, outcomes))


def _unsuccessful(plan: VerificationPlan, runs: Sequence[LauncherRun]) -> list[str]:
    reasons = [f"launcher {run.launcher}: {run.message}" for run in runs if not run.ok]
    ran = {run.launcher for run in runs}
    reasons += [f"launcher {name} did not run" for name in plan.launchers if name not in ran]
    return list(dict.fromkeys(reasons))


def _open_outcomes(outcomes: Sequence[OutcomeReproduction]) -> list[str]:
    reasons = []
    for outcome in outcomes:
        if outcome.verdict not in {"reproduced", "not_assessed"}:
            reasons.append(f"{outcome.outcome} {outcome.label}: {outcome.reason}")
        elif outcome.refuted:
            messages = [finding.message for finding in outcome.findings if finding.invalidates]
            reasons.append(f"{outcome.outcome}: {messages[0]}")
    if outcomes and all(outcome.verdict == "not_assessed" for outcome in outcomes):
        reasons.append("no outcome could be assessed")
    return reasons


def _too_few_runs(plan: VerificationPlan, outcomes: Sequence[OutcomeReproduction]) -> list[str]:
    if len(plan.outcomes) < 2:
        return []
    stochastic = {one.outcome for one in plan.outcomes if one.deterministic is False}
    return [
        f"{outcome.outcome} is stochastic: level 3 over {len(plan.outcomes)} outcomes asks for "
        f"{RUNS_FOR_L3} fresh values, there are {len(outcome.values)}"
        for outcome in outcomes
        if outcome.outcome in stochastic
        and outcome.verdict != "not_assessed"
        and len(outcome.values) < RUNS_FOR_L3
    ]


def _remarks(plan: VerificationPlan, outcomes: Sequence[OutcomeReproduction]) -> list[str]:
    remarks = []
    alone = sum(outcome.repeatability == "not_assessed" for outcome in outcomes)
    if alone:
        remarks.append(f"{alone} of {len(outcomes)} outcomes by agreement alone: no references")
    if "none" in plan.sandbox.split(", "):
        remarks.append("the runs were not isolated")
    return remarks


def coverage_of(level: Level, outcomes: Sequence[OutcomeReproduction]) -> str:
    """Say what a level speaks about: how many outcomes, in which scope."""
    reproduced = sum(outcome.verdict == "reproduced" for outcome in outcomes)
    scopes = ", ".join(dict.fromkeys(outcome.scope for outcome in outcomes))
    text = f"{reproduced} of {len(outcomes)} declared outcomes reproduced ({scopes})"
    return text if level == "none" else f"{level} · {text}"
