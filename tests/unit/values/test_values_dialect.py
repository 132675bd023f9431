"""Patterns of selectors: the dialect is what engines have in common."""

from __future__ import annotations

import re
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra._base import process
from rra.author.patterns import value_pattern
from rra.errors import SelectError
from rra.values.dialect import MAX_GROUPS, pattern_groups, value_groups
from tests.support.needs import needs

PORTABLE = [
    r"accuracy: (?P<value>[0-9.]+)",
    r"(?i)^\s*acc(?:uracy)?[:=]\s*(?P<value>[-+]?\d+\.?\d*)\b",
    r"(?<![A-Z]{2}|a\.)(?P<value>.)(?!\d)$",
    r"(?P<epoch>\d{1,4}?),(?P<value>\S+?)|x*",
    "[\\x41-\\x5a]\\x20\\n\u00fc{2,}",
    "",
    r"(?<=a(?=b+))(?P<value>b{3,3})",
    r"(?<=a{2}?)(?P<value>[a-f-z])",
]


@pytest.mark.parametrize("pattern", PORTABLE)
def test_what_is_portable_compiles(pattern: str) -> None:
    assert pattern_groups(pattern) == tuple(re.compile(pattern).groupindex)


@needs("node")
def test_what_is_portable_compiles_in_ecmascript() -> None:
    for pattern in PORTABLE:
        flags = re.match(r"\(\?([ims]+)\)", pattern)
        body = pattern[flags.end() :] if flags else pattern
        script = "new RegExp(process.argv[1], process.argv[2])"
        done = process.run(
            [
                str(shutil.which("node")),
                "-e",
                script,
                body.replace("(?P<", "(?<"),
                flags[1] if flags else "",
            ]
        )
        assert done.ok, (pattern, done.stderr)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?P<value>a", "a group is not closed, at position 12"),
        ("a)", "closing bracket without an opening one, at position 2"),
        ("x{row}", "write \\{ for the character {, at position 2"),
        (r"(.)\1", "is not the same in all engines"),
        ("a++", "a quantifier cannot be repeated"),
        ("[[a]", "write \\[ for the character ["),
        ("(?<=a|bc)x", "no fixed length"),
        ("(?#x)", "engines do not have in common"),
        ("(" * (MAX_GROUPS + 1), "nested deeper"),
        ("a" * 5000, "longer than 4096 characters"),
        ("a{2,1}", "from a larger to a smaller"),
        ("a{1001}", "beyond 1000"),
    ],
)
def test_what_is_not_portable_is_said_with_its_place(pattern: str, said: str) -> None:
    with pytest.raises(SelectError) as caught:
        pattern_groups(pattern)
    assert said in caught.value.message


@given(st.text(alphabet="ab(|)[]^$*+?{},\\dP<>=!:-.0123 ", max_size=24))
def test_what_is_taken_compiles(pattern: str) -> None:
    try:
        names = pattern_groups(pattern)
    except SelectError:
        return
    assert tuple(re.compile(pattern).groupindex) == names


@pytest.mark.parametrize("bare", [True, False])
@pytest.mark.parametrize("labels", [[], [r"(?<![^\W_])lda(?![^\W_])"], ["a", "b"]])
def test_patterns_that_are_proposed_are_portable(labels: list[str], *, bare: bool) -> None:
    assert value_groups(value_pattern(labels, bare=bare, position=2)) == 1
