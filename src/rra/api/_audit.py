"""``rra audit``: trace every reported value, and ask whether it was made at all."""

from __future__ import annotations

import dataclasses
import json
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rra._base import places
from rra._base.files import atomic_write
from rra.api import _ledger
from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.artifact.left_out import left_out
from rra.audit import AuditResult


@dataclasses.dataclass(frozen=True, kw_only=True)
class AuditReport(VerbResult):
    """The audit, and the file that keeps it."""

    artifact: str
    audit: AuditResult
    file: Path

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": self.artifact,
            "file": str(self.file),
            "audit": self.audit.to_json(),
        }


def audit(
    artifact: str | Path,
    *,
    outcomes: Sequence[str] = (),
    rerun: bool = True,
    accept_documented: bool = False,
    sandbox: str | None = None,
    progress: Progress = silent,
) -> AuditReport:
    """Give every reported value a verdict with its trace.

    Args:
        artifact: Directory of the artifact, or reference of a bundle; it is only read.
        outcomes: Names of outcomes; all by default.
        rerun: Run the launchers in a temporary place and probe for copied numbers.
        accept_documented: Accept values that deviate exactly as the artifact documents.
        sandbox: ``bwrap`` or ``none``; the best that works by default.
        progress: Called with one line for each step.

    Raises:
        UsageError: An outcome that is asked for does not exist.
        StorageError: The audit cannot be kept.
    """
    from rra.audit import Options, audit_artifact
    from rra.sandbox import best_sandbox

    nonce = secrets.token_hex(16)
    with open_artifact(artifact, progress=progress) as opened:
        loaded = opened.artifact
        places.make_state()
        options = Options(
            rerun=rerun,
            outcomes=[loaded.outcome(name)[0] for name in outcomes] or None,
            sandbox=best_sandbox(sandbox),
            nonce=nonce,
            progress=progress,
        )
        found = audit_artifact(loaded, options)
    file = _ledger.folder_for(_ledger.AUDITS, found.core, nonce) / _ledger.AUDIT
    atomic_write(file, json.dumps(found.to_json(), indent=2, ensure_ascii=False) + "\n")
    return AuditReport(
        artifact=opened.name,
        audit=found,
        file=file,
        exit_code=0 if found.ok(accept_documented=accept_documented) else 1,
        problems=(
            *opened.notices,
            *loaded.warnings,
            *(left_out(loaded.document, list(loaded.manifest.launchers)) if rerun else ()),
        ),
    )
