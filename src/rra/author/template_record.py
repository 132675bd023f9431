"""What a template gave an artifact, kept so that the next version can be merged in.

The record holds the answers and the files as they were rendered: the common ancestor of a
three-way merge is at hand even when that version of the template is nowhere to be had.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from rra.author.plan import PlannedFile
from rra.errors import FormatError, Problem, UsageError

RECORD = ".rra-template.json"
"""Name of the record, at the root of the artifact; it belongs to no element and never travels."""

_TYPE = "rra-template/v1"
_MOST_TEXT = 256 * 1024
_MOST_RECORD = 64 * 1024 * 1024


@dataclasses.dataclass(frozen=True)
class RecordedFile:
    """A file as a template gave it.

    Attributes:
        sha256: Digest of its bytes.
        executable: Whether it can be started.
        text: Its text; None for a file that is not text or is too large to be merged.
    """

    sha256: str
    executable: bool
    text: str | None


@dataclasses.dataclass(frozen=True)
class TemplateRecord:
    """What a template gave an artifact.

    Attributes:
        template: Name of a shipped template, or path of its folder from the artifact's root.
        version: What the template says of itself, or a digest of what it is.
        answers: Values of its variables, given and default ones.
        files: Files by place.
    """

    template: str
    version: str
    answers: Mapping[str, Any]
    files: Mapping[PurePosixPath, RecordedFile]

    def dumps(self) -> bytes:
        """Return the record as a file holds it."""
        document = {
            "type": _TYPE,
            "template": self.template,
            "version": self.version,
            "answers": dict(self.answers),
            "files": {
                str(path): {"sha256": f.sha256, "executable": f.executable, "text": f.text}
                for path, f in self.files.items()
            },
        }
        return (json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def recorded(planned: PlannedFile) -> RecordedFile:
    """Describe a file as a template gave it, or as it is now."""
    digest = hashlib.sha256(planned.data).hexdigest()
    return RecordedFile(digest, bool(planned.mode & 0o100), text_of(planned.data))


def text_of(data: bytes) -> str | None:
    """Return the text of a file that can be merged line by line, or None."""
    if len(data) > _MOST_TEXT or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def read_record(path: Path) -> TemplateRecord:
    """Read the record of a template.

    Args:
        path: The file, or the directory of the artifact.

    Raises:
        UsageError: There is none.
        FormatError: It is not one.
    """
    file = path / RECORD if path.is_dir() else path
    if not file.is_file():
        message = f"{path} was not made from a template: there is no {RECORD}"
        raise UsageError(message, hint="make a new one: rra init DIRECTORY --template NAME")
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_RECORD + 1)
        return _record(json.loads(data[:_MOST_RECORD].decode("utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = _fault(error)
        problem = Problem(
            f"not the record of a template: {what}", str(file), clause="author/record"
        )
        hint = "bring it back from your version control; without it nothing can be merged"
        raise FormatError(str(problem), problems=(problem,), hint=hint) from error


def _fault(error: Exception) -> str:
    """Say in words what a record lacks; Python's own name only the key or the types."""
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]}"
    if isinstance(error, TypeError | AttributeError):
        return "what should be a map of names is none"
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno} is no JSON"
    return str(error) or type(error).__name__


def _record(document: Any) -> TemplateRecord:
    if document["type"] != _TYPE:
        raise ValueError(f"its type is {document['type']!r}, not {_TYPE!r}")
    files = {
        _place(name): RecordedFile(
            str(entry["sha256"]),
            entry["executable"] is True,
            None if entry["text"] is None else str(entry["text"]),
        )
        for name, entry in document["files"].items()
    }
    answers = {str(key): value for key, value in document["answers"].items()}
    return TemplateRecord(str(document["template"]), str(document["version"]), answers, files)


def _place(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(f"it names a file outside the artifact: {name}")
    return path


def portable(template: Path, root: Path) -> str:
    """Return how an artifact names a template's folder: from its own root, never from a home."""
    return os.path.relpath(template.resolve(), root.resolve())
