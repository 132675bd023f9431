"""``rra scan``: what a repository that nobody prepared declares, and what will get in the way."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from rra._base.files import atomic_write
from rra.api._result import Progress, VerbResult, silent
from rra.errors import UsageError
from rra.scan import Scan, scan_document, scan_repository
from rra.scan.document import TYPE as SCAN_TYPE


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScanResult(VerbResult):
    """What was found in a repository; nothing of it was run.

    Attributes:
        scan: Everything that was found, typed.
        document: The same as plain JSON: the content of ``scan.json``.
        output: The file that it was written to; None when no file was asked for.
    """

    scan: Scan
    document: dict[str, Any]
    output: Path | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "directory": str(self.scan.root),
            "output": str(self.output) if self.output else None,
            "scan": self.document,
        }


def scan(
    directory: Path | None = None, *, output: Path | None = None, progress: Progress = silent
) -> ScanResult:
    """Say what a repository declares, how it is run, and what will get in the way.

    Nothing of the repository is run, imported or changed. What was found is no judgement, so the
    answer is never no. What will get in the way is what was asked for, so it stands in the
    document, not in the problems of the result.

    Args:
        directory: The repository; the current directory by default.
        output: File to write ``scan.json`` to.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such directory, or the output is a file that no scan wrote.
        StorageError: The disk is full or refuses.
    """
    found = scan_repository(directory or Path(), progress=progress)
    document = scan_document(found)
    if output is not None:
        _insist_on_scan(output)
        progress(f"writing {output}")
        atomic_write(output, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    return ScanResult(
        scan=found,
        document=document,
        output=output.parent.resolve() / output.name if output else None,
    )


def _insist_on_scan(output: Path) -> None:
    """Insist that a file that would be replaced is an older scan.

    Raises:
        UsageError: It is something else.
    """
    if not output.is_file():
        return
    try:
        there = json.loads(output.read_bytes())
    except (OSError, ValueError, RecursionError):
        there = None
    if not isinstance(there, dict) or there.get("type") != SCAN_TYPE:
        message = f"{output} is there and is no scan that could be replaced"
        raise UsageError(message, hint="name another file; it is as it was")
