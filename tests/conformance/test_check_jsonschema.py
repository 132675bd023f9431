"""check-jsonschema with the schemas for editors gives the corpus' verdicts on the schema stage."""

from __future__ import annotations

import pytest

from tests.conformance.checker import check_files
from tests.conformance.corpus import IN_YAML, Case, cases
from tests.support.source import ROOT

#: Clauses about the text itself, and single cases, that are not given to check-jsonschema, with
#: the reason: it would give no verdict on the other files of the call either.
NOT_GIVEN = {
    "documents/alias-cycle": "it ends with a RecursionError",
    "documents/alias-expansion": "it writes the copies out, without any bound",
    "invalid/documents/tag-that-does-not-fit": "its reader of YAML ends with a ValueError",
    "invalid/documents/very-long-integer": "its reader of YAML ends with a ValueError",
}
#: Clauses about the text itself that check-jsonschema does not hold every document to, with the
#: reason. A case of any other clause of the yaml stage has to be refused.
NOT_ASKED = {
    "documents/alias-limit": "it does not count aliases",
    "documents/bidirectional": "YAML 1.2.2 allows these characters; the format does not",
    "documents/byte-order-mark": "YAML 1.2.2 allows it inside of a text",
    "documents/depth": "it reads as deep as Python can",
    "documents/duplicate-key": "its reader of JSON keeps the last one",
    "documents/finite-numbers": "its readers know infinity and NaN",
    "documents/integer-range": "its readers have integers of any size",
    "documents/json-byte-order-mark": "its reader of JSON passes over it",
    "documents/keys-are-text": "it makes text of other keys",
    "documents/line-breaks": "YAML 1.2.2 allows these characters; the format does not",
    "documents/merge-key": "it merges",
    "documents/no-null-character": "YAML and JSON allow it by an escape; the format does not",
    "documents/number-precision": "it rounds as binary64 does",
    "documents/surrogates": "texts of Python can hold half of a pair",
    "documents/tags": "it knows the tags of YAML 1.1, and %TAG",
    "documents/utf-8": "its readers know UTF-16",
    "documents/yaml-version": "it reads YAML 1.1 when a directive says so",
}
#: Valid cases that it refuses: its reader of YAML takes something for something else than YAML
#: 1.2.2 says, or words of a newer minor number are not known to it.
READ_OTHERWISE = {
    "valid/documents/core-tags": "`! 1984` is a number to it, and text by section 10.3.2",
    "valid/documents/underscores": "`1_000` is a number to it, and text by section 10.3.2",
    "valid/versioning/newer-minor-recorder": "it does not know open lists (x-open)",
    "valid/versioning/newer-minor-unknown-kind": "it does not know open lists (x-open)",
    "valid/versioning/newer-minor-unknown-locator": "it does not know open lists (x-open)",
}
DOCUMENTS = sorted({case.document for case in cases()})


def answers(document: str, *, text: bool) -> dict[Case, str]:
    """Return the stage at which each case of a document was refused, or nothing.

    Args:
        document: The document.
        text: Whether the cases about its text are asked for, or the others.
    """
    asked = [
        case
        for case in cases()
        if case.document == document
        and (case.refused_at == "yaml") is text
        and NOT_GIVEN.keys().isdisjoint({case.clause, case.name})
    ]
    if not asked:
        return {}
    schema = ROOT / "schemas" / "editor" / f"{document}.schema.json"
    filetype = "yaml" if document in IN_YAML else "json"
    found = check_files(schema, [case.file for case in asked], filetype=filetype)
    stages = dict.fromkeys(found.invalid, "schema") | dict.fromkeys(found.unreadable, "yaml")
    return {case: stages.get(case.file, "") for case in asked}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_verdicts_on_the_schema_stage_are_the_same(document: str) -> None:
    wrong = {
        case.name: (case.refused_at or "valid", said or "valid")
        for case, said in answers(document, text=False).items()
        if said != case.refused_at
    }
    expected = {case.name for case in cases() if case.document == document} & set(READ_OTHERWISE)
    assert {name: what for name, what in wrong.items() if name not in expected} == {}
    assert set(wrong) == expected


def test_what_is_no_text_of_the_format_is_refused_or_not_asked_for() -> None:
    taken = {
        case.name: case.clause
        for document in DOCUMENTS
        for case, said in answers(document, text=True).items()
        if not said
    }
    assert {name: clause for name, clause in taken.items() if clause not in NOT_ASKED} == {}
    assert set(taken.values()) == set(NOT_ASKED)
    assert {name for case in cases() for name in (case.clause, case.name)} >= set(NOT_GIVEN)
