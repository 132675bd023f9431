"""The page about reproductions against the code: worked example, tables, formulas."""

from __future__ import annotations

import json
import math
import re
import statistics
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from rra.model import Outcome, Reference
from rra.model.verdicts import Verdict, combine_verdicts
from rra.values.success import judge
from rra.values.success.distributions import t_quantile
from rra.values.success.judgement import Assessment
from rra.values.success.verdict import combine

PAGE = (Path(__file__).parents[2] / "spec" / "v1" / "reproduction.md").read_text("utf-8")
SELECTOR = {"launcher": "a", "file": "m.json", "json": "/a"}


def outcome(reported: str, **fields: Any) -> Outcome:
    document = {"type": "number", "reported": reported, "selector": SELECTOR, **fields}
    return Outcome.model_validate(document)


@pytest.mark.clause("reproduction/success-rule")
def test_the_worked_example_of_the_page() -> None:
    fence = re.search(r"test_the_worked_example_of_the_page\n(.*?)```", PAGE, re.DOTALL)
    assert fence is not None
    example = json.loads(fence[1])
    for case in example["outcomes"]:
        declared = outcome(case["reported"], unit=example["unit"], n_items=example["n_items"])
        fresh = Decimal(100 * case["correct"]) / example["n_items"]
        judged = judge(declared, [fresh], deterministic=True)
        document = judged.to_json()
        assert document["g"] == case["g"]
        assert document["agreement"]["answer"] == case["agreement"]
        assert judged.verdict == case["verdict"]
        difference = abs(fresh - Decimal(case["reported"]))
        assert f"{difference:.3g}" == case["difference"]


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, without its head."""
    lines = PAGE.split(heading, 1)[1].split("\n")
    table = [line for line in lines[: lines.index("", 2 + lines[2:].index("")) + 20] if line]
    found = [line for line in table if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found]


ANSWERS = ("pass", "fail", "inconclusive", "not_assessed")


def verdict_on_the_page(agreement: str, repeatability: str) -> str:
    for first, second, third in rows("### Verdict of an outcome"):
        if f"`{agreement}`" in first and (f"`{repeatability}`" in second or "any" in second):
            found = re.search(r"`(\w+)`", third)
            assert found is not None
            return found[1]
    raise AssertionError(f"the page says nothing about {agreement} and {repeatability}")


@pytest.mark.clause("reproduction/success-rule")
@pytest.mark.parametrize("repeatability", ANSWERS)
@pytest.mark.parametrize("agreement", ANSWERS)
def test_the_verdict_table_of_the_page(agreement: Any, repeatability: Any) -> None:
    verdict, _, _ = combine(Assessment(agreement, "a"), Assessment(repeatability, "r"))
    assert verdict == verdict_on_the_page(agreement, repeatability)


@pytest.mark.clause("reproduction/interval-test")
@pytest.mark.parametrize("fresh", [["98.1"], ["98.1", "98.3"], ["97.2", "98.8", "98.0"]])
def test_the_interval_test_of_the_page(fresh: list[str]) -> None:
    known = [98.9, 98.4, 99.1, 98.7, 98.2]
    scores = [{"value": str(value)} for value in known]
    reference = Reference.model_validate({"scores": scores})
    values = [Decimal(value) for value in fresh]
    judged = judge(outcome("98.9"), values, reference, deterministic=False)
    floats = [float(value) for value in values]
    k, n = len(known), len(floats)
    variance = statistics.variance(known)
    degrees = k - 1
    if n >= 2:
        degrees = k + n - 2
        variance = ((k - 1) * variance + (n - 1) * statistics.variance(floats)) / degrees
    error = math.sqrt(variance * (1 / k + 1 / n))
    wanted = float(t_quantile(0.975, degrees)) * error
    test = judged.repeatability_test
    assert test.h is not None
    assert math.isclose(float(test.h), wanted, rel_tol=1e-9)
    inside = abs(statistics.fmean(floats) - statistics.fmean(known)) <= wanted
    assert judged.repeatability == ("pass" if inside else "fail")


@pytest.mark.parametrize(
    ("verdicts", "together"),
    [
        ([], "not_assessed"),
        (["not_assessed"], "not_assessed"),
        (["reproduced", "not_assessed"], "reproduced"),
        (["reproduced", "deviates_as_documented"], "deviates_as_documented"),
        (["partial", "could_not_run"], "partial"),
        (["deviates", "could_not_run", "inconclusive"], "deviates"),
        (["deviates_as_documented", "inconclusive"], "inconclusive"),
    ],
)
def test_several_outcomes_together(verdicts: list[Verdict], together: str) -> None:
    assert combine_verdicts(verdicts) == together
