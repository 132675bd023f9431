from __future__ import annotations

from decimal import Decimal

import pytest

from rra.errors import SelectError
from rra.values.aggregate import aggregate


def numbers(*texts: str) -> list[Decimal]:
    return [Decimal(text) for text in texts]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("mean", "5"),
        ("median", "4.5"),
        ("min", "2"),
        ("max", "9"),
        # 2 4 4 4 5 5 7 9: sum of squares 32, so sd = sqrt(32 / 7) and se = sqrt(32 / 56)
        ("sd", "2.13808993529939"),
        ("se", "0.75592894601845"),
    ],
)
def test_each_rule(how: str, expected: str) -> None:
    found = aggregate(numbers("2", "4", "4", "4", "5", "5", "7", "9"), how)
    assert abs(found - Decimal(expected)) < Decimal("1e-13")


def test_a_mean_of_decimals_is_exact() -> None:
    assert aggregate(numbers("0.1", "0.2", "0.3"), "mean") == Decimal("0.2")


def test_single_takes_one_value_only() -> None:
    assert aggregate(numbers("98.90"), "single").as_tuple().exponent == -2
    with pytest.raises(SelectError, match="2 runs gave a value"):
        aggregate(numbers("1", "2"), "single")


def test_what_is_not_finite_is_not_hidden_by_a_maximum() -> None:
    assert aggregate(numbers("1", "NaN"), "max").is_nan()


@pytest.mark.parametrize("how", ["sd", "se"])
def test_a_spread_needs_two_values(how: str) -> None:
    with pytest.raises(SelectError, match="needs two runs"):
        aggregate(numbers("1"), how)


def test_no_value_and_no_rule_are_said() -> None:
    with pytest.raises(SelectError, match="no run gave a value"):
        aggregate([], "mean")
    with pytest.raises(SelectError, match="no aggregate 'mode'"):
        aggregate(numbers("1", "2"), "mode")
