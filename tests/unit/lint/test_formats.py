from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from rra.errors import UsageError
from rra.lint import Finding, LintResult, Profile, Severity, format_result, lint_artifact
from tests.lint.support import write_artifact

HOSTILE = Finding(
    "RRA102",
    Severity.WARNING,
    "100% of::error::\nit, here",
    "code/a,b:c d.py",
    3,
    7,
    hint="take it out",
)


def result(*findings: Finding) -> LintResult:
    return LintResult(findings, (), Profile.BASIC, ("RRA102", "RRA103"), {}, 5)


def test_text_gives_place_hint_and_a_summary() -> None:
    finding = Finding("RRA103", Severity.ERROR, "is a pointer", "code/x", 1, hint="pull it")
    assert format_result(result(finding)) == (
        "code/x:1: error RRA103 is a pointer\n"
        "    pull it\n"
        "1 error (2 rules over 5 files, profile basic)\n"
    )


def test_text_of_nothing() -> None:
    assert format_result(result()) == (
        "nothing to object to (2 rules over 5 files, profile basic)\n"
    )


def test_json_has_every_part() -> None:
    plain = json.loads(format_result(result(HOSTILE), "json"))
    assert plain["counts"] == {"error": 0, "warning": 1, "note": 0}
    assert plain["findings"][0]["path"] == "code/a,b:c d.py"
    assert plain["ok"] is True


def test_github_commands_cannot_be_broken_out_of() -> None:
    assert format_result(result(HOSTILE), "github") == (
        "::warning file=code/a%2Cb%3Ac d.py,title=RRA102,line=3,col=7"
        "::100%25 of::error::%0Ait, here%0Atake it out\n"
    )


def test_sarif_points_to_rule_and_place() -> None:
    log = json.loads(format_result(result(HOSTILE), "sarif"))
    run = log["runs"][0]
    found = run["results"][0]
    assert log["version"] == "2.1.0"
    assert run["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == found["ruleId"] == "RRA102"
    assert found["level"] == "warning"
    assert found["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "code/a%2Cb%3Ac%20d.py"},
        "region": {"startLine": 3, "startColumn": 7},
    }


def test_sarif_keeps_what_is_overlooked_with_its_reason(tmp_path: Path) -> None:
    files = {
        "code/main.py": "open('/home/agnes/wine.csv')\n",
        "rra.yaml": "x-lint: {ignore: {RRA102: a comment}}\n",
    }
    log = json.loads(format_result(lint_artifact(write_artifact(tmp_path, files)), "sarif"))
    (found,) = log["runs"][0]["results"]
    assert found["suppressions"] == [{"kind": "inSource", "justification": "a comment"}]


@pytest.mark.parametrize(("stage", "said"), [("yaml", "text cannot be read"), ("schema", "schema")])
def test_every_form_says_what_a_fault_kept_from_being_looked_at(stage: str, said: str) -> None:
    skipped = {"RRA102": "the manifest cannot be used"}
    broken = Finding("RRA001", Severity.ERROR, "twice", "rra.yaml", 3, 1, "", clause="documents/x")
    stopped = dataclasses.replace(result(broken), stage=stage, skipped=skipped)
    assert "not looked at: " in format_result(stopped)
    assert said in format_result(stopped).splitlines()[1]
    plain = json.loads(format_result(stopped, "json"))
    assert said in plain["unchecked"]
    assert plain["findings"][0]["pointer"] == ""
    first, notice = format_result(stopped, "github").splitlines()
    assert first == "::error file=rra.yaml,title=RRA001,line=3,col=1::twice [documents/x]"
    assert notice.startswith("::notice title=rra lint::not looked at: ")
    assert notice.endswith("; 1 rule not applied")
    (run,) = json.loads(format_result(stopped, "sarif"))["runs"]
    assert run["results"][0]["properties"] == {"clause": "documents/x"}
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert said in note["message"]["text"]


def test_nothing_is_said_to_be_left_out_when_all_stages_ran() -> None:
    assert "unchecked" not in json.loads(format_result(result(HOSTILE), "json"))
    assert "invocations" not in json.loads(format_result(result(HOSTILE), "sarif"))["runs"][0]
    assert "pointer" not in HOSTILE.to_json()


def test_an_unknown_format_is_an_error() -> None:
    with pytest.raises(UsageError, match="no format xml"):
        format_result(result(), "xml")


def test_rules_that_could_not_run_are_one_line_for_each_reason() -> None:
    skipped = {f"RRA10{n}": "the manifest cannot be used" for n in range(5)} | {
        "RRA402": "no guide"
    }
    text = format_result(dataclasses.replace(result(), skipped=skipped))
    assert text.splitlines()[:-1] == [
        "not applied: 5 rules (the manifest cannot be used)",
        "not applied: RRA402 (no guide)",
    ]
