"""``rra copy``: a bundle goes from one place to another, byte for byte."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from rra.api._open import open_bundle, open_store
from rra.api._result import Progress, VerbResult, silent
from rra.api._room import say_room
from rra.api._unpack import bundle_reference
from rra.bundle.annotations import CORE, VERSION
from rra.bundle.jsonio import parse_json
from rra.bundle.reference import (
    ArchiveReference,
    BundleReference,
    DirectoryReference,
    LayoutReference,
    RegistryReference,
    WebReference,
    parse_reference,
    tag_of_version,
    version_of_tag,
)
from rra.bundle.referrers import is_reserved_tag
from rra.bundle.store import REF_NAME
from rra.errors import Problem, RraError, UsageError

if TYPE_CHECKING:
    from rra.bundle.reader import Bundle
    from rra.bundle.store import BlobStore
    from rra.registry import BlobCopy


@dataclasses.dataclass(frozen=True, kw_only=True)
class CopyReport(VerbResult):
    """A bundle that is now in another place as well, with the same digest.

    Attributes:
        source: Where it was read, with its digest.
        target: Where it is now, with its digest.
        digest: Digest of its manifest.
        core: Core of the artifact.
        tag: Its name in the target.
        blobs: Config and layers, then those of the statements on it.
        referrers: How many statements on it came along, and on those.
    """

    source: str
    target: str
    digest: str
    core: str
    tag: str
    blobs: tuple[BlobCopy, ...]
    referrers: int = 0

    @property
    def sent(self) -> int:
        """Bytes that had to be copied; the rest was there."""
        return sum(blob.descriptor.size for blob in self.blobs if blob.copied)

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "source": self.source,
            "target": self.target,
            "digest": self.digest,
            "core": self.core,
            "tag": self.tag,
            "size": sum(blob.descriptor.size for blob in self.blobs),
            "sent": self.sent,
            "referrers": self.referrers,
            "blobs": [
                {
                    "title": blob.title,
                    "digest": blob.descriptor.digest,
                    "size": blob.descriptor.size,
                    "copied": blob.copied,
                    "mounted": blob.mounted,
                }
                for blob in self.blobs
            ],
        }


def copy(
    source: str,
    target: str,
    *,
    referrers: bool = True,
    plain_http: bool = False,
    progress: Progress = silent,
) -> CopyReport:
    """Copy a bundle between folders, files and registries; its digest stays the same.

    The tag of the source is looked up once; from then on everything is asked for by digest.
    Statements on the bundle (reviews, audits, reproductions, notices, signatures) come along.

    Args:
        source: Reference of the bundle.
        target: Reference of the place; its tag is that of the source by default.
        referrers: Whether statements come along.
        plain_http: Speak to registries without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: One of them is no reference of a bundle, or there is no such bundle.
        CorruptError: Bytes are not what vouches for them; the target is as it was.
        FormatError: What is there is no bundle of the format.
        RegistryError: A registry does not answer, refuses, or breaks off.
        StorageError: The disk is full or refuses.
    """
    named = bundle_reference(source)
    place = target_reference(target)
    return copy_bundle(named, place, referrers=referrers, plain_http=plain_http, progress=progress)


def target_reference(text: str) -> BundleReference:
    """Read the reference of a place that a bundle is to go to.

    Raises:
        UsageError: It is a directory, names a digest, or a tag that statements are kept under.
    """
    place = parse_reference(text)
    if isinstance(place, DirectoryReference):
        message = f"{text} does not say what a bundle is to become there"
        hint = (
            f"oci-layout:{text} for a folder, oci-archive:FILE for one file; rra unpack for files"
        )
        raise UsageError(message, hint=hint)
    if isinstance(place, WebReference):
        message = f"{place.url} is an address, where nothing can be put"
        raise UsageError(message, hint="make oci-archive:FILE and upload the file yourself")
    if place.digest is not None:
        message = f"{text} names a digest; that follows from the bundle"
        raise UsageError(message, hint="leave the digest out of the target")
    if place.tag is not None and is_reserved_tag(place.tag):
        message = f"{place.tag} is where registries keep statements on a bundle"
        raise UsageError(message, hint="name another tag")
    return place


def copy_bundle(
    source: BundleReference,
    target: BundleReference,
    *,
    referrers: bool = True,
    plain_http: bool = False,
    progress: Progress = silent,
) -> CopyReport:
    """Copy a bundle between two references that were read already; see `copy`."""
    store, bundle = open_bundle(source, progress=progress, plain_http=plain_http)
    away = isinstance(source, RegistryReference | WebReference)
    if away and isinstance(target, LayoutReference | ArchiveReference):
        say_room(bundle.layers, target.path, progress, unpacked=False)
    pinned = dataclasses.replace(source, digest=bundle.descriptor.digest)
    tagged = dataclasses.replace(target, tag=target.tag or _tag(source, bundle))
    return carry(
        store,
        bundle,
        str(pinned),
        tagged,
        referrers=referrers,
        plain_http=plain_http,
        progress=progress,
    )


def carry(
    store: BlobStore,
    bundle: Bundle,
    source: str,
    target: BundleReference,
    *,
    referrers: bool = True,
    plain_http: bool = False,
    progress: Progress = silent,
) -> CopyReport:
    """Copy a bundle that was opened already; see `copy`.

    Args:
        store: Where its blobs are read.
        bundle: The bundle.
        source: What the report calls it.
        target: The place, with a tag or none.
        referrers: Whether statements come along.
        plain_http: Speak to registries without TLS.
        progress: Called with one line for each step.
    """
    from rra.registry.transfer import transfer

    digest = bundle.descriptor.digest
    tag = target.tag or tag_of_version(bundle.config.version)
    place = open_store(target, progress=progress, plain_http=plain_http)
    _refuse_collision(place, tag, bundle, target.version)
    replaced = _replaced(place, tag, bundle)
    done = transfer(
        store,
        place,
        wanted=(None, digest),
        tag=tag,
        referrers=referrers,
        progress=progress,
    )
    return CopyReport(
        source=source,
        target=str(dataclasses.replace(target, tag=tag, digest=digest)),
        digest=digest,
        core=bundle.config.core,
        tag=tag,
        blobs=done.blobs,
        referrers=len(done.referrers),
        problems=(*bundle.notices, *replaced),
    )


def _replaced(place: BlobStore, tag: str, bundle: Bundle) -> tuple[Problem, ...]:
    """Say which other artifact had the tag until now: nothing names it any more."""
    try:
        data, descriptor = place.get_manifest(tag)
        document = parse_json(data, f"manifest {descriptor.digest}")
    except RraError:
        return ()  # nothing has that tag, or what has it cannot be read
    annotations = document.get("annotations")
    core = annotations.get(CORE) if isinstance(annotations, dict) else None
    if descriptor.digest == bundle.descriptor.digest or core == bundle.config.core:
        return ()
    message = (
        f"was {descriptor.digest}, another artifact, which only its digest names now, with the "
        "statements on it"
    )
    hint = "raise `version` in rra.yaml where what is published has changed, and push again"
    return (Problem(message, f"{place.name}:{tag}", hint=hint, severity="warning"),)


def _refuse_collision(place: BlobStore, tag: str, bundle: Bundle, asked: str | None) -> None:
    """Refuse a tag that stands for another version, of which one has a ``+`` that became ``_``.

    Nor is a catalogue replaced: what other pushes wrote into it would be lost.

    Args:
        place: Where the bundle is to go.
        tag: Its tag there.
        bundle: The bundle.
        asked: The version that the tag was written as, where it was.

    Raises:
        UsageError: It does; nothing was sent.
    """
    from rra.registry.catalogue import CATALOG_TYPE

    ours = bundle.config.version
    if asked not in {None, ours}:
        message = f"{place.name}:{tag} is to hold version {asked}, and the bundle is {ours}"
        raise UsageError(message, hint="nothing was sent; leave the tag away, or correct it")
    if tag == ours:
        return  # the usual case, for which nothing is asked
    try:
        data, descriptor = place.get_manifest(tag)
    except UsageError:
        return  # nothing has that tag
    document = parse_json(data, f"manifest {descriptor.digest}")
    if document.get("artifactType") == CATALOG_TYPE:
        message = f"{place.name}:{tag} holds a catalogue, whose entries would be lost"
        raise UsageError(message, hint="nothing was sent; name another tag or repository")
    if version_of_tag(tag) == tag:
        return
    annotations = document.get("annotations")
    held = annotations.get(VERSION) if isinstance(annotations, dict) else None
    if held == ours or descriptor.digest == bundle.descriptor.digest:
        return
    meant = version_of_tag(tag)
    if meant in (ours, held):
        what = f"version {held}" if isinstance(held, str) else "something without a version"
        message = (
            f"{place.name}:{tag} holds {what}, and version {ours} is to go there: "
            f"that tag stands for {meant}, since tags have no +"
        )
        raise UsageError(message[:400], hint="nothing was sent; name another tag for one of them")


def registry_reference(text: str, verb: str, instead: str) -> RegistryReference:
    """Read a reference that has to be one of a registry.

    Args:
        text: The reference.
        verb: The verb that asks, for the message.
        instead: What does the same for other references, for the hint.

    Raises:
        UsageError: It is none.
    """
    named = parse_reference(text)
    if not isinstance(named, RegistryReference):
        message = f"{text} is not in a registry, which is what {verb} is for"
        raise UsageError(message, hint=f"give HOST[:PORT]/REPOSITORY:TAG; otherwise: {instead}")
    return named


def _tag(source: BundleReference, bundle: Bundle) -> str:
    """Return the name that a bundle keeps: its tag in the source, else its version."""
    named = source.tag or bundle.descriptor.annotations.get(REF_NAME)
    return named or tag_of_version(bundle.config.version)
