from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import rra
from rra.errors import UsageError
from rra.model.verdicts import AuditVerdict, EvidenceLevel, Level, Verdict
from rra.report.clauses import find_clause
from rra.report.vocabulary import verdict
from rra.report.words import catalogue, error_slugs, explain_word
from rra.signing import SignatureState

ROOT = Path(__file__).resolve().parents[3]
WORDS = {
    *get_args(Verdict),
    *get_args(AuditVerdict),
    *get_args(EvidenceLevel),
    *get_args(Level),
    *error_slugs(),
    *SignatureState,
} - {"none"}


@pytest.mark.parametrize("word", sorted(WORDS))
def test_every_word_is_explained(word: str) -> None:
    text = explain_word(word)
    assert text.startswith(f"# {word}\n")
    assert "**What to do:** " in text


@pytest.mark.parametrize("word", get_args(Verdict))
def test_every_verdict_has_a_colour_and_plain_words(word: str) -> None:
    shown = verdict(word)
    assert "_" not in shown.text
    assert shown.tone in {"good", "mixed", "bad", "none"}
    assert (shown.tone == "good") == (word == "reproduced")


def test_no_error_is_explained_that_does_not_exist() -> None:
    explained = {word for word, entry in catalogue().items() if entry.kind == "error"}
    assert explained == set(error_slugs())


def test_words_are_found_without_their_case_and_detail() -> None:
    assert explain_word("hardcoded") == explain_word("HARDCODED")
    assert explain_word("inconclusive(single run)").startswith("# inconclusive\n")
    assert explain_word("key unknown").startswith("# key_unknown\n")


def test_an_unknown_word_gets_near_ones() -> None:
    with pytest.raises(UsageError) as caught:
        explain_word("reproducd")
    assert "reproduced" in caught.value.hint


@pytest.mark.parametrize(
    ("clause", "says"),
    [
        ("audit/qqqq", "An audit breaks the format"),
        ("[format/yaml]", "not valid YAML"),
        ("scan/syntax", "syntax error"),
        ("manifest/properties/launchers/type", "rra.yaml breaks the format"),
    ],
)
def test_a_clause_in_brackets_is_explained_by_its_family(clause: str, says: str) -> None:
    text = explain_word(clause)
    assert text.startswith(f"# {clause.strip('[]')}\n")
    assert says in text
    assert "**What to do:** " in text


def test_every_clause_of_the_sources_has_a_family() -> None:
    source = Path(rra.__file__).parent
    texts = (path.read_text("utf-8") for path in source.rglob("*.py"))
    clauses = {c for text in texts for c in re.findall(r'clause ?= ?"([a-z-]+/[a-z-]+)"', text)}
    assert len(clauses) > 20
    for clause in clauses:
        assert "\n*clause of " in explain_word(clause)


def test_a_clause_of_the_specification_is_its_requirement() -> None:
    text = explain_word("manifest/version-is-text")
    assert "`version` MUST be text, not a number." in text
    assert "Binds: producer. Checked by: schema. In spec/v1/manifest.md.\n" in text
    assert f"The whole page: {ROOT / 'spec/v1/manifest.md'}\n" in text


def test_a_clause_that_is_not_there_has_near_ones() -> None:
    with pytest.raises(UsageError) as caught:
        explain_word("manifest/version-is-txt")
    assert "manifest/version-is-text" in caught.value.hint


def test_every_clause_of_the_map_is_found_in_its_page() -> None:
    table = (ROOT / "spec/v1/clauses.md").read_text("utf-8")
    ids = re.findall(r"^\| `([a-z0-9-]+/[a-z0-9-]+)` \|", table, re.MULTILINE)
    assert len(ids) > 600
    missing = [clause for clause in ids if find_clause(clause) is None]
    assert missing == []


def test_a_slug_is_not_taken_for_a_clause() -> None:
    assert "*error*" in explain_word("format/invalid")


def test_not_assessed_is_explained_for_the_column_of_repeats_too() -> None:
    text = explain_word("not_assessed")
    assert "not comparable here" in text
    assert "column of repeats: there are no references" in text


@pytest.mark.parametrize(
    "word", ["material", "immaterial", "aggregated", "rescored", "re-evaluated", "retrained"]
)
def test_weights_and_scopes_are_explained(word: str) -> None:
    assert explain_word(word).startswith(f"# {word}\n")


def test_a_page_of_the_specification_lists_its_clauses() -> None:
    text = explain_word("manifest")
    assert text.startswith("# manifest\n\n*page of the specification*\n")
    assert len(re.findall(r"^- manifest/[a-z0-9-]+$", text, re.MULTILINE)) == 32


def test_a_clause_that_no_machine_checks_says_why() -> None:
    text = explain_word("annotations/no-truth")
    assert "Binds: consumer. No machine checks it: what a program believes" in text
