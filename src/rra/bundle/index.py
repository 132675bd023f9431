"""``index.json`` of an OCI image layout: which bundles a folder or file holds.

Entries that others wrote are kept as they came.

Source: OCI Image Specification 1.1, Image Index and Image Layout.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from rra.bundle.jsonio import parse_json
from rra.bundle.names import printable
from rra.bundle.reference import is_digest
from rra.bundle.referrers import is_reserved_tag
from rra.bundle.store import INDEX_TYPE, MANIFEST_TYPE, REF_NAME, Descriptor, parse_descriptor
from rra.errors import CorruptError, FormatError, UsageError

INDEX = "index.json"
OCI_LAYOUT = "oci-layout"
IMAGE_LAYOUT = b'{"imageLayoutVersion":"1.0.0"}'
BLOBS = "blobs/sha256"
MAX_INDEX_BYTES = 4 * 1024 * 1024


@dataclasses.dataclass(frozen=True)
class Index:
    """The bundles of a layout.

    Attributes:
        where: What messages call the place.
        document: The index as read.
        entries: Its manifests, in order.
    """

    where: str
    document: dict[str, Any]
    entries: tuple[Descriptor, ...]

    @classmethod
    def empty(cls, where: str) -> Index:
        """Return the index of a new layout."""
        document = {"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": []}
        return cls(where, document, ())

    @classmethod
    def parse(cls, data: bytes, where: str) -> Index:
        """Read an index.

        Raises:
            FormatError: It is not one.
        """
        source = f"{where}/{INDEX}"
        document = parse_json(data, source)
        listed = document.get("manifests")
        if document.get("schemaVersion") != 2 or not isinstance(listed, list):
            message = f"{source} is not an OCI image index"
            raise FormatError(message, hint="give a folder or file in OCI image layout")
        entries = tuple(
            parse_descriptor(entry, f"/manifests/{number}", source)
            for number, entry in enumerate(listed)
        )
        return cls(where, document, entries)

    def tags(self) -> list[str]:
        """Return the names that bundles go by, sorted."""
        names = {tag for entry in self.entries if (tag := entry.annotations.get(REF_NAME))}
        return sorted(name for name in names if not is_reserved_tag(name))

    def find(
        self, reference: str | None, refers: Callable[[Descriptor], bool] = lambda _: False
    ) -> Descriptor:
        """Return the manifest of a tag or digest, or the only one that is no statement.

        Args:
            reference: The tag or digest; None for the only bundle.
            refers: Tells whether an entry is a statement on another; asked only where there is
                more than one.

        Raises:
            UsageError: There is none, or there are several.
            CorruptError: A tag names two different manifests.
        """
        chosen = [entry for entry in self.entries if _is_named(entry, reference)]
        if reference is None and len({entry.digest for entry in chosen}) > 1:
            chosen = [entry for entry in chosen if not refers(entry)]
        digests = {entry.digest for entry in chosen}
        names = printable(", ".join(self.tags())) or "none"
        if not digests:
            what = f"holds no bundle {printable(reference)}" if reference else "holds no bundle"
            raise UsageError(f"{self.where} {what}", hint=f"tags: {names}")
        if len(digests) > 1 and reference:
            message = f"{self.where} has two bundles under the tag {printable(reference)}"
            raise CorruptError(message, hint=f"name one by digest: {', '.join(sorted(digests))}")
        if len(digests) > 1:
            message = f"{self.where} holds several bundles"
            raise UsageError(message, hint=f"name one of the tags: {names}")
        entry = chosen[0]
        if entry.media_type != MANIFEST_TYPE:
            what = f"{printable(reference or entry.digest)} in {self.where}"
            message = f"{what} is {printable(entry.media_type)}"
            hint = f"a bundle is one {MANIFEST_TYPE}; name that one by its digest"
            raise UsageError(message, hint=hint)
        return entry

    def adding(self, descriptor: Descriptor, tag: str | None) -> Index:
        """Return the index with one more manifest; a tag that was in use moves to it.

        What is there already stays where it is, so that a copy that is repeated changes nothing.
        """
        entry = descriptor.to_json()
        if tag is not None:
            entry["annotations"] = {**entry.get("annotations", {}), REF_NAME: tag}
        elif any(old.digest == descriptor.digest for old in self.entries):
            return self
        kept = [
            (raw, old)
            for raw, old in zip(self.document["manifests"], self.entries, strict=True)
            if not _gives_way(old, descriptor.digest, tag)
        ]
        listed = [raw for raw, _ in kept]
        if entry in self.document["manifests"] and len(listed) + 1 == len(self.entries):
            return self  # it is there: said again, it keeps its place
        new = parse_descriptor(entry, f"/manifests/{len(kept)}", f"{self.where}/{INDEX}")
        document = {**self.document, "manifests": [*listed, entry]}
        return Index(self.where, document, (*(old for _, old in kept), new))

    def over(self, older: Index) -> Index:
        """Return the index of a place that had the older one and is given this one's entries."""
        kept = [
            raw
            for raw, old in zip(older.document["manifests"], older.entries, strict=True)
            if not any(
                _gives_way(old, new.digest, new.annotations.get(REF_NAME)) for new in self.entries
            )
        ]
        listed = [*kept, *self.document["manifests"]]
        return Index.parse(_dump({**older.document, "manifests": listed}), self.where)

    def to_bytes(self) -> bytes:
        """Return the document as it is written.

        Raises:
            UsageError: It would be larger than what is read.
        """
        data = _dump(self.document)
        if len(data) > MAX_INDEX_BYTES:
            message = f"{self.where}/{INDEX} would be larger than {MAX_INDEX_BYTES} bytes"
            raise UsageError(message, hint="put some of the bundles into another folder or file")
        return data


def _is_named(entry: Descriptor, reference: str | None) -> bool:
    if reference is None:
        return True
    if is_digest(reference):
        return entry.digest == reference
    return entry.annotations.get(REF_NAME) == reference


def _gives_way(old: Descriptor, digest: str, tag: str | None) -> bool:
    """Tell whether an entry is replaced: its tag moves, or it gets its first name."""
    name = old.annotations.get(REF_NAME)
    return (tag is not None and name == tag) or (name is None and old.digest == digest)


def _dump(document: dict[str, Any]) -> bytes:
    return json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True).encode() + b"\n"
