"""The success rule `rra-success/v1`: what it takes to say that a result was reproduced."""

from __future__ import annotations

from rra.values.success.granularity import granularity
from rra.values.success.judgement import Answer, Assessment, Finding, Judgement, Verdict
from rra.values.success.rule import DEFAULT_ALPHA, RunKind, judge
from rra.values.success.suite import (
    expected_misses,
    family_alpha,
    honest_pass_rate,
    suite_ceiling,
)

__all__ = [
    "DEFAULT_ALPHA",
    "Answer",
    "Assessment",
    "Finding",
    "Judgement",
    "RunKind",
    "Verdict",
    "expected_misses",
    "family_alpha",
    "granularity",
    "honest_pass_rate",
    "judge",
    "suite_ceiling",
]
