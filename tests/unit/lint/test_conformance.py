"""Conformance cases of other people: read, run, compared, and refused when they are malformed."""

from __future__ import annotations

from pathlib import Path

import pytest

from rra.api import spec_conformance
from rra.errors import FormatError, UsageError
from rra.lint.conformance import Outcome, read_cases, run_case
from tests.lint.support import write_artifact

SETTINGS = """\
title: Settings
document: settings
file: settings.yaml
stage: semantic
verdict: valid
"""
INVALID = """\
title: A key given twice
document: settings
file: settings.yaml
stage: yaml
verdict: invalid
clause: documents/duplicate-key
pointer: ""
"""


def case(root: Path, name: str, expect: str, text: str | bytes = "{}\n") -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "expect.yaml").write_text(expect)
    content = text.encode() if isinstance(text, str) else text
    (folder / "settings.yaml").write_bytes(content)
    return folder


def run(root: Path) -> list[Outcome]:
    return [run_case(one) for one in read_cases(root)]


def test_cases_are_found_at_any_depth_and_named_by_their_folder(tmp_path: Path) -> None:
    case(tmp_path, "valid/settings/smallest", SETTINGS)
    case(tmp_path, "invalid/settings/twice", INVALID, "a: {}\na: {}\n")
    case(tmp_path, "more", SETTINGS)
    found = run(tmp_path)
    assert [(one.case.name, one.case.page, one.agrees) for one in found] == [
        ("invalid/settings/twice", "settings", True),
        ("more", "", True),
        ("valid/settings/smallest", "settings", True),
    ]


def test_a_folder_may_be_a_case_itself(tmp_path: Path) -> None:
    folder = case(tmp_path, "one", SETTINGS)
    assert [one.case.name for one in run(folder)] == ["one"]


@pytest.mark.parametrize(
    ("expect", "text", "difference"),
    [
        (SETTINGS, "a: {}\na: {}\n", "verdict"),
        (INVALID, "{}\n", "verdict"),
        (INVALID, "a: 1\n", "stage"),
        (INVALID.replace("duplicate-key", "dates"), "a: {}\na: {}\n", "clause"),
        (INVALID.replace('pointer: ""', "pointer: /b"), "a: {}\na: {}\n", "pointer"),
        (INVALID, "a: {}\na: {}\n", ""),
        (INVALID, b"a: \xff\n", "clause"),
    ],
)
def test_in_which_respect_found_and_expected_differ(
    tmp_path: Path, expect: str, text: str | bytes, difference: str
) -> None:
    case(tmp_path, "a", expect, text)
    (outcome,) = run(tmp_path)
    assert outcome.difference == difference
    assert outcome.to_json()["difference"] == difference


def test_warnings_of_a_valid_document_are_all_expected_ones(tmp_path: Path) -> None:
    text = "seed:\n  value: 1\n  source: paper\n  where: p. 3\n  rationale: why\n  wher: x\n"
    plain = case(tmp_path, "plain", SETTINGS, text)
    (outcome,) = run(tmp_path)
    assert (outcome.found.verdict, outcome.difference) == ("valid", "warnings")
    warning = 'warnings: [{clause: documents/unknown-key, pointer: "/seed/wher"}]\n'
    (plain / "expect.yaml").write_text(SETTINGS + warning)
    assert [one.agrees for one in run(tmp_path)] == [True]


def test_an_artifact_is_a_whole_folder(tmp_path: Path) -> None:
    folder = write_artifact(tmp_path / "artifact", {"README.md": "⟦fill: what it is⟧\n"})
    expect = "title: A blank\ndocument: artifact\nfile: .\nstage: artifact\n"
    blank = "verdict: invalid\nclause: guide/blanks\npointer: ''\n"
    (folder / "expect.yaml").write_text(expect + blank)
    (outcome,) = run(tmp_path)
    assert {problem.path for problem in outcome.problems} >= {"artifact/README.md"}
    assert outcome.found.stage == "artifact"
    assert outcome.found.verdict == "invalid"
    (folder / "README.md").write_text("# Wine\n")
    (folder / "expect.yaml").write_text(expect + "verdict: valid\n")
    assert [one.agrees for one in run(tmp_path)] == [True]
    (folder / "rra.yaml").write_text("rra: [\n")
    assert run(tmp_path)[0].found.stage == "yaml"


@pytest.mark.parametrize(
    ("expect", "place", "says"),
    [
        ("title: [\n", "bad/expect.yaml:", "not valid YAML"),
        (SETTINGS.replace("stage: semantic", "stage: parse"), "bad/expect.yaml:4:1", "parse"),
        (SETTINGS.replace("title", "titel"), "bad/expect.yaml:1:1", "did you mean title"),
        (SETTINGS + "clause: a/b\n", "bad/expect.yaml:6:1", "does not belong there"),
        (INVALID.replace("clause: documents/duplicate-key\n", ""), "bad/expect.yaml:1:1", "clause"),
        (SETTINGS.replace("settings.yaml", "../x"), "bad/expect.yaml:3:1", "leads outside"),
        (SETTINGS.replace("document: settings", "document: s"), "bad/expect.yaml:2:1", "is 's'"),
    ],
)
def test_a_malformed_expectation_is_named_with_file_and_line(
    tmp_path: Path, expect: str, place: str, says: str
) -> None:
    case(tmp_path, "bad", expect)
    case(tmp_path, "good", SETTINGS)
    with pytest.raises(FormatError, match="malformed") as caught:
        read_cases(tmp_path)
    problems = caught.value.problems
    assert all(problem.place.startswith(place) for problem in problems)
    assert any(says in f"{problem.message}; {problem.hint}" for problem in problems)


def test_all_malformed_expectations_are_named_at_once(tmp_path: Path) -> None:
    for name in ("a", "b"):
        case(tmp_path, name, "title: 1\n")
    with pytest.raises(FormatError) as caught:
        read_cases(tmp_path)
    assert {problem.path for problem in caught.value.problems} == {"a/expect.yaml", "b/expect.yaml"}


def test_the_folder_and_the_verdict_go_together(tmp_path: Path) -> None:
    case(tmp_path, "invalid/settings/a", SETTINGS)
    with pytest.raises(FormatError) as caught:
        read_cases(tmp_path)
    assert caught.value.problems[0].place == "invalid/settings/a/expect.yaml:5:1"


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        read_cases(tmp_path / "absent")
    with pytest.raises(UsageError, match="no case below"):
        read_cases(tmp_path)
    case(tmp_path, "a", SETTINGS.replace("settings.yaml", "other.yaml"))
    with pytest.raises(UsageError, match=r"the case a has no file other\.yaml"):
        run(tmp_path)


def test_a_malformed_expectation_does_not_hide_the_other_cases(tmp_path: Path) -> None:
    case(tmp_path, "bad", "title: 1\n")
    case(tmp_path, "good", SETTINGS)
    report = spec_conformance(tmp_path)
    assert [(one.case.name, one.agrees) for one in report.outcomes] == [("good", True)]
    assert {problem.path for problem in report.problems} == {"bad/expect.yaml"}
    assert (report.ok, report.exit_code) == (False, 4)
