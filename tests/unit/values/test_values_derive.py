"""Values that follow from others."""

from __future__ import annotations

from decimal import Decimal

import pytest

from rra.errors import SelectError
from rra.model import Derived
from rra.values.derive import derive


def op(name: str, count: int = 2) -> Derived:
    return Derived.model_validate({"op": name, "of": ["a", "b", "c"][:count]})


@pytest.mark.parametrize(
    ("name", "operands", "unit", "value"),
    [
        ("difference", [("99.4", "percent"), ("0.989", "fraction")], "percent", "0.5"),
        ("difference", [("99.4", "percent"), ("0.989", "fraction")], None, "0.5"),
        ("ratio", [("1", "s"), ("500", "ms")], None, "2"),
        ("ratio", [("1", "s"), ("500", "ms")], "percent", "200"),
        ("percent_change", [("12", None), ("10", None)], None, "20"),
        ("percent_change", [("12", None), ("10", None)], "fraction", "0.2"),
        ("mean", [("1", "s"), ("500", "ms")], "s", "0.75"),
    ],
)
def test_operations_and_units(
    name: str, operands: list[tuple[str, str | None]], unit: str | None, value: str
) -> None:
    pairs = [(Decimal(text), own) for text, own in operands]
    assert derive(op(name), pairs, unit) == Decimal(value)


def test_a_mean_of_three_keeps_fifty_digits() -> None:
    found = derive(op("mean", 3), [(Decimal(n), None) for n in (1, 1, 2)], None)
    assert str(found) == "1." + "3" * 49


@pytest.mark.parametrize(
    ("name", "operands", "said"),
    [
        ("ratio", [("1", None), ("0", None)], "to zero has no value"),
        ("percent_change", [("1", None), ("0.0", None)], "to zero has no value"),
        ("difference", [("NaN", None), ("1", None)], "not finite"),
        ("difference", [("1", "s"), ("1", "MB")], "cannot convert"),
    ],
)
def test_what_has_no_value(name: str, operands: list[tuple[str, str | None]], said: str) -> None:
    pairs = [(Decimal(text), own) for text, own in operands]
    with pytest.raises(SelectError, match=said):
        derive(op(name), pairs, None)
