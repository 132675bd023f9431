from __future__ import annotations

from decimal import Decimal

import pytest

from rra.errors import SelectError
from rra.values.numbers import (
    ReportedNumber,
    matches,
    parse_value,
    rounds_to,
    truncates_to,
)


@pytest.mark.parametrize(
    ("text", "value", "decimals"),
    [
        ("98.90", "98.90", 2),
        ("98", "98", 0),
        (" 98.9 ", "98.9", 1),
        ("−1.5", "-1.5", 1),  # U+2212, as papers print it
        ("–1.5", "-1.5", 1),  # an en dash, as word processors make it
        ("+.5", "0.5", 1),
        ("-.5", "-0.5", 1),
        ("5.", "5", 0),
        ("1e-3", "0.001", 3),
        ("1.25E+2", "125", 0),
        ("1.2e3", "1200", -2),
        ("1_000.5", "1000.5", 1),
        ("1,234,567", "1234567", 0),
        ("1,234.5", "1234.5", 1),
        ("12'345", "12345", 0),
        ("12\u202f345.25", "12345.25", 2),
    ],
)
def test_a_number_keeps_text_value_and_decimals(text: str, value: str, decimals: int) -> None:
    number = ReportedNumber.parse(text)
    assert number.text == text.strip()
    assert number.value == Decimal(value)
    assert number.decimals == decimals
    assert number.quantum == Decimal(10) ** -decimals


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,5", "can mean 1.5 (decimal comma) or two numbers"),
        ("98,90", "can mean 98.90 (decimal comma) or two numbers"),
        ("1,234", "can mean 1.234 (decimal comma) or 1234 (thousands)"),
        ("0,234", "can mean 0.234 (decimal comma) or two numbers"),
        ("1.234,5", "decimal comma"),
        ("12,34,567", "is not a number"),
        ("98.9%", "is not a number"),
        ("٩٨", "is not a number"),
        ("1 234", "is not a number"),
        ("1__0", "is not a number"),
        ("0x10", "is not a number"),
        ("", "an empty text is not a number"),
        ("1e999", "an exponent beyond 400"),
        ("1" * 401, "more than 400 digits"),
    ],
)
def test_what_is_no_number_or_two_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(SelectError) as caught:
        ReportedNumber.parse(text)
    assert said in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NaN", "NaN"),
        ("-inf", "minus infinity"),
        ("Infinity", "infinity"),
        ("−INF", "minus infinity"),
    ],
)
def test_not_a_finite_number_is_said(text: str, said: str) -> None:
    assert not parse_value(text).is_finite()
    with pytest.raises(SelectError, match=f"is {said}, not a finite number"):
        ReportedNumber.parse(text)


@pytest.mark.parametrize(
    ("value", "reported", "expected"),
    [
        ("98.876", "98.9", True),
        ("98.84", "98.9", False),
        ("98.85", "98.9", True),  # half-up
        ("98.85", "98.8", True),  # half-even
        ("98.95", "98.9", False),  # both give 99.0 or 98.9: half-even of 98.95 is 99.0
        ("-0.25", "-0.3", True),
        ("-0.25", "-0.2", True),
        ("98.9", "98.90", True),
        ("98.9", "98.91", False),
        ("1249", "1.2e3", True),
        ("1250", "1.3e3", True),
        ("NaN", "98.9", False),
    ],
)
def test_rounding_as_papers_round(value: str, reported: str, expected: bool) -> None:  # noqa: FBT001
    assert rounds_to(Decimal(value), ReportedNumber.parse(reported)) is expected


def test_cutting_digits_off_is_told_apart_from_rounding() -> None:
    reported = ReportedNumber.parse("98.8")
    assert truncates_to(Decimal("98.876"), reported)
    assert not rounds_to(Decimal("98.876"), reported)
    assert not truncates_to(Decimal("98.81"), reported)  # rounding explains it
    assert not truncates_to(Decimal("98.9"), reported)


@pytest.mark.parametrize(
    ("candidate", "reported", "scale"),
    [
        ("98.876", "98.9", "1"),
        ("0.98876", "98.9", "100"),
        ("98.876", "0.989", "0.01"),
        ("0.0989", "98.9", "1000"),
        ("98900", "98.9", "0.001"),
        ("0.95506", "96.1", None),
    ],
)
def test_a_match_says_under_which_scale(candidate: str, reported: str, scale: str | None) -> None:
    found = matches(Decimal(candidate), ReportedNumber.parse(reported))
    assert found == (None if scale is None else Decimal(scale))
