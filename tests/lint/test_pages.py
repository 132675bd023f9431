"""The examples of each rule's page do what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from rra.lint import Profile, Rule, explain, lint_artifact
from rra.lint.pages import Example, examples
from rra.lint.rule import rules
from tests.lint.support import write_artifact

RULES = list(rules().values())
EXAMPLES = [(rule, example) for rule in RULES for example in examples(rule)]
#: Their findings depend on the machine, on earlier runs, on who calls the linter, or on files that
#: are no text.
WITHOUT_FILES = {"RRA000", "RRA005", "RRA203", "RRA402", "RRA502"}


@pytest.mark.parametrize(
    ("rule", "example"),
    EXAMPLES,
    ids=[f"{rule.code}-{'good' if example.good else 'bad'}" for rule, example in EXAMPLES],
)
def test_the_example_does_what_the_page_says(
    rule: type[Rule], example: Example, tmp_path: Path
) -> None:
    root = write_artifact(tmp_path / "artifact", example.files)
    result = lint_artifact(root, profile=Profile.REPRODUCIBLE)
    found = {finding.rule for finding in result.findings}
    if example.good:
        assert result.findings == ()
    else:
        assert found == {rule.code}, "an example shows one thing"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_has_a_bad_and_a_good_example(rule: type[Rule]) -> None:
    if rule.code not in WITHOUT_FILES:
        assert sorted(example.good for example in examples(rule)) == [False, True]
        assert all(example.files for example in examples(rule))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_page_starts_with_the_code(rule: type[Rule]) -> None:
    page = explain(rule.code)
    assert page.startswith(f"# {rule.code}: {rule.name}\n")
    assert f"| {rule.severity} | {rule.profile} |" in page
    assert "## How to fix" in page


def test_the_smallest_artifact_is_in_order(tmp_path: Path) -> None:
    result = lint_artifact(write_artifact(tmp_path), profile=Profile.REPRODUCIBLE)
    assert result.findings == ()
    assert result.ok
