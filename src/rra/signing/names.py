"""The names that signed statements go by: media types, predicate types."""

from __future__ import annotations

BUNDLE_MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
"""Media type of a Sigstore bundle, also the artifactType of the referrer that carries one."""

PAYLOAD_TYPE = "application/vnd.in-toto+json"
"""Payload type of a DSSE envelope that holds an in-toto statement."""

PREDICATE_PREFIX = "https://w3id.org/rra/v1/"
"""Start of the predicate types of this format."""

KINDS = ("reproduction", "audit", "review", "notice", "bundle")
"""What can be stated: the last part of a predicate type."""

CONTENT_ANNOTATION = "dev.sigstore.bundle.content"
"""Annotation that says what a referrer's Sigstore bundle holds; `CONTENT_DSSE` for a statement."""

CONTENT_DSSE = "dsse-envelope"

PREDICATE_ANNOTATION = "dev.sigstore.bundle.predicateType"
"""Annotation with the predicate type of a referrer's statement, to choose by; proves nothing."""


def predicate_type(kind: str) -> str:
    """Return the predicate type of a kind of statement, such as ``review``.

    Raises:
        ValueError: The kind is none of `KINDS`, which is a fault of the caller.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is none of {', '.join(KINDS)}")
    return PREDICATE_PREFIX + kind


def kind_of(predicate: str) -> str | None:
    """Return the kind of a predicate type of this format; None for anybody else's."""
    kind = predicate.removeprefix(PREDICATE_PREFIX)
    return kind if kind in KINDS and kind != predicate else None
