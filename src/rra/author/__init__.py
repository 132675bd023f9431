"""What authors write, drafted for them: manifest, launchers, guide, handoff."""

from __future__ import annotations

from rra.author.apply import apply_init
from rra.author.guide import GuideResult, expected_guide, render_guide
from rra.author.init import collisions, plan_init
from rra.author.launchers import ParameterWord, Step, compile_launcher
from rra.author.obtain import SourceRequest, is_elsewhere, obtain, target_of
from rra.author.plan import InitPlan, PlannedFile, Replacement

__all__ = [
    "GuideResult",
    "InitPlan",
    "ParameterWord",
    "PlannedFile",
    "Replacement",
    "SourceRequest",
    "Step",
    "apply_init",
    "collisions",
    "compile_launcher",
    "expected_guide",
    "is_elsewhere",
    "obtain",
    "plan_init",
    "render_guide",
    "target_of",
]
