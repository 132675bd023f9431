"""Judging many outcomes together: the level of each, misses to expect, and the ceiling."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence

from rra.values.success.distributions import t_quantile


def family_alpha(alpha: float, outcomes: int) -> float:
    """Return the level of each single test so that all together keep `alpha` (Bonferroni)."""
    if outcomes < 1 or not 0 < alpha < 1:
        raise ValueError(f"no family of {outcomes} outcomes at {alpha}")
    return alpha / outcomes


def expected_misses(alpha: float, outcomes: int) -> float:
    """Return how many honest outcomes miss on average when each is tested at `alpha`."""
    return alpha * outcomes


def honest_pass_rate(
    references: int,
    fresh: int,
    alpha: float = 0.05,
    *,
    between_lab: float = 0.0,
    draws: int = 4000,
    seed: int = 0,
) -> float:
    """Simulate how often an honest outcome passes `repeats`.

    Args:
        references: Number of reference values, all from one place.
        fresh: Number of fresh values, all from another.
        alpha: Level of the test.
        between_lab: Standard deviation of the difference between the two places, in units of the
            spread within one; 0 when references and fresh runs are exchangeable.
        draws: Simulated outcomes.
        seed: Seed of the simulation; the same seed gives the same rate.
    """
    generator = random.Random(seed)  # noqa: S311 - a simulation, nothing secret
    degrees = references + fresh - 2 if fresh >= 2 else references - 1
    limit = float(t_quantile(1 - alpha / 2, degrees))
    size = (1 / references + 1 / fresh) ** 0.5
    passed = 0
    for _ in range(draws):
        known = [generator.gauss(0, 1) for _ in range(references)]
        offset = generator.gauss(0, between_lab) if between_lab else 0.0
        new = [generator.gauss(offset, 1) for _ in range(fresh)]
        pooled = _squares(known) + _squares(new)
        difference = abs(statistics.fmean(new) - statistics.fmean(known))
        passed += difference <= limit * (pooled / degrees) ** 0.5 * size
    return passed / draws


def suite_ceiling(
    shapes: Sequence[tuple[int, int]],
    alpha: float = 0.05,
    *,
    between_lab: float = 0.0,
    draws: int = 4000,
    seed: int = 0,
) -> float:
    """Return the chance that an honest artifact passes all its outcomes, by simulation.

    Args:
        shapes: (references, fresh values) of each stochastic outcome.
        alpha: Level of each single test; use `family_alpha` for a whole suite.
        between_lab: As in `honest_pass_rate`.
        draws: Simulated outcomes of each shape.
        seed: Seed of the simulation.
    """
    rates = {
        shape: honest_pass_rate(*shape, alpha, between_lab=between_lab, draws=draws, seed=seed)
        for shape in set(shapes)
    }
    together = 1.0
    for shape in shapes:
        together *= rates[shape]
    return together


def _squares(values: Sequence[float]) -> float:
    centre = statistics.fmean(values)
    return sum((value - centre) ** 2 for value in values)
