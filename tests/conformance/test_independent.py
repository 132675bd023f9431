"""A second checker, which shares no code with rra, gives the same verdicts on the corpus."""

from __future__ import annotations

import pytest

from rra.artifact.checking import check_bytes
from tests.conformance.corpus import Case, cases
from tests.conformance.independent import refused_at


def test_the_corpus_has_cases_of_both_stages() -> None:
    stages = [case.refused_at for case in cases()]
    assert all(stages.count(stage) >= 40 for stage in ("yaml", "schema", ""))


@pytest.mark.parametrize("document", sorted({case.document for case in cases()}))
def test_the_second_checker_says_what_is_expected(document: str) -> None:
    wrong = {
        case.name: (case.refused_at or "valid", found or "valid")
        for case in cases()
        if case.document == document
        and (found := refused_at(case.file.read_bytes(), document)) != case.refused_at
    }
    assert wrong == {}


@pytest.mark.parametrize("document", sorted({case.document for case in cases()}))
def test_rra_says_the_same_as_the_second_checker(document: str) -> None:
    wrong = {
        case.name: said for case in cases() if case.document == document and (said := both(case))
    }
    assert wrong == {}


def both(case: Case) -> tuple[str, str] | None:
    """Return both answers when they differ."""
    data = case.file.read_bytes()
    checked = check_bytes(data, case.document, source=case.name)
    ours = checked.stage if checked.errors and checked.stage in {"yaml", "schema"} else ""
    other = refused_at(data, case.document)
    return None if ours == other else (ours or "valid", other or "valid")
