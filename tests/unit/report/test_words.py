from __future__ import annotations

from typing import get_args

import pytest

from rra.audit.documents import AuditVerdict, EvidenceLevel
from rra.errors import UsageError
from rra.report.vocabulary import verdict
from rra.report.words import catalogue, error_slugs, explain_word
from rra.verify.documents import Level, Verdict

WORDS = {
    *get_args(Verdict),
    *get_args(AuditVerdict),
    *get_args(EvidenceLevel),
    *get_args(Level),
    *error_slugs(),
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


def test_an_unknown_word_gets_near_ones() -> None:
    with pytest.raises(UsageError) as caught:
        explain_word("reproducd")
    assert "reproduced" in caught.value.hint
