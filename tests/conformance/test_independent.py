"""A second checker, which shares no code with rra, gives the same verdicts on the corpus."""

from __future__ import annotations

import pytest

from tests.conformance.corpus import cases
from tests.conformance.independent import refused_at

#: Cases that `ruamel.yaml`, which gives the second checker its events, reads otherwise than
#: YAML 1.2.2 has it; `rra` mends that in its scanner.
READ_OTHERWISE = {
    "valid/documents/tabs-between-tokens": "a tab behind a value is a fault to it (section 6.2)",
    "invalid/documents/comment-without-blank": '`"a"#b` has a comment to it (section 6.6)',
}


def test_the_corpus_has_cases_of_both_stages() -> None:
    stages = [case.refused_at for case in cases()]
    assert all(stages.count(stage) >= 40 for stage in ("yaml", "schema", ""))


@pytest.mark.parametrize("document", sorted({case.document for case in cases()}))
def test_the_second_checker_says_what_is_expected(document: str) -> None:
    wrong = {
        case.name: (case.refused_at or "valid", found or "valid")
        for case in cases()
        if case.document == document
        and case.name not in READ_OTHERWISE
        and (found := refused_at(case.file.read_bytes(), document)) != case.refused_at
    }
    assert wrong == {}
