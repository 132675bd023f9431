"""Checking one document from its bytes: text, then schema, then what goes beyond the schema.

Each stage starts only when the one before found no error, so every fault is decided by one stage.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from rra._base import jsontext, yaml
from rra._base.documentfile import read_limited
from rra._base.yaml import YamlDocument, parse_bytes
from rra.artifact.semantics import check_semantics
from rra.errors import FormatError, Problem, UsageError
from rra.schema import check_document

YAML, SCHEMA, SEMANTIC, ARTIFACT = "yaml", "schema", "semantic", "artifact"
STAGES = (YAML, SCHEMA, SEMANTIC, ARTIFACT)
"""The stages in their order; the last one needs more than one document."""

YAML_DOCUMENTS = ("manifest", "settings", "repairs", "references")
JSON_DOCUMENTS = (
    "lock",
    "execution-record",
    "bundle-config",
    "plan",
    "reproduction",
    "audit",
    "review",
    "notice",
)
DOCUMENTS = (*YAML_DOCUMENTS, *JSON_DOCUMENTS)

FILES: Mapping[str, str] = {
    "rra.yaml": "manifest",
    "settings.yaml": "settings",
    "repairs.yaml": "repairs",
    "references.yaml": "references",
    "rra.lock": "lock",
    "record.json": "execution-record",
    "config.json": "bundle-config",
    "plan.json": "plan",
    "reproduction.json": "reproduction",
    "audit.json": "audit",
    "review.json": "review",
    "notice.json": "notice",
}
"""What document a file is, by the name that the format gives it."""


@dataclasses.dataclass(frozen=True)
class Checked:
    """What checking a document gave.

    Attributes:
        stage: The stage that found an error; the last one that ran when none did.
        problems: Errors of that stage, and warnings, by place.
        document: The document, unless its bytes are none.
    """

    stage: str
    problems: tuple[Problem, ...]
    document: YamlDocument | None = None

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that stop the document from being used."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    @property
    def ok(self) -> bool:
        """Whether no problem is an error."""
        return not self.errors


def check_bytes(data: bytes, name: str, *, source: str) -> Checked:
    """Check the bytes of a document by stages; stop at the first one that finds an error.

    Args:
        data: The whole file.
        name: What document it is: the name of its schema, such as ``manifest``.
        source: Name of the file for messages.
    """
    try:
        document = parse_document(data, name, source=source)
    except FormatError as error:
        return Checked(YAML, error.problems)
    problems = check_document(document, name)
    if any(problem.severity == "error" for problem in problems):
        return Checked(SCHEMA, tuple(problems), document)
    problems += check_semantics(document, name)
    return Checked(SEMANTIC, tuple(problems), document)


def parse_document(data: bytes, name: str, *, source: str) -> YamlDocument:
    """Read the bytes of a document as YAML or JSON, whichever it is written in.

    Raises:
        FormatError: The bytes are no such text; its stage is ``yaml``.
    """
    try:
        if name in JSON_DOCUMENTS:
            return jsontext.parse_json(data, source=source)
        return parse_bytes(data, source=source)
    except FormatError as error:
        error.stage = YAML
        raise


def read_bytes(path: Path, name: str) -> bytes:
    """Return the bytes of a document; of one that is too large, a little more than is allowed.

    Raises:
        OSError: The file cannot be read.
    """
    return read_limited(path, jsontext.MAX_BYTES if name in JSON_DOCUMENTS else yaml.MAX_BYTES)


def unreadable(checked: Checked) -> FormatError:
    """Return the error that the reader of a document that is none would raise."""
    (first, *_) = checked.problems
    error = FormatError(str(first), problems=checked.problems, hint=first.hint)
    error.stage = checked.stage
    return error


def document_of(path: Path) -> str:
    """Return which document a file is, by its name: ``rra.yaml`` or ``wine.rra.yaml`` alike.

    Raises:
        UsageError: The name is none that the format gives.
    """
    for name, document in FILES.items():
        if path.name == name or path.name.endswith(f".{name}"):
            return document
    message = f"{path.name} is not the name of a document of the format"
    raise UsageError(message, hint=f"the names are {', '.join(FILES)}")
