"""Plans of verifications: every outcome has its runs, every run its seed, each test its level."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.ids import value_at
from rra.artifact.semantics.verdicts import entries, moments, once
from rra.errors import Problem

_SAME = 1e-9
"""Relative difference of two levels that are the same."""

SEED_LIMIT = 1 << 31
"""Seeds are smaller than this."""


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what a plan breaks beyond its schema."""
    yield from check_plan(document, ())


def check_plan(document: YamlDocument, path: Sequence[Key]) -> Iterator[Problem]:
    """Yield what the plan at a path breaks."""
    plan = value_at(document.data, path)
    outcomes = entries(plan, ("outcomes",))
    yield from moments(document, ((*path, "created"),), "reproduction/times")
    yield from once(document, (*path, "outcomes"), "outcome", "reproduction/plan-outcomes-once")
    yield from _coverage(document, path)
    for index, runs in enumerate(entries(plan, ("runs",))):
        here = (*path, "runs", index)
        wanted = runs["reports"] * runs["runs_per_report"]
        if len(runs["seeds"]) != wanted:
            message = f"{len(runs['seeds'])} seeds for {wanted} runs"
            hint = "give each run its seed, null where the launcher takes none"
            clause = "reproduction/plan-seed-for-each-run"
            yield document.problem((*here, "seeds"), message, clause=clause, hint=hint)
        yield from _seeds(document, here, plan["nonce"], runs)
        if runs["launcher"] not in plan["launchers"]:
            message = f"runs launcher {runs['launcher']}, which is not among the launchers"
            hint = "list every launcher that runs"
            clause = "reproduction/plan-lists-launchers"
            yield document.problem((*here, "launcher"), message, clause=clause, hint=hint)
    for index, outcome in enumerate(outcomes):
        wanted_alpha = plan["alpha"] / len(outcomes)
        if not math.isclose(outcome["alpha"], wanted_alpha, rel_tol=_SAME):
            message = f"alpha is {outcome['alpha']}, not {plan['alpha']} / {len(outcomes)}"
            hint = "divide the level of the whole by the number of outcomes"
            clause = "reproduction/plan-divides-alpha"
            place = (*path, "outcomes", index, "alpha")
            yield document.problem(place, message, clause=clause, hint=hint)


def seed_of(nonce: str, launcher: str, index: int) -> int:
    """Return the seed of the run with an index, counted from 0: never the author's favourite.

    It follows from the nonce, so that whoever reads a plan can draw it again.
    """
    digest = hashlib.sha256(f"{nonce}/{launcher}/{index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % SEED_LIMIT


def _seeds(
    document: YamlDocument, here: tuple[Key, ...], nonce: str, runs: Mapping[str, Any]
) -> Iterator[Problem]:
    if all(seed is None for seed in runs["seeds"]):
        return
    for index, seed in enumerate(runs["seeds"]):
        drawn = seed_of(nonce, runs["launcher"], index)
        if seed != drawn:
            message = f"run {index} has seed {seed}, and the nonce gives {drawn}"
            hint = "draw the seeds from the nonce"
            clause = "reproduction/seeds-from-the-nonce"
            yield document.problem((*here, "seeds", index), message, clause=clause, hint=hint)
            return


def _coverage(document: YamlDocument, path: Sequence[Key]) -> Iterator[Problem]:
    """Yield a problem for each outcome that is read from no run, from two, or is not planned."""
    plan = value_at(document.data, path)
    clause = "reproduction/plan-runs-for-outcomes"
    read = Counter(name for runs in entries(plan, ("runs",)) for name in runs["outcomes"])
    planned = {outcome["outcome"] for outcome in entries(plan, ("outcomes",))}
    for index, outcome in enumerate(entries(plan, ("outcomes",))):
        if read[outcome["outcome"]] != 1:
            how = "no runs" if not read[outcome["outcome"]] else "more than one group of runs"
            message = f"{outcome['outcome']} is read from {how}"
            place = (*path, "outcomes", index, "outcome")
            hint = "name it in the outcomes of exactly one group of runs"
            yield document.problem(place, message, clause=clause, hint=hint)
    for index, runs in enumerate(entries(plan, ("runs",))):
        for number, name in enumerate(runs["outcomes"]):
            if name not in planned:
                message = f"{name} is read and not judged"
                place = (*path, "runs", index, "outcomes", number)
                hint = "add it to the planned outcomes"
                yield document.problem(place, message, clause=clause, hint=hint)
