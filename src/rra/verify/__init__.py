"""Verify: a stranger runs everything anew and says what came out."""

from __future__ import annotations

from rra.verify.documents import (
    LauncherRun,
    OutcomeReproduction,
    Reproduction,
    VerificationPlan,
)
from rra.verify.plan import make_plan
from rra.verify.stranger import Options, verify_artifact

__all__ = [
    "LauncherRun",
    "Options",
    "OutcomeReproduction",
    "Reproduction",
    "VerificationPlan",
    "make_plan",
    "verify_artifact",
]
