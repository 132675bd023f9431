"""Copying a bundle from one store to another, every byte verified on the way."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence

from rra.bundle.archive import ArchiveStore
from rra.bundle.jsonio import parse_json
from rra.bundle.layout import LayoutStore
from rra.bundle.store import (
    BLOCK,
    MANIFEST_TYPE,
    BlobReader,
    BlobStore,
    Descriptor,
    parse_descriptor,
    resolve,
)
from rra.errors import CorruptError, FormatError
from rra.registry.failures import UnknownBlobError
from rra.registry.fetch import Fetched, Titled, fetched
from rra.registry.meter import Meter, size_text
from rra.registry.parallel import Stop, run_all
from rra.registry.partial import drop_partials
from rra.registry.store import RegistryStore

_TITLE = "org.opencontainers.image.title"


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
        blobs: Config and layers.
    """

    descriptor: Descriptor
    tag: str | None
    blobs: tuple[BlobCopy, ...]


def transfer(
    source: BlobStore,
    target: BlobStore,
    *,
    wanted: tuple[str | None, str | None],
    tag: str | None,
    progress: Callable[[str], None] = lambda _: None,
) -> TransferResult:
    """Copy one bundle: its blobs first, four at a time, its manifest last and byte for byte.

    Args:
        source: Where it is read.
        target: Where it goes.
        wanted: Tag and digest of the bundle in the source, as `resolve` takes them. From the
            moment the tag is looked up, only digests are asked for.
        tag: Tag in the target; None for none.
        progress: Called with a line for each step, and with how far it is; never by two
            threads at once.

    Raises:
        CorruptError: A blob or the manifest is not what its digest says.
        FormatError: What is there is no bundle.
    """
    data, manifest = resolve(source, *wanted)
    blobs = _blobs(data, manifest, source.name)
    # What came here is kept until the bundle has its name, whatever ends us before.
    with contextlib.ExitStack() as until_named, target.writing():
        if isinstance(source, RegistryStore) and isinstance(target, LayoutStore | ArchiveStore):
            missing = [(title, blob) for title, blob in blobs if not target.has(blob.digest)]
            there = [titled for titled in blobs if titled not in missing]
            for title, _ in there:
                progress(f"{title}: {target.name} has it")
            drop_partials(blob for _, blob in there)
            here = until_named.enter_context(fetched(source, missing, progress))
            _bring_all(here, target, missing)
            copies = [BlobCopy(*titled, copied=titled in missing) for titled in blobs]
        else:
            copies = _copy_all(source, target, blobs, progress)
        try:
            kept = target.put_manifest(data, tag, media_type=manifest.media_type)
        except UnknownBlobError as error:
            again = [(blob.title, blob.descriptor) for blob in copies if not blob.copied]
            if not again:
                raise
            progress(f"{error.message}; sending what it said it had")
            sent = {
                blob.descriptor.digest: blob
                for blob in _copy_all(source, target, again, progress, unseen=True)
            }
            copies = [sent.get(blob.descriptor.digest, blob) for blob in copies]
            kept = target.put_manifest(data, tag, media_type=manifest.media_type)
    if kept.digest != manifest.digest:
        message = f"{target.name} kept manifest {kept.digest}, not {manifest.digest}"
        raise CorruptError(message, hint="do not use what is there")
    return TransferResult(manifest, tag, tuple(copies))


def _copy_all(
    source: BlobStore,
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
        file = here.file(blob) if isinstance(here, Fetched) else None
        if file is None or file.path is None or not target.put_file(blob, file.path):
            target.put_blob(blob, _Opened(here, blob))


def _blobs(data: bytes, manifest: Descriptor, source: str) -> list[tuple[str, Descriptor]]:
    """Return config and layers of a manifest with their titles, each digest once."""
    name = f"manifest {manifest.digest}"
    if manifest.media_type != MANIFEST_TYPE:
        message = f"{source}: {manifest.digest} is {manifest.media_type}, not one bundle"
        raise FormatError(message, hint="name one bundle of it by its digest")
    document = parse_json(data, name)
    layers = document.get("layers")
    if not isinstance(layers, list):
        raise FormatError(f"{name} lists no layers", hint="it is no bundle")
    found: dict[str, tuple[str, Descriptor]] = {}
    places = [("/config", document.get("config"))]
    places += [(f"/layers/{number}", layer) for number, layer in enumerate(layers)]
    for pointer, value in places:
        blob = parse_descriptor(value, pointer, name)
        kind = "config" if pointer == "/config" else blob.media_type
        found.setdefault(blob.digest, (blob.annotations.get(_TITLE) or kind, blob))
    return list(found.values())


@dataclasses.dataclass(frozen=True, slots=True)
class _Job:
    """One blob on its way."""

    source: BlobStore
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
    if repository is None or not isinstance(job.target, RegistryStore):
        job.target.put_blob(job.blob, _Chunks(job))
    elif job.target.mount(job.blob, _Chunks(job), repository):
        job.meter.skip(job.blob.size)
        job.meter.line(f"{job.title}: taken over from {job.source.name}")
        return BlobCopy(job.title, job.blob, copied=False, mounted=True)
    return BlobCopy(job.title, job.blob, copied=True)


def _neighbour(source: BlobStore, target: BlobStore) -> str | None:
    """Return the source's repository where it is another one of the target's registry."""
    if not (isinstance(source, RegistryStore) and isinstance(target, RegistryStore)):
        return None
    if source.registry.origin != target.registry.origin:
        return None
    repository = source.reference.repository
    return None if repository == target.reference.repository else repository


class _Opened:
    """The verified bytes of a blob, read anew each time they are iterated."""

    def __init__(self, source: BlobReader, blob: Descriptor) -> None:
        self._source, self._blob = source, blob

    def __iter__(self) -> Iterator[bytes]:
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
