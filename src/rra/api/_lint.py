"""``rra lint``: check an artifact against the rules; nothing is run."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from pathlib import Path
from typing import Any

from rra.api._result import Progress, VerbResult, silent
from rra.lint import LintResult, lint_artifact


@dataclasses.dataclass(frozen=True, kw_only=True)
class LintReport(VerbResult):
    """What the rules object to; the answer is yes when no finding is an error."""

    root: Path
    found: LintResult

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {"artifact": str(self.root), **self.found.to_json()}


def lint(
    path: Path,
    *,
    profile: str = "basic",
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    progress: Progress = silent,
) -> LintReport:
    """Check an artifact against the rules of a profile.

    It takes about a second, so there is one line of progress.

    Args:
        path: Directory of the artifact.
        profile: ``basic``, ``reproducible`` or ``archival``.
        select: Codes or families of rules to apply, whatever their profile.
        ignore: Codes or families to leave out.
        progress: Called with one line.

    Raises:
        FormatError: The manifest is not YAML.
        UsageError: A profile or code is unknown.
    """
    from rra.author import expected_guide

    progress(f"checking {path} against the rules of profile {profile}")

    found = lint_artifact(
        path,
        profile=profile,
        select=list(select) or None,
        ignore=list(ignore) or None,
        expected_guide=expected_guide,
    )
    return LintReport(root=path, found=found, exit_code=0 if found.ok else 1)
