"""Outcomes that are read from the same runs are run together, with seeds from the nonce."""

from __future__ import annotations

from typing import Any

import pytest

from rra.audit.groups import draw_seed, group_outcomes
from rra.model import Manifest
from tests.support.artifacts import manifest, outcome


def built(seeds: dict[str, Any] | None, **outcomes: dict[str, Any]) -> Manifest:
    launcher: dict[str, Any] = {"entry": "launchers/main.sh", "environment": "cpu", "outputs": []}
    if seeds is not None:
        launcher["seeds"] = seeds
    document = manifest(
        launchers={"main": launcher}, experiments={"t": {"outcomes": dict(outcomes)}}
    )
    return Manifest.model_validate(document)


def test_outcomes_of_one_launcher_share_its_runs() -> None:
    groups = group_outcomes(built(None, a=outcome(), b=outcome("1", json="/b")))
    assert [(group.launcher, group.count, group.outcomes) for group in groups] == [
        ("main", 1, ("t/a", "t/b"))
    ]
    assert groups[0].instance == "default"


@pytest.mark.clause("selector/as-many-runs")
def test_a_selector_can_ask_for_several_runs_and_for_parameters() -> None:
    document = built(
        {"values": [1, 2, 3]},
        a=outcome(),
        b=outcome(runs="all", aggregate="mean"),
        c=outcome(runs={"seeds": [4, 5]}, aggregate="mean"),
        d=outcome(runs={"parameters": {"folds": 3}}),
    )
    groups = group_outcomes(document)
    assert [(group.count, dict(group.parameters)) for group in groups] == [
        (1, {}),
        (3, {}),
        (2, {}),
        (1, {"folds": 3}),
    ]
    assert groups[3].instance.startswith("p-")
    assert [group.outcomes for group in group_outcomes(document, ["t/d"])] == [("t/d",)]


@pytest.mark.clause("selector/own-seeds")
def test_seeds_come_from_the_nonce() -> None:
    launcher = built({"values": [1]}, a=outcome()).launchers["main"]
    drawn = [draw_seed("main", launcher, "aa", index) for index in range(5)]
    assert len(set(drawn)) == 5
    assert all(seed is not None and 0 <= seed < 2**31 for seed in drawn)
    assert drawn == [draw_seed("main", launcher, "aa", index) for index in range(5)]
    assert draw_seed("main", launcher, "bb", 0) != drawn[0]
    fixed = built(None, a=outcome()).launchers["main"]
    assert draw_seed("main", fixed, "aa", 0) is None
