"""Checking one document from its bytes: text, then schema, then what goes beyond the schema.

Each stage starts only when the one before found no error, so every fault is decided by one stage.
"""

from __future__ import annotations

import dataclasses
import json

from rra._base.yaml import YamlDocument, parse_yaml
from rra.artifact.semantics import check_semantics
from rra.errors import FormatError, Problem
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
)


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
        return _parse(data, name, source)
    except FormatError as error:
        error.stage = YAML
        raise


def _parse(data: bytes, name: str, source: str) -> YamlDocument:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = Problem(f"not UTF-8: {error.reason}", source, 1, 1, clause="documents/utf-8")
        raise FormatError(str(problem), problems=(problem,), hint="save it as UTF-8") from error
    if name not in JSON_DOCUMENTS:
        return parse_yaml(text, source=source)
    try:
        return YamlDocument(json.loads(text), text, source, {})
    except json.JSONDecodeError as error:
        problem = Problem(
            f"not valid JSON: {error.msg}",
            source,
            error.lineno,
            error.colno,
            clause="documents/json",
        )
        hint = "make it again with: rra lock"
        raise FormatError(str(problem), problems=(problem,), hint=hint) from error
