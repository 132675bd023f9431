"""What goes with a bundle: the statements on it, and the statements on those."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from rra.bundle.names import printable
from rra.bundle.referrers import MAX_REFERRERS, listed_blobs
from rra.bundle.store import MANIFEST_TYPE, BlobStore, Descriptor
from rra.errors import FormatError
from rra.registry.fetch import Titled

MAX_DEPTH = 8
"""A signature on a review of a bundle is two deep."""

MAX_BYTES = 32 * 1024 * 1024
"""All manifests of statements are in memory together while their blobs travel."""

_TITLE = "org.opencontainers.image.title"


@dataclasses.dataclass(frozen=True, slots=True)
class Statement:
    """The manifest of a statement, ready to be put elsewhere.

    Attributes:
        data: Its bytes.
        descriptor: What they are.
        subject: What it is about: the bundle, or an earlier statement.
        blobs: Config and layers, which are to be there before it.
    """

    data: bytes
    descriptor: Descriptor
    subject: Descriptor
    blobs: tuple[Titled, ...]


def statements(
    source: BlobStore, bundle: Descriptor, progress: Callable[[str], None]
) -> list[Statement]:
    """Return every statement that hangs on a bundle, each after what it is about.

    Args:
        source: Where the bundle is.
        bundle: Its manifest.
        progress: Called with a line for what stays behind.

    Raises:
        CorruptError: A manifest is not what names it.
        FormatError: There are more of them, or they are deeper or larger, than is carried; or
            one names no blobs.
        RegistryError: The registry does not answer, refuses, or lists without measure.
    """
    found: dict[str, Statement] = {}
    level, size = [bundle], 0
    for depth in range(MAX_DEPTH + 1):
        following = []
        for subject in level:
            for one in source.referrers(subject.digest):
                if one.media_type != MANIFEST_TYPE:
                    kind = printable(one.media_type[:100])
                    progress(f"{one.digest} stays behind: statements are no {kind}")
                    continue
                if depth == MAX_DEPTH:
                    raise _refuse(bundle, f"statements on statements deeper than {MAX_DEPTH}")
                data, descriptor = source.get_manifest(one.digest)
                found[one.digest] = Statement(
                    data, descriptor, subject, blobs_of(data, descriptor, source.name)
                )
                following.append(descriptor)
                size += len(data)
                if len(found) > MAX_REFERRERS or size > MAX_BYTES:
                    what = f"more than {MAX_REFERRERS} statements or {MAX_BYTES} bytes of them"
                    raise _refuse(bundle, what)
        level = following
    return list(found.values())


def blobs_of(data: bytes, manifest: Descriptor, source: str) -> tuple[Titled, ...]:
    """Return config and layers of a manifest with their titles, each digest once.

    Raises:
        FormatError: It is no manifest of that form.
    """
    if manifest.media_type != MANIFEST_TYPE:
        message = f"{source}: {manifest.digest} is {manifest.media_type}, not one bundle"
        raise FormatError(message, hint="name one bundle of it by its digest")
    found: dict[str, Titled] = {}
    for number, blob in enumerate(listed_blobs(data, manifest.digest)):
        kind = blob.media_type if number else "config"
        title = blob.annotations.get(_TITLE) or kind
        found.setdefault(blob.digest, (printable(title[:200]), blob))
    return tuple(found.values())


def _refuse(bundle: Descriptor, what: str) -> FormatError:
    message = f"{bundle.digest} has {what}, which are not carried"
    return FormatError(message, hint="rra copy --no-referrers leaves all of them behind")
