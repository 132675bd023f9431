"""Attaching a statement to a bundle: one manifest with one layer, the bundle is its subject."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from rra._base import canonical
from rra._base.files import sha256_bytes
from rra.bundle.reader import Bundle
from rra.bundle.store import MANIFEST_TYPE, BlobStore, Descriptor
from rra.registry.statements import document_type
from rra.signing import (
    BUNDLE_MEDIA_TYPE,
    CONTENT_ANNOTATION,
    CONTENT_DSSE,
    PREDICATE_ANNOTATION,
    PrivateKey,
    Statement,
    predicate_type,
    sign,
)

_EMPTY = b"{}"
_EMPTY_TYPE = "application/vnd.oci.empty.v1+json"
_TITLE = "org.opencontainers.image.title"


@dataclasses.dataclass(frozen=True, slots=True)
class NewStatement:
    """A statement that is to be attached.

    Attributes:
        kind: What is stated.
        media_type: Of the statement and of its layer.
        data: The layer: a document in canonical JSON, or a Sigstore bundle.
        annotations: What others choose by.
    """

    kind: str
    media_type: str
    data: bytes
    annotations: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def manifest(self, subject: Descriptor) -> bytes:
        """Return the manifest: the same bytes for the same statement about the same bundle."""
        title = f"{self.kind}.sigstore.json" if self.annotations else f"{self.kind}.json"
        layer = Descriptor(
            self.media_type, sha256_bytes(self.data), len(self.data), {_TITLE: title}
        )
        about = Descriptor(subject.media_type, subject.digest, subject.size)
        document = {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "artifactType": self.media_type,
            "config": _empty().to_json(),
            "layers": [layer.to_json()],
            "subject": about.to_json(),
        }
        if self.annotations:
            document["annotations"] = dict(self.annotations)
        return canonical.dumps(document)


def unsigned(kind: str, document: Mapping[str, Any]) -> NewStatement:
    """Return the statement that a document is by itself."""
    return NewStatement(kind, document_type(kind), canonical.dumps(document))


def signed(kind: str, signature: bytes) -> NewStatement:
    """Return the statement that a Sigstore bundle is, as cosign 2.5 attaches it.

    Args:
        kind: What is stated.
        signature: The Sigstore bundle, which goes as it is.
    """
    annotations = {
        CONTENT_ANNOTATION: CONTENT_DSSE,
        PREDICATE_ANNOTATION: predicate_type(kind),
    }
    return NewStatement(kind, BUNDLE_MEDIA_TYPE, signature, annotations)


def signed_by(
    key: PrivateKey, kind: str, document: Mapping[str, Any], bundle: Bundle
) -> NewStatement:
    """Sign a document about a bundle and return the statement."""
    manifest = bundle.config.artifact_manifest()
    name = f"{manifest.name}@{manifest.version}"
    digest = bundle.descriptor.digest
    statement = Statement.about(digest, name, predicate_type(kind), document)
    return signed(kind, sign(statement, key))


def attach_statement(store: BlobStore, bundle: Bundle, statement: NewStatement) -> Descriptor:
    """Attach a statement to a bundle that is in a store; again is harmless.

    Args:
        store: Where the bundle is.
        bundle: The bundle.
        statement: What is stated.

    Returns:
        The descriptor of the statement's manifest.

    Raises:
        StorageError: The disk is full or refuses.
        RegistryError: The registry does not answer, or refuses.
    """
    digest = sha256_bytes(statement.data)
    layer = Descriptor(statement.media_type, digest, len(statement.data))
    with store.writing():
        for blob, data in ((_empty(), _EMPTY), (layer, statement.data)):
            if not store.has(blob.digest):
                store.put_blob(blob, [data])
        return store.put_referrer(statement.manifest(bundle.descriptor), bundle.descriptor)


def _empty() -> Descriptor:
    return Descriptor(_EMPTY_TYPE, sha256_bytes(_EMPTY), len(_EMPTY))
