from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.errors import UsageError
from rra.lint import Profile, Rule, Severity, explain
from rra.lint.context import TextFile
from rra.lint.near import nearest
from rra.lint.requirements import requirement_lines
from rra.lint.rule import SECTIONS, rules

PAGE = "Short.\n\n" + "\n".join(f"## {section}\n\nText.\n" for section in SECTIONS)
GOOD: dict[str, Any] = {
    "code": "RRA998",
    "name": "test",
    "severity": Severity.NOTE,
    "profile": Profile.BASIC,
    "since": "0.1",
    "clause": "test",
    "__doc__": PAGE,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"code": "RRA1"}, "not RRA and three digits"),
        ({"code": "RRA001"}, "is the code of ManifestSchema already"),
        ({"__doc__": PAGE.replace("## How to fix", "## Fix")}, "lacks the sections How to fix"),
        ({"__doc__": None}, "lacks the sections"),
    ],
)
def test_a_rule_that_is_not_whole_is_refused(change: dict[str, Any], message: str) -> None:
    rules()
    with pytest.raises(TypeError, match=message):
        type("Broken", (Rule,), {**GOOD, **change})


@pytest.mark.parametrize("missing", ["code", "name", "severity", "profile", "since", "clause"])
def test_a_rule_without_an_attribute_is_refused(missing: str) -> None:
    attributes = {key: value for key, value in GOOD.items() if key != missing}
    with pytest.raises(TypeError, match=f"lacks {missing}"):
        type("Broken", (Rule,), attributes)


def test_a_rule_from_elsewhere_is_not_one_of_ours() -> None:
    type("Other", (Rule,), GOOD)
    assert "RRA998" not in rules()


def test_explain_takes_any_case_and_names_the_rules() -> None:
    assert explain("rra103").startswith("# RRA103: lfs-pointer\n")
    with pytest.raises(UsageError) as caught:
        explain("RRA999")
    assert "RRA103" in caught.value.hint


@given(st.lists(st.text(st.characters(exclude_characters="\n")), max_size=6))
def test_positions_are_those_of_an_editor(lines: list[str]) -> None:
    text = "\n".join(lines)
    file = TextFile(path=None, text=text)  # type: ignore[arg-type]
    offset = 0
    for number, line in enumerate(text.split("\n"), 1):
        assert file.position(offset) == (number, 1)
        assert file.line_at(offset) == line.rstrip("\r")
        offset += len(line) + 1


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("launchers/lda.s", ["launchers/lda.sh", "code/lda.py"], "launchers/lda.sh"),
        ("wine.csv", ["data/raw/wine.csv", "wind.csv"], "data/raw/wine.csv"),
        ("LICENSE.txt", ["LICENSE", "README.md"], "LICENSE"),
        ("zzz", ["README.md"], None),
        ("x", [], None),
    ],
)
def test_the_nearest_name(name: str, known: list[str], near: str | None) -> None:
    assert nearest(name, known) == near


def test_requirement_lines_are_joined_and_stripped_of_comments() -> None:
    text = (
        "a==1 \\\n  --hash=sha256:0\n# no\n\n-r x.txt\n"
        "b[c]>=2 # why\nd @ https://e/f#egg=d\ne==1 \\"
    )
    lines = list(requirement_lines(text))
    assert [line.text for line in lines] == [
        "a==1 --hash=sha256:0",
        "-r x.txt",
        "b[c]>=2",
        "d @ https://e/f#egg=d",
        "e==1",
    ]
    assert [line.name for line in lines if not line.is_option] == ["a", "b", "d", "e"]
    assert [text[line.offset] for line in lines] == ["a", "-", "b", "d", "e"]
