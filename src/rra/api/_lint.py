"""``rra lint``: check an artifact against the rules; nothing is run."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path
from typing import Any

from rra.api._open import open_place
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import layout
from rra.errors import UsageError
from rra.lint import LintResult, lint_artifact, lint_document


@dataclasses.dataclass(frozen=True, kw_only=True)
class LintReport(VerbResult):
    """What the rules object to; the answer is yes when no finding is an error."""

    artifact: str
    found: LintResult

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {"artifact": self.artifact, **self.found.to_json()}


def lint(
    artifact: str | Path,
    *,
    profile: str = "basic",
    document: str | None = None,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    progress: Progress = silent,
) -> LintReport:
    """Check an artifact against the rules of a profile.

    It takes about a second, so there is one line of progress.

    Args:
        artifact: Directory of the artifact, reference of a bundle, or one document by itself:
            ``settings.yaml``, ``record.json``, ….
        document: What document the file is, whatever its name; ``manifest`` takes an
            ``rra.yaml`` by itself.
        profile: ``basic``, ``reproducible`` or ``archival``.
        select: Codes or families of rules to apply, whatever their profile.
        ignore: Codes or families to leave out.
        progress: Called with one line.

    Raises:
        FormatError: The manifest or the document is not YAML, or not JSON.
        UsageError: A profile, code or document is unknown.
    """
    from rra.author import expected_guide

    path = Path(artifact)
    if document is not None and not path.is_file():
        raise UsageError(f"{artifact} is no file", hint="give the file of the document")
    if document is not None or (path.is_file() and path.name != layout.MANIFEST):
        progress(f"checking {artifact} by itself")
        found = lint_document(path, document, profile=profile, select=select, ignore=ignore)
        return LintReport(artifact=str(artifact), found=found, exit_code=0 if found.ok else 1)
    with open_place(artifact, progress=progress) as place:
        progress(f"checking {place.name} against the rules of profile {profile}")
        found = lint_artifact(
            place.root,
            profile=profile,
            select=list(select) or None,
            ignore=list(ignore) or None,
            expected_guide=expected_guide,
        )
    return LintReport(artifact=place.name, found=found, exit_code=0 if found.ok else 1)
