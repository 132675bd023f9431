"""What a rule finds: the place, the message, the hint, and how much it weighs."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any


class Severity(enum.StrEnum):
    """How much a finding weighs: MUST, SHOULD and MAY of the specification."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Fix(enum.StrEnum):
    """Whether a rule's finding can be corrected without a person."""

    NONE = "none"
    SAFE = "safe"
    UNSAFE = "unsafe"


class Profile(enum.StrEnum):
    """How much is asked of an artifact; each profile contains the ones before it."""

    BASIC = "basic"
    REPRODUCIBLE = "reproducible"
    ARCHIVAL = "archival"

    def covers(self, other: Profile) -> bool:
        """Tell whether the rules of another profile are part of this one."""
        order = list(Profile)
        return order.index(other) <= order.index(self)


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule objects to.

    Attributes:
        rule: Code of the rule, such as ``RRA102``.
        severity: How much it weighs.
        message: What is wrong, with the value.
        path: File, relative to the artifact.
        line: 1-based line, when known.
        column: 1-based column, when known.
        pointer: JSON pointer (RFC 6901) of the value, in a document; empty for the whole
            document, None for what is in no document.
        hint: What to do next.
        clause: Clause of the specification that is broken.
    """

    rule: str
    severity: Severity
    message: str
    path: str
    line: int | None = None
    column: int | None = None
    pointer: str | None = None
    hint: str = ""
    clause: str = ""

    @property
    def place(self) -> str:
        """``path:line:column`` with the parts that are known."""
        numbers = (str(n) for n in (self.line, self.column) if n is not None)
        return ":".join([self.path, *numbers])

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """Key that sorts findings by place, then by rule."""
        return (self.path, self.line or 0, self.column or 0, self.rule, self.message)

    def to_json(self) -> dict[str, Any]:
        """Return the finding as plain JSON, without the parts that are unknown."""
        plain = dataclasses.asdict(self)
        return {
            key: value
            for key, value in plain.items()
            if value is not None and (value or key == "pointer")
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that the artifact asks to overlook, with the reason it gives."""

    finding: Finding
    reason: str


_UNCHECKED = {
    "yaml": (
        "the schema, and whether each id that is used is defined, since the text cannot be read; "
        "correct it and lint again, since more faults may follow"
    ),
    "schema": (
        "whether each id that is used is defined, and what else lies beyond the schema, since the "
        "schema is broken; correct that and lint again, since more faults may follow"
    ),
}
"""What is left out by the stage that found faults; the later stages leave nothing out."""


@dataclasses.dataclass(frozen=True, slots=True)
class LintResult:
    """What linting an artifact gave.

    Attributes:
        findings: What the rules object to, sorted by place.
        suppressed: What the artifact asks to overlook, with its reasons.
        profile: The profile that was asked for.
        rules: Codes of the rules that ran.
        skipped: Codes of rules that could not run, with why.
        files: How many files were looked at.
        stage: Where it was decided that the document cannot be used; empty when it can.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    profile: Profile
    rules: tuple[str, ...]
    skipped: dict[str, str]
    files: int
    stage: str = ""

    @property
    def ok(self) -> bool:
        """Whether no finding is an error."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def unchecked(self) -> str:
        """What of the document itself was not looked at, and why; empty when nothing was left."""
        return _UNCHECKED.get(self.stage, "")

    def count(self, severity: Severity) -> int:
        """Return how many findings have this severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON (schema: ``schemas/cli/lint.schema.json``)."""
        plain = {
            "ok": self.ok,
            "profile": str(self.profile),
            "counts": {str(severity): self.count(severity) for severity in Severity},
            "findings": [finding.to_json() for finding in self.findings],
            "suppressed": [
                {"finding": item.finding.to_json(), "reason": item.reason}
                for item in self.suppressed
            ],
            "rules": list(self.rules),
            "skipped": dict(self.skipped),
            "files": self.files,
        }
        return {**plain, "unchecked": self.unchecked} if self.unchecked else plain
