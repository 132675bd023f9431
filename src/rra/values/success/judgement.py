"""What judging one outcome returns: two answers, one verdict, and the numbers behind them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Literal

Answer = Literal["pass", "fail", "inconclusive", "not_assessed"]
"""Answer to one question. ``not_assessed``: there was nothing to answer it with."""

Verdict = Literal[
    "reproduced",
    "deviates_as_documented",
    "deviates",
    "not_reproduced",
    "inconclusive",
    "not_assessed",
]
"""Verdict of one outcome. ``not_assessed``: its values are declared not comparable here."""

Rule = Literal[
    "reference-runs",
    "paper-spread",
    "references",
    "own-runs",
    "deterministic",
    "exact",
    "none",
]
"""Which branch of the rule answered."""

Interval = tuple[Decimal, Decimal]


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """Something that whoever reads the verdict should know; it does not change the verdict.

    Attributes:
        code: Stable name: ``non-finite``, ``out-of-bounds``, ``outlier``, ``variance-ratio``,
            ``not-deterministic``, ``better``, ``within-one-item``, ``too-few-references``,
            ``self-referenced``, ``deviation-not-seen``, ``unusable-spread``.
        message: One sentence with the values.
    """

    code: str
    message: str


@dataclasses.dataclass(frozen=True, slots=True)
class Assessment:
    """The answer to one question, with every number in the unit of the outcome.

    Attributes:
        answer: Pass, fail, inconclusive or not assessed.
        reason: One sentence with the values compared.
        rule: The branch that answered.
        centre: Middle of the interval.
        h: Half-width that decided.
        interval: Values that pass, clipped to the declared bounds.
        z: Difference in standard errors; None when there is no spread.
        detectable: Shift that would be caught four times in five: for the smallest and the
            largest spread that the runs are compatible with (95 %).
        more_runs: Further runs after which the answer would be decided; None when it is, or when
            no number of runs would do.
    """

    answer: Answer
    reason: str
    rule: Rule = "none"
    centre: Decimal | None = None
    h: Decimal | None = None
    interval: Interval | None = None
    z: Decimal | None = None
    detectable: Interval | None = None
    more_runs: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return a plain JSON value; numbers as text with at most twelve digits."""
        return {
            "answer": self.answer,
            "reason": self.reason,
            "rule": self.rule,
            "centre": _text(self.centre),
            "h": _text(self.h),
            "interval": _texts(self.interval),
            "z": _text(self.z),
            "detectable": _texts(self.detectable),
            "more_runs": self.more_runs,
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one outcome (`rra-success/v1`).

    Attributes:
        verdict: Both questions together.
        detail: What makes an ``inconclusive`` so: ``single run``, ``smoke``, ``shortened``,
            ``noisy references``; else empty.
        reason: One or two sentences for a reader.
        agreement_test: Is the paper's value what this artifact gives?
        repeatability_test: Does a new run give what earlier runs gave?
        mean: Mean of the fresh values; None for categories and lists.
        reported: The reported value as text.
        g: Granularity: the difference that is no difference, in the unit of the outcome.
        fresh: Number of fresh values.
        references: Number of reference values.
        alpha: Level of this single test, after any division by the number of outcomes.
        findings: What else was seen.
    """

    verdict: Verdict
    detail: str
    reason: str
    agreement_test: Assessment
    repeatability_test: Assessment
    mean: Decimal | None
    reported: str
    g: Decimal | None
    fresh: int
    references: int
    alpha: float
    findings: tuple[Finding, ...] = ()

    @property
    def agreement(self) -> Answer:
        """Answer to the first question."""
        return self.agreement_test.answer

    @property
    def repeatability(self) -> Answer:
        """Answer to the second question."""
        return self.repeatability_test.answer

    @property
    def deciding(self) -> Assessment:
        """The assessment whose numbers explain the verdict best.

        A failed or open question comes first, then repeatability, then agreement.
        """
        both = (self.repeatability_test, self.agreement_test)
        for answer in ("fail", "inconclusive", "pass"):
            for assessment in both:
                if assessment.answer == answer:
                    return assessment
        return self.agreement_test

    @property
    def h(self) -> Decimal | None:
        """Half-width of the deciding interval."""
        return self.deciding.h

    @property
    def z(self) -> Decimal | None:
        """Difference in standard errors of the deciding test."""
        return self.deciding.z

    @property
    def detectable(self) -> Interval | None:
        """Range of the shift that the deciding test would catch four times in five."""
        return self.deciding.detectable

    @property
    def more_runs(self) -> int | None:
        """How many more runs would decide."""
        return self.deciding.more_runs

    @property
    def label(self) -> str:
        """The verdict with its detail: ``inconclusive(single run)``."""
        return f"{self.verdict}({self.detail})" if self.detail else self.verdict

    def to_json(self) -> dict[str, Any]:
        """Return a plain JSON value; numbers as text with at most twelve digits."""
        return {
            "rule": "rra-success/v1",
            "verdict": self.verdict,
            "detail": self.detail,
            "label": self.label,
            "reason": self.reason,
            "agreement": self.agreement_test.to_json(),
            "repeatability": self.repeatability_test.to_json(),
            "mean": _text(self.mean),
            "reported": self.reported,
            "g": _text(self.g),
            "fresh": self.fresh,
            "references": self.references,
            "alpha": self.alpha,
            "findings": [dataclasses.asdict(finding) for finding in self.findings],
        }


def shown(value: Decimal, digits: int = 6) -> str:
    """Write a number for people: at most `digits` significant digits, no trailing zeros."""
    if not value.is_finite():
        return "NaN" if value.is_nan() else f"{value}".lower()
    if value == 0:
        return "0"
    rounded = round(value, max(0, digits - 1 - value.adjusted()))
    if -5 <= rounded.adjusted() <= 15:
        text = f"{rounded:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{rounded.normalize():e}"


def listed(value: str | Iterable[str]) -> str:
    """Write a value that may be a list for people: items with ``", "`` between them."""
    return value if isinstance(value, str) else ", ".join(value)


def _text(value: Decimal | None) -> str | None:
    return None if value is None else shown(value, 12)


def _texts(values: Interval | None) -> list[str] | None:
    return None if values is None else [shown(value, 12) for value in values]
