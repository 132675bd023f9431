"""Making layers: the files of each become one blob in a store."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from rra.artifact import Artifact
from rra.bundle import compress
from rra.bundle.blobcache import BlobCache
from rra.bundle.blocks import Blocks, stamp
from rra.bundle.canonical import CanonicalArchive
from rra.bundle.config import TITLE, Compressor, Form, LayerRecord, layer_type
from rra.bundle.layers import PlannedLayer
from rra.bundle.limits import unpacked_limit
from rra.bundle.store import BundleWriter, Descriptor
from rra.errors import UsageError

MAX_LAYER = 9_500_000_000
"""Largest layer that hosted registries take."""


def make_layer(
    artifact: Artifact,
    layer: PlannedLayer,
    store: BundleWriter,
    cache: BlobCache | None = None,
) -> tuple[Descriptor, LayerRecord]:
    """Put one layer into a store; return its descriptor and what the config says of it.

    Args:
        artifact: The artifact.
        layer: The layer.
        store: Where it goes.
        cache: Where the same archive may have been compressed before.

    Raises:
        UsageError: The layer is too large.
        FormatError: A name or link that no archive may hold; carries every problem.
        UnavailableError: A file changes while it is read, or the disk is full.
    """
    if layer.raw:
        return _make_raw(artifact, layer, store)
    archive = CanonicalArchive(artifact.root, layer.files)
    compressor = Compressor(algorithm="zstd", level=compress.LEVEL, library=compress.library())
    seen = _Seen()
    descriptor = None
    if cache is not None and cache.knows(archive.size):
        seen.pass_all(archive.blocks())
        descriptor = _from_cache(layer, store, cache, seen, compressor)
    if descriptor is None:
        seen = _Seen()
        descriptor = _compressed(archive, layer, store, cache, seen, compressor)
    if seen.size > unpacked_limit(descriptor.size):
        # Readers take it for a bomb, so it travels as it is.
        store.discard(descriptor.digest)
        seen = _Seen()
        descriptor = _put(store, map(bytes, seen.passing(archive.blocks())), layer, "tar")
        return descriptor, _record(layer, descriptor, seen)
    return descriptor, _record(layer, descriptor, seen, compressor=compressor)


def _from_cache(
    layer: PlannedLayer,
    store: BundleWriter,
    cache: BlobCache,
    seen: _Seen,
    compressor: Compressor,
) -> Descriptor | None:
    """Put the layer that was made before from the same archive into the store, if there is one."""
    with cache.find(seen.digest, seen.size, compressor) as blob:
        if blob is None:
            return None
        media_type = layer_type(layer.element, "tar+zstd")
        descriptor = Descriptor(media_type, blob.digest, blob.size)
        store.put_blob(descriptor, blob)
    return _titled(descriptor, layer)


def _compressed(
    archive: CanonicalArchive,
    layer: PlannedLayer,
    store: BundleWriter,
    cache: BlobCache | None,
    seen: _Seen,
    compressor: Compressor,
) -> Descriptor:
    """Compress a layer into the store, and keep what comes out for the next time."""
    chunks = compress.compressed(seen.passing(archive.blocks()))
    if cache is None:
        return _put(store, chunks, layer, "tar+zstd")
    with cache.drafting(archive.size) as draft:
        descriptor = _put(store, draft.passing(chunks), layer, "tar+zstd")
        if seen.size <= unpacked_limit(descriptor.size):
            cache.keep(draft, descriptor.digest, seen.digest, seen.size, compressor)
    return descriptor


def _make_raw(
    artifact: Artifact, layer: PlannedLayer, store: BundleWriter
) -> tuple[Descriptor, LayerRecord]:
    (path,) = layer.files
    place = artifact.root / path
    end = layer.start + layer.size
    seen = _Seen()
    blocks = _file_blocks(place, path, layer.start, end)
    descriptor = _put(store, map(bytes, seen.passing(blocks)), layer, "raw")
    return descriptor, _record(layer, descriptor, seen, path=str(path), part=layer.part)


def _file_blocks(place: Path, name: PurePosixPath, start: int, end: int) -> Iterator[memoryview]:
    blocks = Blocks()
    yield from blocks.file(str(place), stamp(place.lstat()), name, start=start, end=end)
    yield blocks.rest()


def _record(
    layer: PlannedLayer, descriptor: Descriptor, seen: _Seen, **more: object
) -> LayerRecord:
    values = {
        "element": layer.element,
        "digest": descriptor.digest,
        "size": descriptor.size,
        "diff_id": seen.digest,
        "files": len(layer.files),
        "uncompressed_size": seen.size,
        **more,
    }
    return LayerRecord.model_validate(values)


def _put(
    store: BundleWriter, chunks: Iterable[bytes], layer: PlannedLayer, form: Form
) -> Descriptor:
    descriptor = store.put(chunks, layer_type(layer.element, form))
    if descriptor.size > MAX_LAYER:
        message = f"layer {layer.title} has {descriptor.size:,} bytes; {MAX_LAYER:,} are allowed"
        hint = (
            "declare the large files of it as data, which is cut into parts, or have them fetched"
        )
        raise UsageError(message, hint=hint)
    return _titled(descriptor, layer)


def _titled(descriptor: Descriptor, layer: PlannedLayer) -> Descriptor:
    return dataclasses.replace(descriptor, annotations={TITLE: layer.title})


class _Seen:
    """Digest and number of bytes of what passed."""

    def __init__(self) -> None:
        self._state = hashlib.sha256()
        self.size = 0

    @property
    def digest(self) -> str:
        return "sha256:" + self._state.hexdigest()

    def pass_all(self, blocks: Iterable[memoryview]) -> None:
        """Count and hash blocks."""
        for _ in self.passing(blocks):
            pass

    def passing(self, blocks: Iterable[memoryview]) -> Iterator[memoryview]:
        """Yield blocks, and count and hash them."""
        for block in blocks:
            self._state.update(block)
            self.size += len(block)
            yield block
