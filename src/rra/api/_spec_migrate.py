"""``rra spec migrate``: bring an artifact or a document to a later version of the format."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rra._base.files import atomic_write
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import layout
from rra.artifact.checking import JSON_DOCUMENTS, document_of, parse_document, read_bytes
from rra.artifact.migration import STEPS, Step, migrate_text, steps_between
from rra.errors import NotAnArtifactError, UsageError
from rra.schema import FORMAT


@dataclasses.dataclass(frozen=True, kw_only=True)
class Migration(VerbResult):
    """What a migration changed, or would change.

    Attributes:
        path: What was migrated.
        source: The version that it had.
        target: The version that it has now.
        changes: What changed in each file, one sentence each.
        written: Whether the files were written.
    """

    path: str
    source: str
    target: str
    changes: dict[str, tuple[str, ...]]
    written: bool

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "path": self.path,
            "from": self.source,
            "to": self.target,
            "changes": {name: list(said) for name, said in self.changes.items()},
            "written": self.written,
        }


def spec_migrate(
    path: str | Path = ".",
    *,
    to: str | None = None,
    check: bool = False,
    steps: Sequence[Step] = STEPS,
    progress: Progress = silent,
) -> Migration:
    """Bring the documents of an artifact, or one document, to a later version of the format.

    Comments, order and everything that no step is about stay as they are, byte for byte.

    Args:
        path: Directory of the artifact, or one of its YAML documents.
        to: The version wanted; the latest that is known by default.
        check: Only say what would change; the answer is no when something would.
        steps: The steps there are.
        progress: Called with one line for each file.

    Raises:
        UsageError: The path is no artifact and no document, or the version is not known.
        FormatError: A document cannot be read, or a step would lose what somebody wrote.
    """
    files = _documents(Path(path))
    source = _version(files)
    wanted = steps_between(source, to, steps)
    changed: dict[Path, str] = {}
    said: dict[str, tuple[str, ...]] = {}
    for file, name in files.items():
        progress(f"reading {file}")
        before = parse_document(read_bytes(file, name), name, source=str(file)).text
        migrated = migrate_text(before, name, wanted, source=str(file))
        if migrated.text != before:
            changed[file] = migrated.text
            said[str(file)] = migrated.changes
    if not check:
        for file, text in changed.items():
            atomic_write(file, text.encode())
    return Migration(
        path=str(path),
        source=source,
        target=wanted[-1].target if wanted else source,
        changes=said,
        written=bool(changed) and not check,
        exit_code=1 if check and changed else 0,
    )


def _documents(path: Path) -> dict[Path, str]:
    """Return the documents to migrate; the manifest, which says the version, is the last."""
    if path.is_file():
        name = document_of(path)
        if name in JSON_DOCUMENTS:
            message = f"{path.name} is written by a program, not by hand"
            raise UsageError(message, hint="have it made again by the later version")
        return {path: name}
    if not (path / layout.MANIFEST).is_file():
        message = f"{path} holds no {layout.MANIFEST}" if path.is_dir() else f"no such path: {path}"
        raise NotAnArtifactError(message, hint="give the directory of an artifact, or a document")
    names = {layout.SETTINGS: "settings", layout.REPAIRS: "repairs", layout.MANIFEST: "manifest"}
    return {path / name: kind for name, kind in names.items() if (path / name).is_file()}


def _version(files: dict[Path, str]) -> str:
    file, name = list(files.items())[-1]
    data = parse_document(read_bytes(file, name), name, source=str(file)).data
    said = data.get("rra") if isinstance(data, dict) else None
    return said if isinstance(said, str) else FORMAT
