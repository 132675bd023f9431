"""Scores that are no finite value, of two kinds, or of one run."""

from __future__ import annotations

import pytest

from rra._base.yaml import parse_yaml
from rra.artifact.semantics import check_semantics

Found = list[tuple[str, str, str]]


def found(*scores: str) -> Found:
    text = f"t/a: {{scores: [{', '.join(f'{{{score}}}' for score in scores)}]}}\n"
    problems = check_semantics(parse_yaml(text, source="references.yaml"), "references")
    return [(one.clause, one.pointer, one.severity) for one in problems]


@pytest.mark.parametrize("value", ["98.90", "-1e-7", "LDA", "nanometre", "infinite", "+.5"])
def test_values_that_can_be_compared(value: str) -> None:
    assert found(*[f"value: '{value}'"] * 5) == []


@pytest.mark.parametrize("value", ["nan", "NaN", "-inf", "Infinity", ".inf", "-.INF", "+nan"])
def test_values_that_cannot(value: str) -> None:
    scores = ["value: '1'"] * 4
    assert found(*scores, f"value: '{value}'") == [
        ("references/finite", "/t~1a/scores/4/value", "error")
    ]


@pytest.mark.clause("references/five-scores")
def test_fewer_than_five_are_warned_of() -> None:
    assert found(*["value: '1'"] * 3) == [("references/five-scores", "/t~1a/scores", "warning")]


def test_one_kind_and_each_run_once() -> None:
    run = f"record: 'sha256:{'0' * 64}'"
    scores = ["value: '1'"] * 3
    assert found("value: [a]", "value: [b]", *scores)[0][:2] == (
        "references/one-kind",
        "/t~1a/scores/2/value",
    )
    assert found(*scores, f"value: '1', {run}", f"value: '2', {run}") == [
        ("references/run-once", "/t~1a/scores/4/record", "error")
    ]
