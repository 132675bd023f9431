"""in-toto statements: what is said (a predicate) about what (subjects with their digests).

in-toto Attestation Framework, Statement v1. What a statement of this format says is the document
itself, a review or an audit for instance; the subject is the manifest of the bundle.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from rra._base import canonical
from rra._base.jsontext import parse_json
from rra.signing.reading import fault, mapping, shown, text

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
_READ = (STATEMENT_TYPE, "https://in-toto.io/Statement/v0.1")
"""cosign 2 still writes v0.1; subject, predicateType and predicate mean the same there."""

_MAX_SUBJECTS = 1000
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
_HEX = re.compile(r"(?:[0-9a-f]{2})+")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+")
_MAX_URI = 1000


@dataclasses.dataclass(frozen=True, slots=True)
class Subject:
    """What a statement is about.

    Attributes:
        name: For people, as ``study@1.0.0``; it proves nothing.
        digest: Algorithm → lower-case hexadecimal digits.
    """

    name: str
    digest: Mapping[str, str]

    def is_named_by(self, digest: str) -> bool:
        """Tell whether ``sha256:<hex>`` is a digest of this subject."""
        algorithm, _, value = digest.partition(":")
        return bool(_DIGEST.fullmatch(digest)) and self.digest.get(algorithm) == value


@dataclasses.dataclass(frozen=True, slots=True)
class Statement:
    """Something said about something.

    Attributes:
        subject: What it is about; a statement of this format has one.
        predicate_type: URI of the kind of predicate.
        predicate: What is said, as plain JSON.
    """

    subject: tuple[Subject, ...]
    predicate_type: str
    predicate: Mapping[str, Any]

    @classmethod
    def about(cls, digest: str, name: str, predicate_type: str, predicate: Any) -> Statement:
        """Make a statement about one bundle.

        Args:
            digest: ``sha256:<hex>`` of the bundle's manifest.
            name: ``<artifact>@<version>``.
            predicate_type: See `rra.signing.names.predicate_type`.
            predicate: The document, as plain JSON.

        Raises:
            ValueError: The digest is none, which is a fault of the caller.
        """
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"{digest!r} is no digest")
        algorithm, _, value = digest.partition(":")
        return cls((Subject(name, {algorithm: value}),), predicate_type, predicate)

    def is_about(self, digest: str) -> bool:
        """Tell whether one of the subjects has this digest (``sha256:<hex>``)."""
        return any(subject.is_named_by(digest) for subject in self.subject)

    def to_json(self) -> dict[str, Any]:
        """Return the statement as plain JSON."""
        return {
            "_type": STATEMENT_TYPE,
            "subject": [{"name": one.name, "digest": dict(one.digest)} for one in self.subject],
            "predicateType": self.predicate_type,
            "predicate": dict(self.predicate),
        }

    def to_bytes(self) -> bytes:
        """Return the canonical JSON (RFC 8785) of the statement, which is what gets signed."""
        return canonical.dumps(self.to_json())


def parse_statement(data: bytes) -> Statement:
    """Read a statement; members that in-toto does not know are passed over, as it asks for.

    Raises:
        FormatError: The bytes are no JSON (a key given twice counts as that), or no statement.
    """
    members = mapping(parse_json(data, source="statement").data, "the statement")
    kind = members.get("_type")
    if kind not in _READ:
        raise fault(f"{shown(kind)} is not the type of an in-toto statement")
    subjects = members.get("subject")
    if not isinstance(subjects, list) or not 1 <= len(subjects) <= _MAX_SUBJECTS:
        raise fault(f"a statement has 1 to {_MAX_SUBJECTS} subjects")
    predicate_type = text(members.get("predicateType"), "the predicate type")
    if not _URI.fullmatch(predicate_type) or len(predicate_type) > _MAX_URI:
        raise fault(f"the predicate type {shown(predicate_type)} is not a URI")
    return Statement(
        subject=tuple(_subject(one) for one in subjects),
        predicate_type=predicate_type,
        predicate=mapping(members.get("predicate"), "the predicate"),
    )


def _subject(value: Any) -> Subject:
    members = mapping(value, "a subject")
    name = members.get("name", "")
    if not isinstance(name, str):
        raise fault("the name of a subject is not a text")
    digests = mapping(members.get("digest"), "the digest of a subject")
    if not digests:
        raise fault("a subject has no digest")
    for algorithm, digits in digests.items():
        if not isinstance(digits, str) or not _HEX.fullmatch(digits):
            raise fault(f"the digest {shown(algorithm)} of a subject is not lower-case hexadecimal")
    return Subject(name, dict(digests))
