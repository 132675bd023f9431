"""The words that audits and reproductions conclude with, and the fixed tables behind them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal, get_args

EvidenceLevel = Literal["E0", "E1", "E2", "E3", "E4", "E5"]
"""How far a value could be followed (spec: audit)."""

FindingStatus = Literal["supported", "refuted", "uncertain"]

AuditVerdict = Literal[
    "SUPPORTED",
    "SUPPORTED_DERIVED",
    "TAMPERED",
    "HARDCODED",
    "LEAKED_REFERENCE",
    "CONTRADICTED",
    "MISATTRIBUTED",
    "PM_MISMATCH",
    "DELTA_ERROR",
    "IMPLAUSIBLE",
    "SELECTIVE",
    "UNIT_SUSPECT",
    "DATA_MISMATCH",
    "SEED_MISMATCH",
    "STALE",
    "INCOMPLETE_RECORD",
    "UNEXECUTED",
    "UNTRACEABLE",
    "AMBIGUOUS",
    "NOT_ASSESSED",
]

SUPPORTED_VERDICTS: tuple[AuditVerdict, ...] = ("SUPPORTED", "SUPPORTED_DERIVED")

VERDICT_ORDER: tuple[AuditVerdict, ...] = tuple(
    word for word in get_args(AuditVerdict) if word not in SUPPORTED_VERDICTS
)
"""Words that a finding can trigger, worst first: defective, unsupported, undecided."""

UNDECIDED: frozenset[AuditVerdict] = frozenset({"AMBIGUOUS", "NOT_ASSESSED"})
"""Words that an uncertain finding triggers too."""

Verdict = Literal[
    "reproduced",
    "deviates_as_documented",
    "deviates",
    "partial",
    "not_reproduced",
    "inconclusive",
    "could_not_run",
    "not_assessed",
]
"""Verdict of a reproduction on an outcome, an experiment or the artifact."""

Level = Literal["none", "L0", "L1", "L2", "L3"]
"""Level that an execution can earn; the next one is the reader's to give."""

_WORST: tuple[Verdict, ...] = (
    "not_reproduced",
    "deviates",
    "could_not_run",
    "inconclusive",
    "deviates_as_documented",
)


def worst_verdict(triggered: Collection[str]) -> AuditVerdict:
    """Return the worst of the words that findings trigger; ``SUPPORTED`` when there is none."""
    return next((word for word in VERDICT_ORDER if word in triggered), "SUPPORTED")


def triggers(code: str, status: str, *, material: bool) -> bool:
    """Tell whether a finding triggers its word: material, and refuted or left open by its kind."""
    return material and (status == "refuted" or (status == "uncertain" and code in UNDECIDED))


def combine_verdicts(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of several outcomes together.

    All the same: that one. Reproduced and documented deviations: ``deviates_as_documented``.
    Some reproduced and some not: ``partial``. None reproduced: the worst.
    """
    found = set(verdicts) - {"not_assessed"}
    if not found:
        return "not_assessed"
    if len(found) == 1:
        return next(iter(found))
    if found == {"reproduced", "deviates_as_documented"}:
        return "deviates_as_documented"
    if found & {"reproduced", "partial"}:
        return "partial"
    return next(word for word in _WORST if word in found)
