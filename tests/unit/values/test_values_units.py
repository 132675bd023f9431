from __future__ import annotations

from decimal import Decimal

import pytest

from rra.errors import SelectError
from rra.values.units import convert, same_unit, unit_kind, whole_of


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        ("0.98876404494382", "fraction", "percent", "98.876404494382"),
        ("98.9", "%", "fraction", "0.989"),
        ("5", "permille", "percent", "0.5"),
        ("25", "basis-points", "%", "0.25"),
        ("1500", "ms", "s", "1.5"),
        ("90", "s", "min", "1.5"),
        ("2", "h", "s", "7200"),
        ("1", "GiB", "MiB", "1024"),
        ("3", "kWh", "J", "10800000"),
        ("7", None, "percent", "7"),
        ("7", "percent", None, "7"),
        ("7", "points", "points", "7"),
        ("1.50", "Percent", "%", "1.50"),
    ],
)
def test_conversion_is_exact(
    value: str, source: str | None, target: str | None, expected: str
) -> None:
    assert convert(Decimal(value), source, target) == Decimal(expected)


def test_what_has_no_finite_decimals_has_fifty_digits() -> None:
    assert convert(Decimal(1), "s", "min") == Decimal("0.01" + "6" * 48 + "7")


def test_not_a_number_stays_not_a_number() -> None:
    assert convert(Decimal("NaN"), "fraction", "percent").is_nan()


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("fraction", "s", "cannot convert 'fraction' (proportion) to 's' (time)"),
        ("percnt", "fraction", "the unit 'percnt' is not known"),
        ("mg/dL", "mmol/L", "the unit 'mg/dL' is not known"),
    ],
)
def test_units_that_do_not_go_together_are_refused(source: str, target: str, said: str) -> None:
    with pytest.raises(SelectError) as caught:
        convert(Decimal(1), source, target)
    assert said in str(caught.value)


def test_a_misspelt_unit_gets_a_suggestion() -> None:
    with pytest.raises(SelectError) as caught:
        convert(Decimal(1), "percnt", "fraction")
    assert "did you mean 'percent'?" in caught.value.hint


def test_the_whole_of_a_proportion() -> None:
    assert whole_of("percent") == 100
    assert whole_of("fraction") == 1
    assert whole_of(None) == 1
    assert whole_of("s") is None


def test_names_of_one_unit() -> None:
    assert same_unit("%", "percent")
    assert not same_unit("MB", "MiB")
    assert not same_unit("s", None)
    assert unit_kind("seconds") == "time"
    assert unit_kind("points") is None
