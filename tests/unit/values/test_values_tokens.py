from __future__ import annotations

from decimal import Decimal

import pytest

from rra.values.tokens import number_tokens


def found(text: str) -> list[str]:
    tokens = number_tokens(text)
    assert all(text[token.start : token.end] == token.text for token in tokens)
    return [token.text for token in tokens]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("acc = 98.9", ["98.9"]),
        ("print('accuracy: 98.9')", ["98.9"]),
        (r'print("accuracy\t98.9\n-3.5")', ["98.9", "-3.5"]),
        (r'"\u00b10.3"', ["0.3"]),
        ('{"accuracy": 0.989, "n": 178}', ["0.989", "178"]),
        ("LDA,98.9,96.1", ["98.9", "96.1"]),
        ("| LDA | **98.9%** |", ["98.9"]),
        ("accuracy:98.9%", ["98.9"]),
        ("x=-5", ["-5"]),
        ("[-1, +2, −3]", ["-1", "+2", "−3"]),
        ("5-3", ["5", "3"]),
        ("0.5–0.9", ["0.5", "0.9"]),
        ("f(2)-1", ["2", "1"]),
        ("lda-98.9.txt", ["98.9"]),
        ("took 12ms, 1.5f, 3j, 10px", ["12", "1.5", "3", "10"]),
        ("1e-5 2.5E3 .5", ["1e-5", "2.5E3", ".5"]),
        ("1_000_000", ["1_000_000"]),
        ("f(1,234)", ["1", "234"]),
        ("it is 98. Or 98.9.", ["98", "98.9"]),
        ("准确率98.9分", ["98.9"]),
        ("<td>98.9</td>", ["98.9"]),
        ("1..5", ["1", "5"]),
        ("acc '-0.5' \"-0.25\"", ["-0.5", "-0.25"]),
    ],
)
def test_numbers_are_found_wherever_they_stand(text: str, numbers: list[str]) -> None:
    assert found(text) == numbers


@pytest.mark.parametrize(
    "text",
    [
        "x2 utf8 conv3d _5 a.5 x2.5",
        "v1.2.3 1.2.3 10.0.0.1",
        "2024-01-31 2024-01-31T10:00:00Z",
        "0xFF 0x1F 0b1 0o7",
        "2nd 1st 3rd 4th",
        'f"{x:.2f}" "%.1f %5.2f %(a).3f" f"{x:,.1f}" f"{y:.1%}"',
        "550e8400e29b41d4",
        "1e99999",
    ],
)
def test_digits_of_other_things_are_not_numbers(text: str) -> None:
    assert found(text) == []


def test_a_decimal_comma_is_read_when_asked_for() -> None:
    text = "LDA;98,9;QDA;99,4"
    assert found(text) == ["98", "9", "99", "4"]
    values = {token.text: token.value for token in number_tokens(text, decimal_comma=True)}
    assert values["98,9"] == Decimal("98.9")
    assert values["99,4"] == Decimal("99.4")


def test_a_token_has_value_and_decimals() -> None:
    (token,) = number_tokens("a −98.90 b")
    assert (token.value, token.decimals, token.start, token.end) == (Decimal("-98.90"), 2, 2, 8)
