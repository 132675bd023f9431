"""From findings to one verdict, by a fixed table."""

from __future__ import annotations

from collections.abc import Iterable

from rra.audit.documents import Finding
from rra.model.verdicts import AuditVerdict, triggers, worst_verdict


def worst(findings: Iterable[Finding], *, documented: bool = False) -> AuditVerdict:
    """Return the worst verdict that the findings trigger; ``SUPPORTED`` when they trigger none.

    A finding triggers its word when it is material and refutes the outcome, or, for words that
    leave it open, when it is material and uncertain. A documented deviation contradicts the
    reported value without being material, and is shown as such.

    Args:
        findings: What was found about one outcome.
        documented: The value deviates exactly as the artifact documents.
    """
    triggered = {
        finding.code
        for finding in findings
        if triggers(finding.code, finding.status, material=finding.material)
    }
    if documented:
        triggered.add("CONTRADICTED")
    return worst_verdict(triggered)
