"""Settings from the code say which line of it."""

from __future__ import annotations

import pytest

from rra._base.yaml import parse_yaml
from rra.artifact.semantics import check_semantics
from rra.artifact.semantics.settings import CODE_PLACE


def clauses(where: str, source: str = "code") -> list[tuple[str, str]]:
    text = f"folds: {{value: 1, source: {source}, where: '{where}', rationale: r}}\n"
    found = check_semantics(parse_yaml(text, source="settings.yaml"), "settings")
    return [(one.clause, one.pointer) for one in found]


@pytest.mark.parametrize(
    "where",
    ["train.py:31", "src/a b.py:1", "train.py:31-40", "train.py:9: seed = 1", "Makefile:12"],
)
def test_a_file_and_a_line_are_a_place(where: str) -> None:
    assert clauses(where) == []


@pytest.mark.parametrize(
    "where", ["train.py", "train.py:", "train.py:0", "train.py:031", " train.py:1", ":3", "L31"]
)
def test_anything_else_is_none(where: str) -> None:
    assert clauses(where) == [("settings/code-place", "/folds/where")]
    assert clauses(where, "paper") == []


def test_the_whole_number_is_the_line() -> None:
    place = CODE_PLACE.match("train.py:120, in fit()")
    assert place is not None
    assert place.groupdict() == {"file": "train.py", "line": "120"}
