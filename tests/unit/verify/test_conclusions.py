"""Verdicts of several outcomes together, and the level that they earn."""

from __future__ import annotations

from typing import get_args

import pytest

from rra.audit.documents import Finding
from rra.audit.verdicts import worst
from rra.model.verdicts import (
    SUPPORTED_VERDICTS,
    VERDICT_ORDER,
    AuditVerdict,
    Verdict,
    combine_verdicts,
)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["reproduced", "reproduced"], "reproduced"),
        (["reproduced", "not_assessed"], "reproduced"),
        (["reproduced", "deviates_as_documented"], "deviates_as_documented"),
        (["reproduced", "deviates"], "partial"),
        (["reproduced", "could_not_run"], "partial"),
        (["reproduced", "inconclusive"], "partial"),
        (["could_not_run", "could_not_run"], "could_not_run"),
        (["could_not_run", "not_reproduced"], "not_reproduced"),
        (["deviates", "inconclusive"], "deviates"),
        (["not_assessed"], "not_assessed"),
        ([], "not_assessed"),
    ],
)
def test_combine(verdicts: list[Verdict], expected: Verdict) -> None:
    assert combine_verdicts(verdicts) == expected


def test_the_worst_finding_gives_the_verdict_of_an_audit() -> None:
    def finding(code: str, status: str = "refuted", *, material: bool = True) -> Finding:
        return Finding.model_validate(
            {"code": code, "status": status, "material": material, "message": "m"}
        )

    assert worst([]) == "SUPPORTED"
    assert worst([finding("STALE"), finding("HARDCODED")]) == "HARDCODED"
    assert worst([finding("HARDCODED"), finding("TAMPERED")]) == "TAMPERED"
    assert worst([finding("HARDCODED", "uncertain")]) == "SUPPORTED"
    assert worst([finding("UNEXECUTED", material=False)]) == "SUPPORTED"
    assert worst([finding("AMBIGUOUS", "uncertain")]) == "AMBIGUOUS"
    assert worst([], documented=True) == "CONTRADICTED"


def test_every_verdict_of_an_audit_has_its_place_in_the_order() -> None:
    assert {*VERDICT_ORDER, *SUPPORTED_VERDICTS} == set(get_args(AuditVerdict))
