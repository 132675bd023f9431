"""Copying a bundle from one store to another, every byte verified on the way."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from rra._base.progress import size_text
from rra.bundle.archive import ArchiveStore
from rra.bundle.layout import LayoutStore
from rra.bundle.store import (
    BLOCK,
    BlobReader,
    BlobStore,
    ChunkReader,
    Descriptor,
    FileReader,
    ManifestStore,
    resolve,
)
from rra.errors import CorruptError
from rra.registry.failures import UnknownBlobError
from rra.registry.fetch import Titled, fetched
from rra.registry.graph import Statement, blobs_of, statements
from rra.registry.meter import Meter
from rra.registry.parallel import Stop, run_all
from rra.registry.partial import drop_partials
from rra.registry.referrers import Unlisted
from rra.registry.store import RegistryStore

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


@dataclasses.dataclass(frozen=True, slots=True)
class BlobCopy:
    """What became of one blob.

    Attributes:
        title: What it holds, as its annotation says; else its kind.
        descriptor: Its digest and size.
        copied: False where the target had it already.
        mounted: The registry took it over from another repository of its own.
    """

    title: str
    descriptor: Descriptor
    copied: bool
    mounted: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class TransferResult:
    """A bundle that is now in another place as well.

    Attributes:
        descriptor: Its manifest: the same bytes in both places.
        tag: Tag that it has there, if any.
        blobs: Config and layers, then those of the statements on it.
        referrers: Manifests of the statements that came along.
    """

    descriptor: Descriptor
    tag: str | None
    blobs: tuple[BlobCopy, ...]
    referrers: tuple[Descriptor, ...] = ()


def transfer(
    source: ManifestStore,
    target: BlobStore,
    *,
    wanted: tuple[str | None, str | None],
    tag: str | None,
    referrers: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> TransferResult:
    """Copy one bundle: its blobs first, four at a time, its manifest last and byte for byte.

    Statements on it come along, and statements on those. In a registry they are there before
    the tag is: who finds the bundle finds them.

    Args:
        source: Where it is read.
        target: Where it goes.
        wanted: Tag and digest of the bundle in the source, as `resolve` takes them. From the
            moment the tag is looked up, only digests are asked for.
        tag: Tag in the target; None for none.
        referrers: Whether statements come along, from a source that has them.
        progress: Called with a line for each step, and with how far it is; never by two
            threads at once.

    Raises:
        CorruptError: A blob or a manifest is not what its digest says.
        FormatError: What is there is no bundle, or has more statements than are carried.
    """
    data, manifest = resolve(source, *wanted)
    bundle = blobs_of(data, manifest, source.name)
    with _telling_apart(bundle):
        beside = (
            statements(source, manifest, progress)
            if referrers and isinstance(source, BlobStore)
            else []
        )
    every: dict[str, Titled] = {}
    for titled in itertools.chain(bundle, *(one.blobs for one in beside)):
        every.setdefault(titled[1].digest, titled)
    blobs = list(every.values())
    # What came here is kept until the bundle has its name, whatever ends us before.
    with (
        contextlib.ExitStack() as until_named,
        target.writing(),
        _telling_apart(bundle, beside),
    ):
        if isinstance(source, RegistryStore) and isinstance(target, LayoutStore | ArchiveStore):
            missing = [(title, blob) for title, blob in blobs if not target.has(blob.digest)]
            wanting = {blob.digest for _, blob in missing}
            there = [titled for titled in blobs if titled[1].digest not in wanting]
            for title, _ in there:
                progress(f"{title}: {target.name} has it")
            drop_partials(blob for _, blob in there)
            here = until_named.enter_context(fetched(source, missing, progress))
            _bring_all(here, target, missing)
            copies = [BlobCopy(*one, copied=one[1].digest in wanting) for one in blobs]
        else:
            copies = _copy_all(source, target, blobs, progress)
        naming = _Naming(source, target, progress, {one.descriptor.digest: one for one in copies})
        naming.name(data, manifest, tag, bundle, beside)
    return TransferResult(
        manifest,
        tag,
        tuple(naming.copies.values()),
        tuple(one.descriptor for one in beside),
    )


@contextlib.contextmanager
def _telling_apart(
    bundle: Sequence[Titled], beside: Sequence[Statement] | None = None
) -> Iterator[None]:
    """Say so where a statement is damaged and not the bundle, and how to go on without it.

    Args:
        bundle: Blobs of the bundle.
        beside: The statements; None while their manifests are looked for.
    """
    try:
        yield
    except CorruptError as error:
        own = {blob.digest for _, blob in bundle}
        named = set(_DIGEST.findall(error.message))
        theirs = {blob.digest for one in beside or () for _, blob in one.blobs} - own
        if beside is not None and not named & theirs:
            raise
        message = f"a statement on the bundle is damaged: {error.message}"
        hint = "rra copy --no-referrers takes the bundle without the statements on it"
        raise CorruptError(message, hint=hint) from error


@dataclasses.dataclass(frozen=True, slots=True)
class _Naming:
    """Putting manifests when their blobs are there."""

    source: ManifestStore
    target: BlobStore
    progress: Callable[[str], None]
    copies: dict[str, BlobCopy]

    def name(
        self,
        data: bytes,
        manifest: Descriptor,
        tag: str | None,
        blobs: Sequence[Titled],
        beside: Sequence[Statement],
    ) -> None:
        """Put the bundle and the statements; in a registry the tag comes after all of them."""
        registry = self.target if isinstance(self.target, RegistryStore) else None
        last = bool(beside) and registry is not None
        put = functools.partial(self.target.put_manifest, data, media_type=manifest.media_type)
        self._put(manifest, blobs, functools.partial(put, None if last else tag))
        unlisted: Unlisted = {}
        for one in beside:
            keep = functools.partial(self.target.put_referrer, one.data, one.subject)
            if registry is not None:
                # One list is written once, however many statements are new in it.
                keep = functools.partial(registry.keep_referrer, one.data, one.subject, unlisted)
            self._put(one.descriptor, one.blobs, keep)
        if registry is not None:
            registry.enter_referrers(unlisted)
        if beside:
            count = len(beside)
            self.progress(f"{count} statement{'s' if count > 1 else ''} on it")
        if last and tag is not None:
            put(tag)

    def _put(
        self, manifest: Descriptor, blobs: Sequence[Titled], put: Callable[[], Descriptor]
    ) -> None:
        """Put a manifest, once more after blobs that the target only said it had."""
        try:
            kept = put()
        except UnknownBlobError as error:
            again = [titled for titled in blobs if not self.copies[titled[1].digest].copied]
            if not again:
                raise
            self.progress(f"{error.message}; sending what it said it had")
            sent = _copy_all(self.source, self.target, again, self.progress, unseen=True)
            self.copies.update({blob.descriptor.digest: blob for blob in sent})
            kept = put()
        if kept.digest != manifest.digest:
            message = f"{self.target.name} kept manifest {kept.digest}, not {manifest.digest}"
            raise CorruptError(message, hint="do not use what is there")


def _copy_all(
    source: ManifestStore,
    target: BlobStore,
    blobs: Sequence[Titled],
    progress: Callable[[str], None],
    *,
    unseen: bool = False,
) -> list[BlobCopy]:
    """Copy blobs straight from one to the other, four at a time.

    Args:
        source: Where they are.
        target: Where they go.
        blobs: The blobs.
        progress: Called with lines.
        unseen: Send them whatever the target says that it has.
    """
    meter = Meter(progress, sum(blob.size for _, blob in blobs), "copied")
    stop = Stop()
    jobs = [_Job(source, target, title, blob, meter, stop, unseen) for title, blob in blobs]
    copies = run_all([functools.partial(_copy, job) for job in jobs], stop)
    meter.finish()
    return copies


def _bring_all(
    here: BlobReader, target: LayoutStore | ArchiveStore, missing: Sequence[Titled]
) -> None:
    """Take blobs that come here from a registry into a folder or file."""
    for _, blob in missing:
        file = here.verified_file(blob) if isinstance(here, FileReader) else None
        if file is None or not target.put_file(blob, file.path):
            target.put_blob(blob, _Opened(here, blob))


@dataclasses.dataclass(frozen=True, slots=True)
class _Job:
    """One blob on its way."""

    source: ManifestStore
    target: BlobStore
    title: str
    blob: Descriptor
    meter: Meter
    stop: Stop
    unseen: bool


def _copy(job: _Job) -> BlobCopy:
    job.stop.check()
    if not job.unseen and job.target.has(job.blob.digest):
        job.meter.skip(job.blob.size)
        job.meter.line(f"{job.title}: {job.target.name} has it")
        return BlobCopy(job.title, job.blob, copied=False)
    job.meter.line(f"{job.title}: {size_text(job.blob.size)}")
    repository = None if job.unseen else _neighbour(job.source, job.target)
    try:
        mounted = _sent(job, repository)
    except CorruptError:
        _insist_on_source(job.source, job.blob)
        raise
    if mounted:
        job.meter.skip(job.blob.size)
        job.meter.line(f"{job.title}: taken over from {job.source.name}")
        return BlobCopy(job.title, job.blob, copied=False, mounted=True)
    return BlobCopy(job.title, job.blob, copied=True)


def _sent(job: _Job, repository: str | None) -> bool:
    """Send a blob; True when the target took it over from a repository of its own instead."""
    if repository is None or not isinstance(job.target, RegistryStore):
        job.target.put_blob(job.blob, _Chunks(job))
        return False
    return job.target.mount(job.blob, _Chunks(job), repository)


def _insist_on_source(source: BlobReader, blob: Descriptor) -> None:
    """Say so where a blob was refused because it is damaged where it comes from.

    Raises:
        CorruptError: It is missing there, or not of that size and digest.
    """
    if isinstance(source, ChunkReader):
        with source.open(blob):
            pass


def _neighbour(source: ManifestStore, target: BlobStore) -> str | None:
    """Return the source's repository where it is another one of the target's registry."""
    if not (isinstance(source, RegistryStore) and isinstance(target, RegistryStore)):
        return None
    if source.registry.origin != target.registry.origin:
        return None
    repository = source.reference.repository
    return None if repository == target.reference.repository else repository


class _Opened:
    """The bytes of a blob for a store that verifies them, read anew each time they are iterated."""

    def __init__(self, source: BlobReader, blob: Descriptor) -> None:
        self._source, self._blob = source, blob

    def __iter__(self) -> Iterator[bytes]:
        if isinstance(self._source, ChunkReader):
            # Whoever takes a blob compares it with its digest; once is enough.
            yield from self._source.chunks(self._blob)
            return
        with self._source.open(self._blob) as stream:
            while block := stream.read(BLOCK):
                yield block


class _Chunks:
    """The same, counted, and as long as no other transfer fails."""

    def __init__(self, job: _Job) -> None:
        self._job = job
        self._counted = 0

    def __iter__(self) -> Iterator[bytes]:
        job = self._job
        job.meter.add(-self._counted)
        self._counted = 0
        for block in _Opened(job.source, job.blob):
            job.stop.check()
            yield block
            self._counted += len(block)
            job.meter.add(len(block))
