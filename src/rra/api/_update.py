"""``rra update``: merge a newer version of the template that an artifact was made from."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra._base.files import plain
from rra.api._result import Progress, VerbResult, silent

if TYPE_CHECKING:
    from rra.author.merge import Conflicts
    from rra.author.update import FileUpdate


@dataclasses.dataclass(frozen=True, kw_only=True)
class UpdateResult(VerbResult):
    """What an update did; the answer is no while files wait for the author.

    Attributes:
        root: Directory of the artifact.
        template: Name or path of the template.
        before: Version that the artifact was made from, or last updated to.
        after: Version that was merged in.
        updates: What became of each file that was touched or stands in the way.
        notes: What the author should know.
        dry_run: Whether nothing was written.
        conflicts: What was asked for lines that both have changed.
    """

    root: Path
    template: str
    before: str
    after: str
    updates: tuple[FileUpdate, ...]
    notes: tuple[str, ...]
    dry_run: bool = False
    conflicts: Conflicts = "leave"

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": str(self.root),
            "template": self.template,
            "before": self.before,
            "after": self.after,
            "files": [
                {"path": str(u.path), "what": u.what, "diff": u.diff, "why": u.why}
                for u in self.updates
            ],
            "notes": list(self.notes),
            "dry_run": self.dry_run,
        }


def update(
    path: Path,
    *,
    template: str | None = None,
    answers: Mapping[str, str] | None = None,
    conflicts: Conflicts = "leave",
    dry_run: bool = False,
    progress: Progress = silent,
) -> UpdateResult:
    """Merge a newer version of its template into an artifact; what the author changed stays.

    Args:
        path: Directory of the artifact.
        template: Where the template is now; by default what the artifact's record says.
        answers: New values of the template's variables.
        conflicts: What becomes of lines that both have changed: ``leave`` the file as it is,
            take those of the ``author`` or of the ``template``, or ``mark`` both in the file.
        dry_run: Only say what would be done.
        progress: Called with one line for each step.

    Raises:
        UsageError: The artifact was not made from a template, or the template is gone.
        FormatError: The record, a document of the artifact or the template cannot be read.
        ToolMissingError: git, which merges, is not installed.
        StorageError: The disk is full or refuses; the same call finishes what was begun.
    """
    from rra.author.update import apply_update, plan_update

    progress("rendering the template with the answers that were given")
    plan = plan_update(path, template=template, answers=answers, conflicts=conflicts)
    if plan.files and not dry_run:
        progress("merging")
        apply_update(plan)
    return UpdateResult(
        root=plain(path),
        template=plan.template,
        before=plan.before,
        after=plan.after,
        updates=plan.updates,
        notes=plan.notes,
        dry_run=dry_run,
        conflicts=conflicts,
        exit_code=1 if plan.conflicts else 0,
    )
