"""check-jsonschema with the schemas for editors gives the corpus' verdicts on the schema stage."""

from __future__ import annotations

import pytest

from tests.conformance.checker import check_files
from tests.conformance.corpus import IN_YAML, Case, cases
from tests.support.source import ROOT

#: Clauses about the text itself that check-jsonschema does not ask for, with the reason. A case
#: of any other clause of the yaml stage has to be refused.
NOT_ASKED: dict[str, str] = {}
DOCUMENTS = sorted({case.document for case in cases()})


def answers(document: str) -> dict[Case, str]:
    """Return, for each case of a document, the stage at which it was refused, or nothing."""
    asked = [case for case in cases() if case.document == document]
    schema = ROOT / "schemas" / "editor" / f"{document}.schema.json"
    filetype = "yaml" if document in IN_YAML else "json"
    found = check_files(schema, [case.file for case in asked], filetype=filetype)
    stages = dict.fromkeys(found.invalid, "schema") | dict.fromkeys(found.unreadable, "yaml")
    return {case: stages.get(case.file, "") for case in asked}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_verdicts_on_the_schema_stage_are_the_same(document: str) -> None:
    wrong = {
        case.name: (case.refused_at or "valid", said or "valid")
        for case, said in answers(document).items()
        if case.refused_at not in {"yaml", said}
    }
    assert wrong == {}


def test_what_is_no_text_of_the_format_is_refused_or_not_asked_for() -> None:
    taken = {}
    for document in DOCUMENTS:
        for case, said in answers(document).items():
            if case.refused_at == "yaml" and said != "yaml":
                taken[case.name] = case.clause
    assert {name: clause for name, clause in taken.items() if clause not in NOT_ASKED} == {}
    assert set(taken.values()) == set(NOT_ASKED)
