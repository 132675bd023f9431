"""Audit: from a reported value to what made it, and whether it was made at all."""

from __future__ import annotations

from rra.audit.auditor import Options, audit_artifact
from rra.audit.documents import AuditResult, Finding, Trace, Trial, ValueAudit
from rra.audit.inquiry import Budget
from rra.audit.trace import trace_value

__all__ = [
    "AuditResult",
    "Budget",
    "Finding",
    "Options",
    "Trace",
    "Trial",
    "ValueAudit",
    "audit_artifact",
    "trace_value",
]
