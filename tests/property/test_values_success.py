from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rra.model import Outcome, Reference
from rra.values.aggregate import aggregate
from rra.values.success import judge

SELECTOR = {"launcher": "a", "file": "m.json", "json": "/a"}

small = st.decimals(
    allow_nan=False, allow_infinity=False, places=3, min_value=-1000, max_value=1000
)


def outcome(reported: str, **fields: Any) -> Outcome:
    return Outcome.model_validate(
        {"type": "number", "reported": reported, "selector": SELECTOR, **fields}
    )


def known(values: list[Decimal]) -> Reference:
    return Reference.model_validate({"scores": [{"value": str(value)} for value in values]})


@settings(max_examples=60, deadline=None)
@given(
    st.lists(small, min_size=1, max_size=6),
    st.lists(small, min_size=3, max_size=6),
    small,
    st.booleans(),
)
def test_the_verdict_is_consistent_with_its_numbers(
    fresh: list[Decimal],
    references: list[Decimal],
    reported: Decimal,
    deterministic: bool,  # noqa: FBT001
) -> None:
    judged = judge(outcome(f"{reported:f}"), fresh, known(references), deterministic=deterministic)
    test = judged.repeatability_test
    assert test.h is not None
    assert test.centre is not None
    assert test.interval is not None
    assert judged.g is not None
    assert judged.mean is not None
    assert test.h >= judged.g
    distance = abs(judged.mean - test.centre)
    assert (judged.repeatability == "pass") == (distance <= test.h)
    assert test.interval[0] <= test.centre <= test.interval[1]
    assert test.detectable is not None
    assert test.detectable[0] <= test.detectable[1]
    reproduced = judged.agreement == "pass" and judged.repeatability == "pass"
    assert (judged.verdict == "reproduced") == reproduced
    json.dumps(judged.to_json(), allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(small, st.integers(min_value=0, max_value=3))
def test_a_value_always_agrees_with_its_own_rounding(value: Decimal, places: int) -> None:
    reported = f"{value.quantize(Decimal(1).scaleb(-places)):f}"
    judged = judge(outcome(reported), [value], deterministic=True)
    assert judged.verdict == "reproduced"


@settings(max_examples=30, deadline=None)
@given(st.lists(small, min_size=3, max_size=5), st.lists(small, min_size=1, max_size=4), small)
def test_a_shift_of_everything_changes_no_answer(
    references: list[Decimal], fresh: list[Decimal], shift: Decimal
) -> None:
    here = judge(outcome("0.000"), fresh, known(references), deterministic=False)
    there = judge(
        outcome(f"{shift:f}"),
        [value + shift for value in fresh],
        known([value + shift for value in references]),
        deterministic=False,
    )
    assert here.repeatability == there.repeatability
    assert here.agreement == there.agreement


@given(st.lists(small, min_size=1, max_size=8))
def test_aggregates_lie_between_the_extremes(values: list[Decimal]) -> None:
    low, high = aggregate(values, "min"), aggregate(values, "max")
    assert low <= aggregate(values, "median") <= high
    assert low <= aggregate(values, "mean") <= high


def test_honest_normal_sets_repeat_nineteen_times_in_twenty() -> None:
    generator = random.Random(20240131)
    passed = 0
    rounds = 400
    for _ in range(rounds):
        references = [Decimal(repr(generator.gauss(90, 1))) for _ in range(5)]
        fresh = [Decimal(repr(generator.gauss(90, 1))) for _ in range(3)]
        judged = judge(outcome("90.0000"), fresh, known(references), deterministic=False)
        passed += judged.repeatability == "pass"
    # binomial sd is 0.011: the seed is fixed, and four of them lie on each side
    assert abs(passed / rounds - 0.95) < 0.044
