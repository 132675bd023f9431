"""Does a value agree with the reported one, and if not, is there a reason that a person sees?"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from decimal import Decimal

from rra.audit.documents import Finding
from rra.errors import SelectError
from rra.model import Launcher, Outcome
from rra.values.numbers import ReportedNumber, matches, rounds_to
from rra.values.selectors import Value
from rra.values.success import Judgement, judge


@dataclasses.dataclass(frozen=True, slots=True)
class Agreement:
    """What comparing an outcome's values with the report gave.

    Attributes:
        findings: Everything that was found.
        agrees: Whether the values support the report.
        documented: Whether they deviate exactly as the artifact documents.
        judgement: The success rule's answer; None when it could not be asked.
    """

    findings: tuple[Finding, ...]
    agrees: bool
    documented: bool = False
    judgement: Judgement | None = None


def compare(outcome: Outcome, launcher: Launcher, values: Sequence[Value]) -> Agreement:
    """Compare the values that runs gave with what was reported.

    A single value of a launcher that nobody calls deterministic agrees when it rounds to the
    report; when it does not, one run decides nothing.

    Args:
        outcome: What was reported.
        launcher: The launcher that makes it.
        values: At least one value, in the unit of the outcome.
    """
    try:
        judgement = judge(outcome, values, deterministic=steady(launcher))
    except SelectError as error:
        return Agreement((_finding("NOT_ASSESSED", "uncertain", error.message),), agrees=False)
    if judgement.agreement == "not_assessed":
        finding = _finding("NOT_ASSESSED", "uncertain", judgement.reason)
        return Agreement((finding,), agrees=False, judgement=judgement)
    if judgement.agreement == "pass" or (
        judgement.agreement == "inconclusive" and _rounds(outcome, values)
    ):
        return Agreement((), agrees=True, judgement=judgement)
    if judgement.agreement == "inconclusive":
        finding = _finding("NOT_ASSESSED", "uncertain", judgement.reason)
        return Agreement((finding,), agrees=False, judgement=judgement)
    documented = judgement.verdict == "deviates_as_documented"
    slips = [] if documented else _slips(outcome, values)
    found = slips or [_contradicted(judgement, documented=documented)]
    return Agreement(tuple(found), agrees=False, documented=documented, judgement=judgement)


def steady(launcher: Launcher) -> bool | None:
    """Return whether a launcher is deterministic: declared, refuted by seeds, or unknown."""
    if launcher.deterministic is not None:
        return launcher.deterministic
    return False if launcher.seeds is not None else None


def _contradicted(judgement: Judgement, *, documented: bool) -> Finding:
    return Finding(
        code="CONTRADICTED", status="refuted", material=not documented, message=judgement.reason
    )


def _slips(outcome: Outcome, values: Sequence[Value]) -> list[Finding]:
    """Say when the value would agree at another scale: a unit that is declared wrongly."""
    value = values[0]
    if not isinstance(value, Decimal) or not isinstance(outcome.reported, str):
        return []
    scale = matches(value, ReportedNumber.parse(outcome.reported))
    if scale is None or scale == 1:
        return []
    units = f"{outcome.selector.unit or 'none'} in the file, {outcome.unit or 'none'} reported"
    message = f"{value} agrees when multiplied by {scale:f}; declared units: {units}"
    return [_finding("UNIT_SUSPECT", "refuted", message)]


def _rounds(outcome: Outcome, values: Sequence[Value]) -> bool:
    if outcome.type != "number" or not isinstance(outcome.reported, str):
        return False
    reported = ReportedNumber.parse(outcome.reported)
    return all(isinstance(value, Decimal) and rounds_to(value, reported) for value in values)


def _finding(code: str, status: str, message: str) -> Finding:
    return Finding.model_validate(
        {"code": code, "status": status, "material": True, "message": message}
    )
