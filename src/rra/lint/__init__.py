"""Lint: looks at an artifact without running anything, and says what to correct.

Lint gives findings, never levels: that a directory looks right says little about whether its
numbers come out.
"""

from __future__ import annotations

from rra.lint.engine import lint_artifact, lint_document, unreadable_result
from rra.lint.finding import Finding, Fix, LintResult, Profile, Severity, Suppressed
from rra.lint.formats import FORMATS, format_result
from rra.lint.pages import explain
from rra.lint.rule import Rule

__all__ = [
    "FORMATS",
    "Finding",
    "Fix",
    "LintResult",
    "Profile",
    "Rule",
    "Severity",
    "Suppressed",
    "explain",
    "format_result",
    "lint_artifact",
    "lint_document",
    "unreadable_result",
]
