"""What `tools/gen.py` refuses in the pages of the specification, tried on pages made for it."""

from __future__ import annotations

import pytest

from tools.clause_map import Checks, twice, undefined, unmapped
from tools.spec_text import read_page

GOOD = "- **page/right** (producer, validator; schema) A version MUST be text.\n"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("- **page/x** (producer; schema) A version is text.", "needs exactly one of"),
        ("- **page/x** (producer; schema) It MUST be and MUST stay.", "needs exactly one of"),
        ("- **page/x** (producer; schema) It SHALL be.", "needs exactly one of"),
        ("- **page/x** (reader; schema) It MUST be.", "reader is no class"),
        ("- **page/x** (producer; eye) It MUST be.", "eye is no checker"),
        ("- **page/x** (producer; declaration) It MUST be.", "gives its reason"),
        ("- **page/x** (producer; declaration: ) It MUST be.", "gives its reason"),
        ("- **page/x** (producer) It MUST be.", "a clause is written"),
        ("- **page/x** It MUST be.", "a clause is written"),
        ("* **page/x** (producer; schema) It MUST be.", "a clause is written"),
        ("  - **page/x** (producer; schema) It MUST be.", "a clause is written"),
        ("- **page/X** (producer; schema) It MUST be.", "is not <page>/<slug>"),
        ("- **other/x** (producer; schema) It MUST be.", "does not begin with the name"),
        (GOOD + GOOD, "is the id of another clause already"),
        ("A reader SHOULD look.", "SHOULD stands outside a clause"),
        ("| key | It MAY be left out |", "MAY stands outside a clause"),
        ("```yaml\nrra: 1\n", "a fenced block does not end"),
    ],
)
def test_faults_of_a_page(text: str, fault: str) -> None:
    faults = read_page(text, "spec/v1/page.md").faults
    assert len(faults) == 1
    assert faults[0].startswith("spec/v1/page.md:")
    assert fault in faults[0]


def test_a_page_without_faults() -> None:
    text = (
        "# Page\n\nIt may be so; `MUST` is a word.\n\n"
        "- **page/one** (producer; schema,\n  rule) A version MUST NOT\n  be a number.\n"
        "- **page/two** (auditor; recorder, declaration: it is about people, not files) It\n"
        "  SHOULD be kind.\n"
        "- an item\n\n```text\nMUST\n```\n"
    )
    page = read_page(text, "spec/v1/page.md")
    assert page.faults == []
    one, two = page.clauses
    assert (one.id, one.line, one.word) == ("page/one", 5, "MUST NOT")
    assert (one.classes, one.checkers) == (("producer",), ("schema", "rule"))
    assert one.text == "A version MUST NOT be a number."
    assert two.checkers == ("recorder", "declaration")
    assert two.reason == "it is about people, not files"
    assert [(fence.info, fence.text, fence.line) for fence in page.fences] == [
        ("text", "MUST\n", 12)
    ]


def test_the_page_of_terms_may_name_the_words() -> None:
    assert read_page('"MUST" is read as in RFC 2119.', "spec/v1/terminology.md").faults == []


@pytest.mark.parametrize(
    ("checker", "checks", "mapped"),
    [
        ("schema", Checks(), False),
        ("schema", Checks(schemas=["m#"]), False),
        ("schema", Checks(cases={"schema": ["a"]}), False),
        ("schema", Checks(schemas=["m#"], cases={"schema": ["a"]}), True),
        ("schema", Checks(schemas=["m#"], cases={"semantic": ["a"]}), False),
        ("rule", Checks(schemas=["m#"], cases={"schema": ["a"]}), False),
        ("rule", Checks(rules=["RRA001"]), True),
        ("rule", Checks(cases={"yaml": ["a"]}), True),
        ("rule", Checks(cases={"warning": ["a"]}), True),
        ("rule", Checks(tests=["t"]), True),
        ("recorder", Checks(rules=["RRA001"], sources=["src"]), False),
        ("executor", Checks(tests=["t"]), True),
        ("declaration: it is meant", Checks(), True),
    ],
)
def test_what_maps_a_clause(checker: str, checks: Checks, mapped: bool) -> None:  # noqa: FBT001
    text = f"- **page/x** (producer; {checker}) It MUST be.\n"
    (clause,) = read_page(text, "spec/v1/page.md").clauses
    faults = list(unmapped([clause], {"page/x": checks}))
    assert (faults == []) is mapped
    assert all("spec/v1/page.md:1: page/x" in fault for fault in faults)


def test_every_checker_of_a_clause_has_to_stand() -> None:
    text = "- **page/x** (producer; rule, executor) It MUST be.\n"
    page = read_page(text, "spec/v1/page.md")
    faults = list(unmapped(page.clauses, {"page/x": Checks(rules=["RRA001"])}))
    assert faults == ["spec/v1/page.md:1: page/x (executor): no test is marked with it"]


def test_ids_that_no_page_defines_are_named_with_their_place() -> None:
    page = read_page(GOOD, "spec/v1/page.md")
    checks = {"page/right": Checks(rules=["RRA001"]), "page/wrong": Checks(schemas=["m#/type"])}
    assert list(undefined(page.clauses, checks)) == [
        "m#/type: no page defines the clause page/wrong"
    ]


def test_one_id_on_two_pages_is_a_fault() -> None:
    pages = [read_page(GOOD, "spec/v1/page.md"), read_page(GOOD, "spec/page.md")]
    assert list(twice(pages)) == [
        "spec/page.md:1: page/right is defined in spec/v1/page.md already"
    ]
