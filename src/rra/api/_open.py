"""Opening what a user names: a directory as it is, a bundle unpacked for as long as it is read."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rra._base import places
from rra._base.files import remove_tree
from rra.api._result import Progress, silent
from rra.api._statements import notices_of
from rra.artifact.layout import MANIFEST
from rra.bundle.reference import (
    ArchiveReference,
    BundleReference,
    DirectoryReference,
    LayoutReference,
    RegistryReference,
    WebReference,
    parse_reference,
)
from rra.errors import NotAnArtifactError, Problem, UsageError

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.bundle.reader import Bundle
    from rra.bundle.store import BlobReader, BlobStore

_CACHE = "bundles"


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A directory that holds what a reference names.

    Attributes:
        root: The directory.
        name: What results call it: the directory, or the bundle with its digest.
        bundle: The bundle that it was unpacked from; None for a directory of the user's.
    """

    root: Path
    name: str
    bundle: Bundle | None = None

    @property
    def notices(self) -> tuple[Problem, ...]:
        """What others say that readers have to know, as warnings; empty for a directory."""
        return self.bundle.notices if self.bundle is not None else ()


@dataclasses.dataclass(frozen=True, slots=True)
class Opened(Place):
    """An artifact, wherever it came from; see `Place`."""

    artifact: Artifact = dataclasses.field(kw_only=True)


@contextlib.contextmanager
def open_place(
    reference: str | Path, *, progress: Progress = silent, plain_http: bool = False
) -> Iterator[Place]:
    """Give a directory with what a reference names.

    A directory is given as it is, whatever it holds. A bundle is verified and unpacked into a
    temporary directory, which goes when the block ends. What comes from a registry is kept, as
    blobs that are verified again each time, below ``$RRA_CACHE``, if that can be written.

    Args:
        reference: A directory, or a reference as `rra.bundle.reference` describes them.
        progress: Called with one line for each step.
        plain_http: Speak to a registry without TLS.

    Raises:
        UsageError: It is no reference, or there is no such bundle.
        NotAnArtifactError: It is a file without its scheme.
        CorruptError: The bundle is not what vouches for it.
        UnavailableError: A registry does not answer, or the disk is full.
    """
    parsed = DirectoryReference(reference) if isinstance(reference, Path) else None
    named = parsed or parse_reference(str(reference))
    if isinstance(named, DirectoryReference):
        if named.path.name != MANIFEST and named.path.is_file():
            hint = f"give the directory that holds rra.yaml, or a bundle: oci-archive:{named}"
            raise NotAnArtifactError(f"{named} is a file", hint=hint)
        yield Place(named.path, str(named.path))
        return
    from rra.bundle.unpack import unpack_bundle

    keep = places.writable_cache() is not None
    store, bundle = open_bundle(named, progress=progress, plain_http=plain_http, keep=keep)
    folder = Path(tempfile.mkdtemp(prefix="rra-bundle-"))
    try:
        root = folder / bundle.config.name
        with _brought(store, bundle, progress) as here:
            unpack_bundle(bundle, here, root, progress=progress)
        pinned = dataclasses.replace(named, digest=bundle.descriptor.digest)
        yield Place(root, str(pinned), bundle)
    finally:
        remove_tree(folder)


def _brought(
    store: BlobStore, bundle: Bundle, progress: Progress
) -> contextlib.AbstractContextManager[BlobReader]:
    """Give the blobs of a bundle; those of a registry come here for as long as they are read."""
    from rra.bundle.archive import ArchiveStore
    from rra.bundle.layout import LayoutStore

    if isinstance(store, LayoutStore | ArchiveStore):
        return contextlib.nullcontext(store)
    from rra.registry import fetched

    layers = [(layer.title or record.element, layer.descriptor) for layer, record in bundle.layers]
    return fetched(store, layers, progress)


@contextlib.contextmanager
def open_artifact(
    reference: str | Path, *, progress: Progress = silent, plain_http: bool = False
) -> Iterator[Opened]:
    """Give the artifact that a reference names; see `open_place`.

    Raises:
        NotAnArtifactError: The directory is missing, or holds no artifact.
        FormatError: Its manifest cannot be used.
    """
    from rra.artifact import load_artifact

    with open_place(reference, progress=progress, plain_http=plain_http) as place:
        artifact = load_artifact(place.root)
        name = place.name if place.bundle else str(artifact.root)
        yield Opened(artifact.root, name, place.bundle, artifact=artifact)


def open_bundle(
    reference: BundleReference,
    *,
    progress: Progress = silent,
    plain_http: bool = False,
    keep: bool = False,
    ask: bool = True,
) -> tuple[BlobStore, Bundle]:
    """Return the store of a bundle, and the bundle with manifest, config and notices read.

    Args:
        reference: The bundle.
        progress: Called with one line for each step.
        plain_http: Speak to a registry without TLS.
        keep: Bring all blobs of a bundle of a registry here first, and return that copy.
        ask: Ask for notices; whoever reads all statements anyway need not.

    Raises:
        UsageError: There is no such bundle.
        CorruptError: A document is not what vouches for it.
        UnavailableError: A registry does not answer.
    """
    from rra.bundle.layout import LayoutStore
    from rra.bundle.reader import read_bundle

    store = open_store(reference, progress=progress, plain_http=plain_http)
    bundle = read_bundle(store, reference.tag, reference.digest)
    insist_on_version(reference, bundle)
    if ask:
        bundle = dataclasses.replace(bundle, notices=notices_of(store, bundle))
    if not keep or not isinstance(reference, RegistryReference):
        return store, bundle
    from rra.registry.transfer import transfer

    kept = LayoutStore(places.make_cache() / _CACHE)
    digest = bundle.descriptor.digest
    transfer(store, kept, wanted=(None, digest), tag=None, referrers=False, progress=progress)
    return kept, bundle


def insist_on_version(reference: BundleReference, bundle: Bundle) -> None:
    """Insist that a version with build metadata, which shares its tag, is the one that is there.

    Raises:
        UsageError: Another version has that tag.
    """
    found = bundle.config.version
    if reference.version is not None and found != reference.version:
        message = f"{reference} holds version {found}, not {reference.version}"
        raise UsageError(message, hint=f"name the tag {reference.tag} if that is what you want")


def open_store(
    reference: BundleReference, *, progress: Progress = silent, plain_http: bool = False
) -> BlobStore:
    """Return the store that a reference names; only what is on the web is brought here first.

    Args:
        reference: The bundle.
        progress: Called with a line when a registry makes us wait, and with how far a file is.
        plain_http: Speak to a registry without TLS.

    Raises:
        UsageError: A credential file cannot be read.
        CorruptError: A file on the web is not what the reference says.
        UnavailableError: It does not come, or there is no room for it.
    """
    if isinstance(reference, LayoutReference):
        from rra.bundle.layout import LayoutStore

        return LayoutStore(reference.path)
    if isinstance(reference, ArchiveReference):
        from rra.bundle.archive import ArchiveStore

        return ArchiveStore(reference.path)
    if isinstance(reference, WebReference):
        from rra.registry import open_download

        return open_download(reference, progress=progress)
    from rra.registry import open_store as open_repository

    return open_repository(reference, plain_http=plain_http, notice=progress)
