"""``rra lint``: check an artifact against the rules; nothing is run."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path
from typing import Any

from rra.api._open import open_place
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import layout
from rra.artifact.checking import YAML
from rra.errors import FormatError, UsageError
from rra.lint import LintResult, lint_artifact, lint_document, unreadable_result


@dataclasses.dataclass(frozen=True, kw_only=True)
class LintReport(VerbResult):
    """What the rules object to; the answer is yes when no finding is an error.

    Attributes:
        artifact: What was looked at.
        found: The findings.
        error: Why the document is none; None when it could be read.
    """

    artifact: str
    found: LintResult
    error: FormatError | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON; with the error when the document is none."""
        plain = {"artifact": self.artifact, **self.found.to_json()}
        if self.error is None:
            return plain
        error = self.error
        said = {"slug": error.slug, "message": error.message, "hint": error.hint}
        return {**plain, "error": said}


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

    It takes about a second, so there is one line of progress. A text that is not YAML (or not
    JSON) is answered too: its faults are findings of RRA001, and the exit code is 4.

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
        FormatError: A bundle holds no artifact of the format.
        UsageError: A profile, code or document is unknown.
    """
    from rra.author import expected_guide

    path = Path(artifact)
    if document is not None and not path.is_file():
        raise UsageError(f"{artifact} is no file", hint="give the file of the document")
    if document is not None or (path.is_file() and path.name != layout.MANIFEST):
        progress(f"checking {artifact} by itself")
        try:
            found = lint_document(path, document, profile=profile, select=select, ignore=ignore)
        except FormatError as error:
            return _unreadable(str(artifact), error, profile, select, ignore)
        return LintReport(artifact=str(artifact), found=found, exit_code=0 if found.ok else 1)
    with open_place(artifact, progress=progress) as place:
        progress(f"checking {place.name} against the rules of profile {profile}")
        try:
            found = lint_artifact(
                place.root,
                profile=profile,
                select=list(select) or None,
                ignore=list(ignore) or None,
                expected_guide=expected_guide,
            )
        except FormatError as error:
            answer = _unreadable(place.name, error, profile, select, ignore)
            return answer.noting(place.notices)
    return LintReport(
        artifact=place.name,
        found=found,
        exit_code=0 if found.ok else 1,
        problems=place.notices,
    )


def _unreadable(
    name: str, error: FormatError, profile: str, select: Collection[str], ignore: Collection[str]
) -> LintReport:
    """Answer with the faults of a text that is no document; raise any other error again."""
    if error.stage != YAML or not error.problems:
        raise error
    found = unreadable_result(error, profile=profile, select=select, ignore=ignore)
    return LintReport(
        artifact=name, found=found, error=error, exit_code=error.exit_code, problems=error.problems
    )
