"""Decoys keep the form of the number they replace and lie where they should."""

from __future__ import annotations

from decimal import Decimal
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.audit.decoys import Direction, read_back, values, written_like


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("98.90", "41.268", "41.27"),
        ("0.9887640449438202", "0.4127", "0.4127000000000000"),
        ("-1.5e-3", "0.00234", "-2.3e-3"),
        (".5", "0.31", ".3"),
        ("98,9", "41.26", "41,3"),
        ("178", "61.7", "62"),
        ("1_000", "412", "412"),
        ("\u22123.2", "1.1", "\u22121.1"),
        ("9.5", "16.44", "16.4"),
    ],
)
def test_a_number_is_written_like_another(text: str, value: str, expected: str) -> None:
    assert written_like(text, Decimal(value)) == expected


def test_a_form_that_cannot_hold_a_number_says_so() -> None:
    assert written_like(".5", Decimal("1.2")) is None
    assert written_like("9.5", Decimal("16.4"), same_width=True) is None
    assert written_like("9.5", Decimal("1.4"), same_width=True) == "1.4"
    assert written_like("n/a", Decimal(1)) is None


def test_the_value_of_what_was_written_can_be_read_back() -> None:
    assert read_back("41,3") == Decimal("41.3")
    assert read_back("\u22121.1") == Decimal("-1.1")
    assert read_back("-2.3e-3") == Decimal("-0.0023")


@given(st.decimals(min_value="0.001", max_value="100", places=3))
def test_directions(original: Decimal) -> None:
    bound = 1 if original <= 1 else 100
    assert all(0 < v < original for v in values(original, Direction.DOWN))
    assert all(original < v < bound for v in values(original, Direction.UP))
    assert all(v > original * Decimal("1.6") for v in values(original, Direction.FAR))
    if original == bound:
        assert not list(values(original, Direction.UP))


def test_decoys_of_one_number_differ() -> None:
    found = list(islice(values(Decimal("98.9"), Direction.DOWN), 20))
    assert len(set(found)) == 20


def test_the_sign_stays() -> None:
    assert next(values(Decimal("-0.5"), Direction.UP)) < Decimal("-0.5")
