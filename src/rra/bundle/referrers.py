"""Statements that others attach to a bundle: manifests that name it as their subject.

A manifest says itself what it is about. Lists of them are only hints where to look: they are
kept by whoever keeps the place, and by whoever may write there.

Source: OCI Image Specification 1.1, Image Manifest, ``subject``; OCI Distribution Specification
1.1, Listing Referrers and Referrers Tag Schema.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from rra._base.files import sha256_bytes
from rra.bundle.jsonio import parse_json
from rra.bundle.store import (
    INDEX_TYPE,
    MANIFEST_TYPE,
    MAX_MANIFEST_BYTES,
    REF_NAME,
    BlobReader,
    Descriptor,
    parse_descriptor,
    read_blob,
)
from rra.errors import CorruptError, FormatError

MAX_REFERRERS = 2000
"""Most statements on one bundle that are read; nobody looks at more, and each is a request."""

_TYPES = {MANIFEST_TYPE, INDEX_TYPE}
_RESERVED = re.compile(r"sha256-[0-9a-f]{64}(?:\..*)?|rra-entry-[0-9a-f]{32}-[0-9]+")
_SHORT = 32


@dataclasses.dataclass(frozen=True, slots=True)
class Referring:
    """What a manifest says of itself.

    Attributes:
        descriptor: The manifest, with its own kind of artifact and annotations.
        subject: Digest of the manifest that it is about; None for none.
    """

    descriptor: Descriptor
    subject: str | None


def is_reserved_tag(tag: str) -> bool:
    """Tell whether a tag holds statements on a manifest, or an entry of a catalogue, and no bundle.

    Those are the tags of registries without the referrers API: the list of a subject, ours for
    each statement, and what cosign keeps beside (``.sig``, ``.att``).
    """
    return _RESERVED.fullmatch(tag) is not None


def fallback_tag(subject: str) -> str:
    """Return the tag of the list of statements on a manifest (Referrers Tag Schema)."""
    return subject.replace(":", "-", 1)


def companion_tag(subject: str, referrer: str) -> str:
    """Return the tag that keeps one statement: what only a list names may be collected."""
    return f"{fallback_tag(subject)}.rra-{referrer.removeprefix('sha256:')[:_SHORT]}"


def unlisted_companions(tags: Iterable[str], subject: str, listed: Iterable[str]) -> list[str]:
    """Return the tags of statements on a manifest that a list of digests lacks, sorted."""
    known = {companion_tag(subject, digest) for digest in listed}
    begins = companion_tag(subject, "")
    return sorted({tag for tag in tags if tag.startswith(begins)} - known)


def is_manifest(descriptor: Descriptor) -> bool:
    """Tell whether a descriptor is of something that can have a subject."""
    return descriptor.media_type in _TYPES


def read_referring(data: bytes, descriptor: Descriptor) -> Referring:
    """Read what a manifest says of itself.

    A name that it gives itself in a layout is left out: names are given by who keeps the layout.

    Args:
        data: Bytes of the manifest, which are those of the digest.
        descriptor: Its media type and digest.

    Raises:
        FormatError: It is no manifest, or its subject is no descriptor.
    """
    name = f"manifest {descriptor.digest}"
    document = parse_json(data, name)
    subject = document.get("subject")
    config = document.get("config")
    kind = document.get("artifactType") or (
        config.get("mediaType") if isinstance(config, dict) else None
    )
    described = parse_descriptor(
        {
            "mediaType": document.get("mediaType", descriptor.media_type),
            "digest": descriptor.digest,
            "size": len(data),
            "artifactType": kind,
            "annotations": document.get("annotations", {}),
        },
        "",
        name,
    )
    own = {key: text for key, text in described.annotations.items() if key != REF_NAME}
    about = None if subject is None else parse_descriptor(subject, "/subject", name).digest
    return Referring(dataclasses.replace(described, annotations=own), about)


def listed_blobs(data: bytes, digest: str) -> list[Descriptor]:
    """Return the config and the layers that a manifest lists, in this order.

    Raises:
        FormatError: It lists none.
    """
    name = f"manifest {digest}"
    document = parse_json(data, name)
    layers = document.get("layers")
    if not isinstance(layers, list):
        raise FormatError(
            f"{name} lists no layers", hint="it is no bundle, and no statement on one"
        )
    places = [("/config", document.get("config"))]
    places += [(f"/layers/{number}", layer) for number, layer in enumerate(layers)]
    return [parse_descriptor(value, pointer, name) for pointer, value in places]


def referrer_of(data: bytes, subject: Descriptor) -> Descriptor:
    """Return the descriptor of a statement that is about a manifest.

    Raises:
        FormatError: The bytes are about another one, or are no manifest.
    """
    kept = Descriptor(MANIFEST_TYPE, sha256_bytes(data), len(data))
    said = read_referring(data, kept)
    if said.subject != subject.digest or not is_manifest(said.descriptor):
        about = said.subject or "nothing"
        message = f"manifest {kept.digest} is about {about}, not about {subject.digest}"
        raise FormatError(message, hint="make the statement again, for that bundle")
    return said.descriptor


class LocalReferrers:
    """The statements of a folder or file, each manifest of which is read once.

    Args:
        place: Where the manifests are.
    """

    def __init__(self, place: BlobReader) -> None:
        self._place = place
        self._known: dict[str, Referring | None] = {}

    def of(
        self, entries: Iterable[Descriptor], digest: str, artifact_type: str | None
    ) -> list[Descriptor]:
        """Return the manifests among entries of an index that are about a digest, sorted.

        Args:
            entries: Entries of the index, tagged or not.
            digest: Digest of the subject.
            artifact_type: The only kind that is wanted; None for all.

        Raises:
            CorruptError: A manifest of the index is missing or is another one.
        """
        found = {
            said.descriptor.digest: said.descriptor
            for entry in entries
            if (said := self._read(entry)) is not None and said.subject == digest
        }
        wanted = [one for one in found.values() if artifact_type in {None, one.artifact_type}]
        return sorted(wanted, key=lambda one: one.digest)

    def refers(self, entry: Descriptor) -> bool:
        """Tell whether an entry is about another manifest; what cannot be read is not."""
        try:
            return self.subject(entry) is not None
        except CorruptError:
            return False

    def subject(self, entry: Descriptor) -> str | None:
        """Return the digest that an entry is about; None for what is no statement.

        Raises:
            CorruptError: The manifest is missing or is another one.
        """
        said = self._read(entry)
        return said.subject if said is not None else None

    def _read(self, entry: Descriptor) -> Referring | None:
        if entry.digest not in self._known:
            self._known[entry.digest] = self._say(entry)
        return self._known[entry.digest]

    def _say(self, entry: Descriptor) -> Referring | None:
        if not is_manifest(entry):
            return None
        try:
            return read_referring(read_blob(self._place, entry, MAX_MANIFEST_BYTES), entry)
        except FormatError:
            return None  # what others keep there besides is none of ours to judge
