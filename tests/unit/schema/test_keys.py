"""Keys that are unknown, nearly right, or deprecated."""

from __future__ import annotations

from typing import Any

import pytest

from rra._base.yaml import parse_yaml
from rra.errors import Problem
from rra.schema import check_against

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["launchers"],
    "properties": {
        "title": {"type": "string"},
        "heading": {"type": "string", "deprecated": True, "x-replaced-by": "title"},
        "noise": {"$ref": "#/$defs/old"},
        "launchers": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "entry": {"type": "string"},
                    "limits": {"oneOf": [{"type": "string"}, {"$ref": "#/$defs/limits"}]},
                },
            },
        },
        "closed": {
            "type": "object",
            "properties": {"entry": {}},
            "additionalProperties": False,
        },
        "many": {"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]},
    },
    "$defs": {
        "old": {"deprecated": True},
        "limits": {"type": "object", "properties": {"wall": {"type": "number"}}},
    },
}


def said(text: str) -> list[Problem]:
    return check_against(parse_yaml(text, source="x.yaml"), SCHEMA, "none/else")


@pytest.mark.clause("versioning/deprecated-fields")
def test_a_deprecated_key_is_warned_about_with_what_replaces_it() -> None:
    (problem,) = said("launchers: {}\nheading: Wine\n")
    assert str(problem) == "x.yaml:2:1: heading is deprecated [versioning/deprecated-fields]"
    assert (problem.severity, problem.pointer) == ("warning", "/heading")
    assert problem.hint == "write title instead"


@pytest.mark.clause("versioning/deprecated-fields")
def test_a_deprecated_definition_is_warned_about_where_it_is_used() -> None:
    (problem,) = said("launchers: {}\nnoise: 3\n")
    assert problem.message == "noise is deprecated"
    assert problem.hint == "leave it out: nothing acts on it"


def test_a_key_that_is_nearly_right() -> None:
    (problem,) = said("launchers: {lda: {entri: a.sh}}\n")
    assert problem.message == "unknown key 'entri', nearest known key entry"
    assert problem.hint == "did you mean entry?"
    assert (problem.place, problem.severity) == ("x.yaml:1:19", "warning")
    assert problem.clause == "documents/unknown-key"


def test_a_required_key_that_is_nearly_there() -> None:
    problem, warning = said("launcher: {}\n")
    assert problem.message == "the document lacks the required key launchers"
    assert problem.hint == "rename launcher into launchers"
    assert warning.hint == "did you mean launchers?"


def test_keys_of_alternatives_and_of_all_parts_are_known() -> None:
    assert said("launchers: {a: {limits: {wall: 1}}}\nmany: {a: 1, b: 2}\n") == []
    (problem,) = said("launchers: {a: {limits: {wal: 1}}}\n")
    assert problem.pointer == "/launchers/a/limits/wal"
    (problem,) = said("launchers: {}\nmany: {a: 1, c: 2}\n")
    assert problem.pointer == "/many/c"


def test_keys_of_ones_own_are_free() -> None:
    assert said("launchers: {a: {x-own: {any: 1}}}\nx-lab: [1]\n") == []


def test_an_object_that_takes_no_other_keys_says_so_at_the_key() -> None:
    (problem,) = said("launchers: {}\nclosed:\n  entry: 1\n  entrie: 2\n")
    assert problem.message == "closed must not have the key entrie"
    assert problem.hint == "did you mean entry?"
    assert (problem.line, problem.column, problem.pointer) == (4, 3, "/closed")


@pytest.mark.clause("conformance/validator-all-at-once", "conformance/validator-says-where")
def test_all_problems_are_said_at_once_in_the_order_of_the_document() -> None:
    found = said("title: 1\nlaunchers:\n  a: {entry: [], limits: 3}\n  b: 1\nheading: 2\nnon: 1\n")
    assert [(problem.line, problem.severity) for problem in found] == [
        (1, "error"),
        (3, "error"),
        (3, "error"),
        (4, "error"),
        (5, "error"),
        (5, "warning"),
        (6, "warning"),
    ]
    assert all(problem.pointer and problem.clause and problem.hint for problem in found)
