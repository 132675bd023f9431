"""Statements on bundles, as others attach them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from rra.bundle.store import MANIFEST_TYPE, Descriptor, ManifestStore

REVIEW = "application/vnd.rra.review.v1+json"
AUDIT = "application/vnd.rra.audit.v1+json"
EMPTY = Descriptor(
    "application/vnd.oci.empty.v1+json", "sha256:" + hashlib.sha256(b"{}").hexdigest(), 2
)


def statement(
    subject: Descriptor | bytes, text: str = "fine", kind: str = REVIEW, **more: Any
) -> bytes:
    """Return the manifest of a statement on a manifest; its one layer is the text."""
    if isinstance(subject, bytes):
        subject = Descriptor(
            MANIFEST_TYPE, "sha256:" + hashlib.sha256(subject).hexdigest(), len(subject)
        )
    body = text.encode()
    layer = Descriptor(kind, "sha256:" + hashlib.sha256(body).hexdigest(), len(body))
    document = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": kind,
        "config": EMPTY.to_json(),
        "layers": [layer.to_json()],
        "subject": Descriptor(subject.media_type, subject.digest, subject.size).to_json(),
    }
    return json.dumps({**document, **more}).encode()


def put_blobs(store: ManifestStore, text: str = "fine") -> None:
    """Put what the manifest of a statement names."""
    store.put([b"{}"], EMPTY.media_type)
    store.put([text.encode()], REVIEW)
