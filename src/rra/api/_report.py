"""``rra report``: one page with what was claimed, what came out, and where it comes from."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from rra._base.files import atomic_write
from rra.api import _ledger
from rra.api._open import Opened, open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import layout
from rra.errors import UsageError

_SUFFIXES = {"html": ".html", "markdown": ".md", "badge": ".svg"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReportResult(VerbResult):
    """The files that were written and what they are made from.

    Attributes:
        file: The report.
        reproduction: The verification that it shows; None when there is none.
        audit: The audit that it shows; None when there is none.
        nonce: Nonce of the verification.
    """

    file: Path
    reproduction: Path | None
    audit: Path | None
    nonce: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "file": str(self.file),
            "reproduction": str(self.reproduction) if self.reproduction else None,
            "audit": str(self.audit) if self.audit else None,
            "nonce": self.nonce,
        }


def report(
    artifact: str | Path,
    output: Path | None = None,
    *,
    reproduction: Path | None = None,
    style: str = "html",
    progress: Progress = silent,
) -> ReportResult:
    """Write a report on an artifact from its newest verification and audit.

    Only a verification and an audit of the very same core are shown.

    Args:
        artifact: Directory of the artifact, or reference of a bundle.
        output: File to write; ``report.html`` in the artifact's ``outputs/`` by default, which
            is neither code nor packed; of a bundle, in the working directory.
        reproduction: A ``reproduction.json``, or the folder that holds it; the newest of this
            core in the state folder by default.
        style: ``html``, ``markdown`` or ``badge``.
        progress: Called with one line for each step.

    Raises:
        UsageError: `reproduction` is not a verification of this artifact as it is now.
        StorageError: The disk is full or refuses.
    """
    with open_artifact(artifact, progress=progress) as opened:
        written = _write(opened, output, reproduction, style, progress)
    return written.noting(opened.notices)


def _write(
    opened: Opened, output: Path | None, reproduction: Path | None, style: str, progress: Progress
) -> ReportResult:
    from rra.bundle import core_digest
    from rra.lint import lint_artifact
    from rra.report import render_badge, render_html, render_markdown

    artifact = opened.artifact
    core = core_digest(artifact)
    judged = (
        _given(reproduction, core)
        if reproduction
        else _ledger.newest(_ledger.VERIFICATIONS, core, _ledger.REPRODUCTION)
    )
    audited = _ledger.newest(_ledger.AUDITS, core, _ledger.AUDIT)
    document = judged[1] if judged else None
    audit = audited[1] if audited else None
    folder = Path() if opened.bundle else artifact.root / layout.OUTPUTS_DIR
    target = output or folder / f"report{_SUFFIXES[style]}"
    progress(f"writing {target}")
    if style == "badge":
        text = render_badge(artifact, reproduction=document)
    elif style == "markdown":
        text = render_markdown(artifact, reproduction=document, audit=audit)
    else:
        lint = lint_artifact(artifact.root).to_json()
        text = render_html(artifact, reproduction=document, audit=audit, lint=lint)
    atomic_write(target, text)
    return ReportResult(
        file=target.parent.resolve() / target.name,
        reproduction=judged[0] if judged else None,
        audit=audited[0] if audited else None,
        nonce=document["plan"]["nonce"] if document else None,
        problems=artifact.warnings,
    )


def _given(path: Path, core: str) -> tuple[Path, dict[str, Any]]:
    """Read the verification that the caller names, and insist that it is of this core."""
    file = path / _ledger.REPRODUCTION if path.is_dir() else path
    document = _ledger.read_json(file)
    if document is None or document.get("type") != "reproduction/v1":
        message = f"{file} is not a verification"
        raise UsageError(message, hint="give the folder or reproduction.json of an rra verify")
    if document.get("core") != core:
        message = f"{file} verifies core {document.get('core')}, this artifact is {core}"
        raise UsageError(message, hint="the artifact has changed since: run rra verify again")
    return file, document
