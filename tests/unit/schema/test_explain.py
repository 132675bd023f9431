"""What a fault says in words, and what it tells to write instead."""

from __future__ import annotations

import json

import pytest

from rra._base.yaml import parse_yaml
from rra.errors import FormatError, Problem
from rra.schema import check_document

SMALLEST = """\
rra: "1.0"
name: wine-discriminant
version: 1.0.0
license: MIT
environments: {cpu: {kind: pylock, python: "3.11", lock: environment/cpu/pylock.toml}}
launchers:
  lda: {entry: launchers/lda.sh, environment: cpu, outputs: [metrics.json]}
experiments:
  table1-lda:
    outcomes:
      accuracy: {type: number, reported: "98.9", unit: percent,
        selector: {launcher: lda, file: metrics.json, json: /accuracy, unit: fraction}}
"""


def only(text: str) -> Problem:
    (problem,) = check_document(parse_yaml(text, source="rra.yaml"), "manifest")
    return problem


ADDED = [
    (
        "source: {repository: 'https://me:secret@forge.example/a.git'}",
        "repository holds a user name or password",
        "leave it out: give the address without what stands before the @",
    ),
    (
        "source: {repository: 7}",
        "repository must be text, not the number 7",
        'quote it: repository: "7"',
    ),
    ("source: {repository: [a]}", 'repository must be text, not ["a"]', ""),
    ("keywords: [a, b, true]", "item 3 of keywords must be text, not true", 'quote it: "true"'),
    ("keywords: [a, 7]", "item 2 of keywords must be text, not the number 7", 'quote it: "7"'),
    ("title: false", "title must be text, not false", 'quote it: title: "false"'),
    (
        "keywords: [a, null]",
        "item 2 of keywords has no value",
        "give it one, or leave the key out if it is optional",
    ),
    ("keywords: [a, a]", "keywords has the same item twice", "keep one of them"),
    ("keywords: ['']", "item 1 of keywords is empty", "leave it out if it is optional"),
    ("keywords: wine", "keywords must be a list, not 'wine'", "write a list: [wine]"),
    ("keywords: {a: 1}", 'keywords must be a list, not {"a": 1}', "after a dash and a space"),
    (
        "paper: {title: A, year: '2019'}",
        "year must be a whole number, not '2019'",
        "write it without quotes: 2019",
    ),
    ("paper: [a]", 'paper must be a map, not ["a"]', "indented under paper"),
]


@pytest.mark.parametrize(("line", "message", "hint"), ADDED)
def test_one_fault_in_words_and_what_to_write(line: str, message: str, hint: str) -> None:
    problem = only(f"{SMALLEST}{line}\n")
    assert problem.message == message
    assert hint in problem.hint


REPLACED = [
    ("license: MIT", "license: null", "license has no value", "give it one, or leave the key out"),
    ("[metrics.json]", "metrics.json", "outputs must be a list", "write a list: [metrics.json]"),
    ("/accuracy", "accuracy", "json is 'accuracy', which does not fit", "with a slash: /accuracy"),
    (
        "file: metrics.json",
        "file: /abs/x",
        "file is the absolute path '/abs/x'",
        "name it relative to the output directory of the launcher",
    ),
    (
        "[metrics.json]",
        "[/abs/x]",
        "item 1 of outputs is the absolute path '/abs/x'",
        "name it relative to the output directory of the launcher",
    ),
    ("license: MIT\n", "", "lacks the required key license", "such as license: MIT"),
    ('rra: "1.0"\n', "", "lacks the required key rra", "add rra at the top of the document, such"),
]


@pytest.mark.parametrize(("old", "new", "message", "hint"), REPLACED)
def test_what_stands_wrongly_is_said_with_its_remedy(
    old: str, new: str, message: str, hint: str
) -> None:
    problem = only(SMALLEST.replace(old, new, 1))
    assert message in problem.message
    assert hint in problem.hint


def test_a_password_is_not_repeated() -> None:
    problem = only(f"{SMALLEST}source: {{repository: 'https://me:secret@forge.example/a'}}\n")
    assert "secret" not in str(problem) + problem.hint
    assert problem.clause == "manifest/source-without-credentials"


def test_an_empty_list_of_what_is_missing_is_said_in_words() -> None:
    text = f"{SMALLEST}status: {{standard: rra/v1, incomplete: []}}\n"
    found = check_document(parse_yaml(text, source="rra.yaml"), "manifest")
    assert "incomplete is empty" in [problem.message for problem in found]


def test_words_of_json_are_not_those_of_python() -> None:
    text = SMALLEST.replace("[metrics.json]", json.dumps({"a": None, "b": True}))
    assert 'not {"a": null, "b": true}' in only(text).message


def test_a_colon_in_a_text_without_quotes() -> None:
    with pytest.raises(FormatError) as caught:
        parse_yaml("title: A study: on things\n", source="rra.yaml")
    assert "put the value between quotes" in caught.value.problems[0].hint


def test_a_key_given_twice_names_the_line_of_the_first() -> None:
    with pytest.raises(FormatError) as caught:
        parse_yaml("a: 1\nb: 2\na: 3\n", source="rra.yaml")
    (problem,) = caught.value.problems
    assert problem.line == 3
    assert problem.message == "key 'a' is given twice, first on line 1"
    assert problem.hint == "keep one of the two, or give one of them another name"
