"""Reproductions: verdicts follow from answers, levels from environments, runs and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.audit import check_trace
from rra.artifact.semantics.plan import check_plan
from rra.artifact.semantics.verdicts import (
    check_findings,
    ends_after_start,
    entries,
    invalidating,
    moments,
    once,
)
from rra.errors import Problem
from rra.model.verdicts import combine_verdicts

RUNS_FOR_L3 = 5
"""Fresh values of a stochastic outcome that level 3 over several outcomes asks for."""

_WITH_DETAIL = frozenset({"inconclusive", "could_not_run"})
_GOOD = frozenset({"reproduced", "not_assessed"})


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what a reproduction breaks beyond its schema."""
    yield from check_plan(document, ("plan",))
    yield from _whole(document)
    for index, outcome in enumerate(entries(document.data, ("outcomes",))):
        here = ("outcomes", index)
        yield from _outcome(document, here, outcome)
        yield from check_findings(document, here, outcome.get("findings", []))
        yield from check_trace(document, here, outcome, "reproduction/trace-is-of-the-outcome")
    yield from _combined(document)
    yield from _level(document)


def _whole(document: YamlDocument) -> Iterator[Problem]:
    data, plan = document.data, document.data["plan"]
    traces = (("outcomes", i, "trace", "started") for i in range(len(data["outcomes"])))
    places: list[tuple[Key, ...]] = [("started",), ("ended",), *traces]
    yield from moments(document, places, "reproduction/times")
    yield from ends_after_start(document, "reproduction/ends-after-start")
    yield from once(document, ("outcomes",), "outcome", "reproduction/outcomes-once")
    for key in ("artifact", "version", "core"):
        if plan[key] != data[key]:
            message = f"the plan is of {key} {plan[key]}, the reproduction of {data[key]}"
            clause, hint = "reproduction/plan-is-its-own", "give the plan that was followed"
            yield document.problem(("plan", key), message, clause=clause, hint=hint)
    if data["attempts"] < plan["attempt"]:
        message = f"attempt {plan['attempt']} of {data['attempts']}"
        clause, hint = "reproduction/attempt-of-attempts", "count this attempt too"
        yield document.problem(("attempts",), message, clause=clause, hint=hint)
    yield from _values(document)
    planned = {outcome["outcome"] for outcome in entries(plan, ("outcomes",))}
    judged = {outcome["outcome"] for outcome in entries(data, ("outcomes",))}
    if planned != judged:
        name = min(planned ^ judged)
        message = f"{name} is {'planned and not judged' if name in planned else 'not planned'}"
        clause, hint = "reproduction/every-planned-outcome", "judge what the plan names, no more"
        yield document.problem(("outcomes",), message, clause=clause, hint=hint)


def _values(document: YamlDocument) -> Iterator[Problem]:
    """Yield a problem for each outcome with more fresh values than its plan makes."""
    planned = entries(document.data["plan"], ("outcomes",))
    reports = {one["outcome"]: one["reports"] for one in planned}
    for index, outcome in enumerate(entries(document.data, ("outcomes",))):
        count = len(outcome.get("values", ()))
        wanted = reports.get(outcome["outcome"], count)
        if count > wanted:
            message = f"{count} fresh values of {wanted} planned reports"
            clause, hint = "reproduction/values-of-the-plan", "a report is one fresh value"
            place = ("outcomes", index, "values")
            yield document.problem(place, message, clause=clause, hint=hint)


def _outcome(
    document: YamlDocument, here: tuple[Key, ...], outcome: Mapping[str, Any]
) -> Iterator[Problem]:
    verdict, detail = outcome["verdict"], outcome.get("detail", "")
    if verdict in _WITH_DETAIL and not detail:
        message = f"{verdict} without saying why"
        clause, hint = "reproduction/detail-is-said", "give the reason in one or two words"
        yield document.problem(here, message, clause=clause, hint=hint)
    elif outcome["label"] != (f"{verdict}({detail})" if detail else verdict):
        message = f"the label is {outcome['label']}, the verdict {verdict}, the detail {detail!r}"
        clause, hint = "reproduction/label-says-both", "write verdict(detail)"
        yield document.problem((*here, "label"), message, clause=clause, hint=hint)
    why = _not_reproduced(outcome) if verdict == "reproduced" else ""
    if why:
        clause, hint = "reproduction/reproduced-needs", "give the verdict that the answers give"
        message = f"reproduced, and {why}"
        yield document.problem((*here, "verdict"), message, clause=clause, hint=hint)


