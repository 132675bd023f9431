from __future__ import annotations

import string
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

from hypothesis import given
from hypothesis import strategies as st

from rra.errors import SelectError
from rra.values.numbers import ReportedNumber, matches, parse_value, rounds_to, truncates_to
from rra.values.tokens import number_tokens
from rra.values.units import convert

plain = st.from_regex(
    r"[+-]?([0-9]{1,12}(\.[0-9]{0,12})?|\.[0-9]{1,12})([eE][+-]?[0-9]{1,2})?", fullmatch=True
).filter(str.isascii)
fixed = st.decimals(
    allow_nan=False, allow_infinity=False, places=6, min_value=-(10**6), max_value=10**6
)


@given(plain)
def test_text_and_value_survive(text: str) -> None:
    number = ReportedNumber.parse(text)
    assert number.text == text
    assert number.value == Decimal(text)
    assert number.value.as_tuple().exponent == -number.decimals
    assert ReportedNumber.parse(text.replace("-", "−")).value == number.value


def attempt(text: str) -> Decimal | str:
    try:
        return parse_value(text)
    except SelectError as error:
        return str(error)


@given(st.text(max_size=40))
def test_any_text_is_a_number_or_a_refusal(text: str) -> None:
    assert attempt(text) != ""


@given(st.integers(min_value=-(10**12), max_value=10**12))
def test_thousands_groups_never_change_a_value_silently(value: int) -> None:
    text = f"{value:,}"
    found = attempt(text)
    if text.count(",") == 1:
        assert "ambiguous" in str(found)
    else:
        assert found == value
    assert parse_value(f"{abs(value):,}.5") == abs(value) + Decimal("0.5")


@given(fixed, st.integers(min_value=0, max_value=5))
def test_rounding_is_that_of_decimal(value: Decimal, places: int) -> None:
    quantum = Decimal(1).scaleb(-places)
    allowed = {value.quantize(quantum, r) for r in (ROUND_HALF_UP, ROUND_HALF_EVEN)}
    for step in (-2, -1, 0, 1, 2):
        candidate = value.quantize(quantum) + step * quantum
        reported = ReportedNumber.parse(f"{candidate:f}")
        assert rounds_to(value, reported) == (candidate in allowed)
        assert not (rounds_to(value, reported) and truncates_to(value, reported))


@given(fixed, st.sampled_from(["1", "100", "0.01", "1000", "0.001"]))
def test_a_scaled_value_is_found(value: Decimal, scale: str) -> None:
    reported = ReportedNumber.parse(f"{value * Decimal(scale):f}")
    assert matches(value, reported, [Decimal(scale)]) == Decimal(scale)


@given(fixed, st.sampled_from([("fraction", "percent"), ("ms", "s"), ("h", "s"), ("MiB", "B")]))
def test_a_conversion_and_back_is_the_same_value(value: Decimal, units: tuple[str, str]) -> None:
    there = convert(value, *units)
    assert convert(there, units[1], units[0]) == value


words = st.text(alphabet=string.ascii_letters + " _\"'=:;,()[]{}<>/\\#%+-.\n\tλ中", max_size=12)


@given(st.text(max_size=200))
def test_tokens_lie_where_they_say(text: str) -> None:
    tokens = number_tokens(text, decimal_comma=True)
    assert [token.start for token in tokens] == sorted(token.start for token in tokens)
    for token in tokens:
        assert text[token.start : token.end] == token.text
        assert token.value.is_finite()
    ends = [token.end for token in number_tokens(text)]
    starts = [token.start for token in number_tokens(text)]
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))


@given(
    words, st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,6})?", fullmatch=True).filter(str.isascii), words
)
def test_a_number_between_spaces_is_always_found(before: str, number: str, after: str) -> None:
    text = f"{before} {number} {after}"
    start = len(before) + 1
    found = [token for token in number_tokens(text) if token.start == start]
    assert [token.text for token in found] == [number]
    assert found[0].value == Decimal(number)


@given(
    st.from_regex(r"[0-9]{1,6}\.[0-9]{1,6}", fullmatch=True).filter(str.isascii),
    st.sampled_from("\"'([{,;:=|><*`~"),
)
def test_a_number_behind_punctuation_is_found(number: str, mark: str) -> None:
    assert number in [token.text for token in number_tokens(f"x{mark}{number}{mark}y")]
