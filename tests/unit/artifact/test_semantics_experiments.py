"""What experiments have to keep to beyond their schema, in the words that authors read."""

from __future__ import annotations

from typing import Any

import pytest

from rra._base.yaml import YamlDocument, parse_yaml
from rra.artifact.semantics.derived import CIRCLE
from rra.artifact.semantics.experiments import check
from rra.artifact.semantics.outcomes import outcome_faults
from rra.errors import Problem, SelectError
from rra.schema import check_document
from rra.values.reported import reported_number
from tests.support.artifacts import outcome


def found(outcomes: dict[str, Any], **table: Any) -> list[Problem]:
    experiment: dict[str, Any] = {"outcomes": outcomes, **table}
    data = {"launchers": {"main": {}}, "experiments": {"t": experiment}}
    return list(check(YamlDocument(data, "", "rra.yaml", {})))


def derived(op: str, *of: str) -> dict[str, Any]:
    return {"type": "number", "reported": "1", "derived": {"op": op, "of": list(of)}}


@pytest.mark.parametrize(
    ("text", "value", "decimals"),
    [
        ("98.90", "98.90", 2),
        ("\u22120.5", "-0.5", 1),
        ("5.", "5", 0),
        ("1.2e3", "1200", -2),
        ("1,234.5", "1234.5", 1),
        ("1\u202f234", "1234", 0),
    ],
)
def test_reported_numbers_keep_value_and_decimals(text: str, value: str, decimals: int) -> None:
    number = reported_number(text)
    assert (f"{number.value:f}", number.decimals, number.text) == (value, decimals, text)


@pytest.mark.parametrize("text", ["98,9", "1,234", "98.9%", "1_000", "NaN", " 1", "0x1", "\u0661"])
def test_what_is_no_reported_number(text: str) -> None:
    with pytest.raises(SelectError):
        reported_number(text)


@pytest.mark.parametrize(
    ("changes", "pointer", "said"),
    [
        ({"reported": "1,234"}, "reported", "it can mean 1.234 (decimal comma) or 1234"),
        ({"bounds": [0, 1]}, "reported", "the reported 98.9 is outside the bounds 0 and 1"),
        (
            {"deviation": {"observed": "98.876", "explanation": "x"}},
            "deviation/observed",
            "the observed 98.876 is 98.9 at the decimals of the reported 98.9",
        ),
        ({"unit": "s", "file_unit": "percent"}, "selector/unit", "cannot convert 'percent'"),
        ({"aggregate": "sd"}, "selector/aggregate", "needs two runs or more, and one is read"),
        ({"regex": "a: ([0-9.]+)"}, "selector/regex", "has no group named 'value'"),
        ({"launcher": "mian"}, "selector/launcher", "no launcher is called 'mian'"),
    ],
)
def test_faults_say_what_and_where(changes: dict[str, Any], pointer: str, said: str) -> None:
    (problem,) = found({"a": outcome(**changes)})
    assert problem.pointer == f"/experiments/t/outcomes/a/{pointer}"
    assert said in problem.message
    assert problem.hint


def test_a_blank_is_left_to_the_rule_about_blanks() -> None:
    assert not list(outcome_faults(outcome("\u27e6fill: as in Table 1\u27e7", bounds=[0, 1])))


def test_what_is_observed_is_a_number_also_where_the_reported_value_is_a_blank() -> None:
    said = {"observed": "about 96", "explanation": "x"}
    (fault,) = outcome_faults(outcome("\u27e6fill: as in Table 1\u27e7", deviation=said))
    assert fault.path == ("deviation", "observed")


@pytest.mark.parametrize(
    ("reported", "observed", "equal"),
    [
        ("Stra\u00dfe", "STRASSE", True),
        ("e\u0301", "\u00c9", True),
        ("a", "\u2003A\u0085", True),
        ("a", "a\x1f", False),
    ],
)
def test_categories_are_folded_in_full_and_white_space_is_what_unicode_says(
    reported: str, observed: str, *, equal: bool
) -> None:
    said = {"observed": observed, "explanation": "x"}
    made = {"type": "category", "reported": reported, "deviation": said}
    assert [fault.clause for fault in outcome_faults(made)] == (
        ["outcome/deviation-differs"] if equal else []
    )


def test_every_circle_is_said_once() -> None:
    outcomes = {
        "a": derived("difference", "b", "z"),
        "b": derived("difference", "c", "z"),
        "c": derived("difference", "a", "z"),
        "d": derived("difference", "a", "e"),
        "e": derived("mean", "e", "z"),
        "z": outcome(),
    }
    problems = [one for one in found(outcomes) if one.clause == CIRCLE]
    assert [one.pointer for one in problems] == [
        "/experiments/t/outcomes/a/derived/of",
        "/experiments/t/outcomes/e/derived/of",
    ]
    assert problems[0].message.endswith("in a circle: t/a, t/b, t/c")
    assert problems[1].message == "t/e follows from itself"


def test_circles_that_share_an_outcome_are_one_and_the_order_in_the_file_does_not_count() -> None:
    outcomes = {
        "2": derived("difference", "1", "z"),
        "3": derived("difference", "1", "z"),
        "1": derived("difference", "2", "3"),
        "z": outcome(),
    }
    (problem,) = (one for one in found(outcomes) if one.clause == CIRCLE)
    assert problem.pointer == "/experiments/t/outcomes/1/derived/of"


@pytest.mark.clause("table/size")
@pytest.mark.parametrize("as_map", [True, False])
@pytest.mark.parametrize(("columns", "too_large"), [(100, False), (101, True)])
def test_a_table_is_bounded_before_its_file_is_read(
    columns: int, *, as_map: bool, too_large: bool
) -> None:
    lines: dict[str, Any] = {}
    for what, count in (("rows", 200), ("columns", columns)):
        names = [f"{what}-{n}" for n in range(count)]
        lines[what] = {name: {"skip": "not run"} for name in names} if as_map else names
    table = {"reported": "t.csv", "launcher": "main", "file": "m.json", **lines}
    problems = [(one.clause, one.pointer) for one in found({}, table=table)]
    assert problems == ([("table/size", "/experiments/t/table")] if too_large else [])


def test_a_table_of_a_hundred_thousand_lines_each_way_is_refused_at_once() -> None:
    lines = {f"a{n}": "x" for n in range(100_000)}
    table = {"reported": "t.csv", "launcher": "main", "file": "m.json"}
    (problem,) = found({}, table={**table, "rows": lines, "columns": lines})
    assert problem.clause == "table/size"


def test_a_long_chain_is_no_circle_and_takes_no_time() -> None:
    count = 20_000
    outcomes = {f"a{n}": derived("difference", f"a{n + 1}", "z") for n in range(count)}
    outcomes |= {f"a{count}": outcome(), "z": outcome()}
    assert not found(outcomes)


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("reported: 98.90", 'quote it: reported: "98.90"'),
        ('reported: ["3", 9.0]', 'quote it: "9.0"'),
        ('reported: "98.9", tolerance: 0.10', 'quote it: tolerance: "0.10"'),
    ],
)
def test_a_number_is_to_be_quoted_with_the_digits_that_stand_there(written: str, hint: str) -> None:
    text = f"experiments: {{t: {{outcomes: {{a: {{type: number, {written}, selector: "
    text += "{launcher: main, file: m.json, json: /a}}}}}\n"
    problems = check_document(parse_yaml(text, source="rra.yaml"), "manifest")
    assert [one.hint for one in problems if one.clause.startswith("outcome/")] == [hint]
