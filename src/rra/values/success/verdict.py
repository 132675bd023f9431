"""One verdict from two answers, by a fixed table."""

from __future__ import annotations

from rra.model import Deviation
from rra.values.success.judgement import Answer, Assessment, Verdict

#: Agreement, then repeatability.
_TABLE: dict[tuple[Answer, Answer], Verdict] = {
    ("pass", "pass"): "reproduced",
    ("pass", "not_assessed"): "reproduced",
    ("pass", "inconclusive"): "inconclusive",
    ("pass", "fail"): "not_reproduced",
    ("inconclusive", "pass"): "inconclusive",
    ("inconclusive", "not_assessed"): "inconclusive",
    ("inconclusive", "inconclusive"): "inconclusive",
    ("inconclusive", "fail"): "not_reproduced",
    ("fail", "pass"): "deviates",
    ("fail", "not_assessed"): "not_reproduced",
    ("fail", "inconclusive"): "inconclusive",
    ("fail", "fail"): "not_reproduced",
}


def combine(
    agreement: Assessment,
    repeatability: Assessment,
    *,
    detail: str = "",
    deviation: Deviation | None = None,
    documented: bool = False,
) -> tuple[Verdict, str, str]:
    """Combine the two answers.

    A value that does not agree but is exactly the one that the artifact declares as its deviation
    deviates as documented; without references the declaration is what it repeats. Agreement alone
    reproduces where there are no references, and the reason says so.

    Args:
        agreement: Answer to the first question.
        repeatability: Answer to the second question.
        detail: What keeps agreement open.
        deviation: The deviation that the artifact declares.
        documented: Whether the fresh value equals it at its decimals.

    Returns:
        Verdict, detail of an inconclusive one, reason.
    """
    if agreement.answer == "not_assessed":
        return "not_assessed", "", agreement.reason
    verdict = _TABLE[agreement.answer, repeatability.answer]
    reason = f"{agreement.reason}; {repeatability.reason}"
    if verdict == "inconclusive":
        return verdict, detail or "noisy references", reason
    alone = repeatability.answer == "not_assessed"
    if verdict == "reproduced":
        suffix = f" (agreement alone: {repeatability.reason})"
        return verdict, "", agreement.reason + suffix if alone else reason
    if deviation is None:
        return verdict, "", reason
    if documented and repeatability.answer != "fail":
        said = f"{agreement.reason}; as the artifact documents: {deviation.observed}"
        return "deviates_as_documented", "", said
    return verdict, "", f"{reason}; the artifact documents {deviation.observed} instead"