def _not_reproduced(outcome: Mapping[str, Any]) -> str:
    """Say what forbids to call an outcome reproduced; empty when nothing does."""
    if outcome["agreement"] != "pass":
        return f"agreement is {outcome['agreement']}"
    if outcome["repeatability"] not in {"pass", "not_assessed"}:
        return f"repeatability is {outcome['repeatability']}"
    if not outcome.get("values"):
        return "there is no fresh value"
    refuted = next(invalidating(outcome.get("findings", [])), None)
    return f"{refuted['code']} refutes it" if refuted else ""


def _combined(document: YamlDocument) -> Iterator[Problem]:
    data = document.data
    clause, hint = "reproduction/verdicts-combine", "combine the verdicts of the outcomes"
    outcomes = entries(data, ("outcomes",))
    for name, said in data["experiments"].items():
        wanted = combine_verdicts(
            outcome["verdict"]
            for outcome in outcomes
            if outcome["outcome"].partition("/")[0] == name
        )
        if said != wanted:
            message = f"experiment {name} is {said}, and its outcomes give {wanted}"
            place = ("experiments", name)
            yield document.problem(place, message, clause=clause, hint=hint)
    for outcome in outcomes:
        name = outcome["outcome"].partition("/")[0]
        if name not in data["experiments"]:
            message = f"experiment {name} has no verdict"
            yield document.problem(("experiments",), message, clause=clause, hint=hint)
            break
    wanted = combine_verdicts(outcome["verdict"] for outcome in outcomes)
    if data["verdict"] != wanted:
        message = f"the verdict is {data['verdict']}, and the outcomes give {wanted}"
        yield document.problem(("verdict",), message, clause=clause, hint=hint)


def _level(document: YamlDocument) -> Iterator[Problem]:
    """Yield the first thing that the level claims and the document does not show."""
    level = document.data["level"]
    for asked, clause, why in (
        ("L1", "levels/l1-builds", _unbuilt),
        ("L2", "levels/l2-runs", _unrun),
        ("L3", "levels/l3-reproduces", _unreproduced),
    ):
        missing = why(document.data) if level != "none" and level >= asked else ""
        if missing:
            hint = "give the level that the execution earned"
            yield document.problem(("level",), f"{level}, and {missing}", clause=clause, hint=hint)
            return


def _unbuilt(data: Mapping[str, Any]) -> str:
    failed = [item["id"] for item in data["environments"] if not item["ok"]]
    if failed:
        return f"environment {failed[0]} was not built"
    return "" if data["environments"] else "no environment was built"


def _unrun(data: Mapping[str, Any]) -> str:
    failed = [run["launcher"] for run in data["runs"] if not run["ok"]]
    if failed:
        return f"launcher {failed[0]} failed"
    ran = {run["launcher"] for run in data["runs"]}
    left = [name for name in data["plan"]["launchers"] if name not in ran]
    return f"launcher {left[0]} did not run" if left else ""


def _unreproduced(data: Mapping[str, Any]) -> str:
    outcomes = entries(data, ("outcomes",))
    for outcome in outcomes:
        if outcome["verdict"] not in _GOOD:
            return f"{outcome['outcome']} is {outcome['verdict']}"
        if next(invalidating(outcome.get("findings", [])), None):
            return f"{outcome['outcome']} is refuted by a finding"
    if all(outcome["verdict"] == "not_assessed" for outcome in outcomes):
        return "no outcome was assessed"
    planned = entries(data["plan"], ("outcomes",))
    stochastic = {one["outcome"] for one in planned if one.get("deterministic") is False}
    for outcome in outcomes if len(planned) > 1 else ():
        count = len(outcome.get("values", ()))
        assessed = outcome["verdict"] != "not_assessed"
        if assessed and outcome["outcome"] in stochastic and count < RUNS_FOR_L3:
            return f"{outcome['outcome']} has {count} of {RUNS_FOR_L3} fresh values"
    return ""
