"""``rra verify``: re-run an artifact as a stranger and judge every reported value."""

from __future__ import annotations

import dataclasses
import re
import secrets
from pathlib import Path
from typing import Any

from rra.api import _ledger
from rra.api._open import open_artifact
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import Artifact, read_document
from rra.artifact.left_out import left_out
from rra.errors import UsageError
from rra.model import ReferencesDocument
from rra.verify import Reproduction

_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclasses.dataclass(frozen=True, kw_only=True)
class VerifyResult(VerbResult):
    """The reproduction and the folder that keeps its plan, records and outputs."""

    artifact: str
    reproduction: Reproduction
    directory: Path

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": self.artifact,
            "directory": str(self.directory),
            "reproduction": self.reproduction.to_json(),
        }


def verify(
    artifact: str | Path,
    *,
    references: Path | None = None,
    accept_documented: bool = False,
    out: Path | None = None,
    sandbox: str | None = None,
    reports: int | None = None,
    keep: bool = False,
    progress: Progress = silent,
) -> VerifyResult:
    """Run everything that an artifact declares in a fresh place and judge every outcome.

    The artifact is only read. Its locked environments are built anew, its outputs are not
    used, the plan is written before anything runs.

    Args:
        artifact: Directory of the artifact, or reference of a bundle.
        references: File with the values of earlier runs; no launcher ever sees it.
        accept_documented: Accept outcomes that deviate exactly as the artifact documents.
        out: Folder for plan, records, outputs and result; one in the state folder by default.
        sandbox: ``bwrap`` or ``none``; the best that works by default.
        reports: Fresh values of launchers that are not declared deterministic.
        keep: Leave the fresh place and its environments behind.
        progress: Called with one line for each step.

    Raises:
        UsageError: The references name an outcome that does not exist, an environment is not
            locked, a claim is still a blank, or `out` is in use.
        CorruptError: A lock is not the one that ``rra.lock`` names.
    """
    from rra.bundle import core_digest
    from rra.sandbox import best_sandbox
    from rra.verify import Options, verify_artifact

    known = read_document(references, "references", ReferencesDocument) if references else None
    with open_artifact(artifact, progress=progress) as opened:
        loaded = opened.artifact
        _check_references(loaded, known, references)
        nonce = secrets.token_hex(16)
        directory = out or _ledger.folder_for(_ledger.VERIFICATIONS, core_digest(loaded), nonce)
        options = Options(
            references=known,
            sandbox=best_sandbox(sandbox),
            accept_documented=accept_documented,
            reports=reports,
            nonce=nonce,
            keep=keep,
            well_formed=well_formed(opened.root),
            progress=progress,
        )
        reproduction = verify_artifact(loaded, directory, options)
    return VerifyResult(
        artifact=opened.name,
        reproduction=reproduction,
        directory=directory,
        exit_code=reproduction.exit_code,
        problems=(
            *opened.notices,
            *loaded.warnings,
            *left_out(loaded.document, list(loaded.manifest.launchers)),
        ),
    )


def _check_references(
    artifact: Artifact, known: ReferencesDocument | None, path: Path | None
) -> None:
    """Refuse references for outcomes that are not there, and of numbers that are none."""
    outcomes = artifact.manifest.reported_values()
    strange = [name for name in (known.root if known else {}) if name not in outcomes]
    if strange:
        message = f"{path} has references for {', '.join(strange)}, which the artifact lacks"
        raise UsageError(message, hint=f"outcomes: {', '.join(outcomes)}")
    for name, reference in (known.root if known else {}).items():
        if outcomes[name].type != "number":
            continue
        for score in reference.scores:
            if not isinstance(score.value, str) or not _DECIMAL.fullmatch(score.value):
                message = f"{path}: {score.value!r} of {name} is no number in decimal notation"
                raise UsageError(message, hint='give a value such as "98.876" or "9.8876e1"')


def well_formed(path: Path) -> tuple[bool, list[str]]:
    """Return whether level 0 holds, with the findings that deny it."""
    from rra.lint import Severity, lint_artifact

    errors = [f for f in lint_artifact(path).findings if f.severity is Severity.ERROR]
    return not errors, [f"{error.place}: {error.message} [{error.rule}]" for error in errors]
