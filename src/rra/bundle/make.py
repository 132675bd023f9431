"""Making layers: the files of each become one blob in a store."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from rra.artifact import Artifact
from rra.bundle.blobcache import BlobCache
from rra.bundle.canonical import CanonicalArchive
from rra.bundle.compress import Encoder
from rra.bundle.config import TITLE, Form, LayerRecord, layer_type
from rra.bundle.content import Compressed, FilePart, Plain
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
    encoder: Encoder,
    cache: BlobCache | None = None,
) -> tuple[Descriptor, LayerRecord]:
    """Put one layer into a store; return its descriptor and what the config says of it.

    What the store is given can be iterated again for as long as the files stay as they are.

    Args:
        artifact: The artifact.
        layer: The layer.
        store: Where it goes.
        encoder: What compresses it.
        cache: Where the same archive may have been compressed before.

    Raises:
        UsageError: The layer is too large.
        FormatError: A name or link that no archive may hold; carries every problem.
        UnavailableError: A file changes while it is read, or the disk is full.
    """
    if layer.raw:
        (path,) = layer.files
        part = FilePart(artifact.root, path, layer.start, layer.size)
        descriptor = _put(store, part, layer, "raw")
        return descriptor, _as_it_is(layer, descriptor, path=str(path), part=layer.part)
    archive = CanonicalArchive(artifact.root, layer.files)
    content = Compressed(archive, encoder, cache)
    with content.drafting():
        descriptor = _put(store, content, layer, "tar+zstd")
        content.keep(descriptor.digest, descriptor.size)
    if content.size > unpacked_limit(descriptor.size):
        # Readers take it for a bomb, so it travels as it is.
        store.discard(descriptor.digest)
        descriptor = _put(store, Plain(archive), layer, "tar")
        return descriptor, _as_it_is(layer, descriptor)
    record = _record(
        layer, descriptor, content.diff_id, content.size, compressor=content.compressor
    )
    return descriptor, record


def _as_it_is(layer: PlannedLayer, descriptor: Descriptor, **more: object) -> LayerRecord:
    """Return the record of a blob without compression."""
    return _record(layer, descriptor, descriptor.digest, descriptor.size, **more)


def _record(
    layer: PlannedLayer, descriptor: Descriptor, diff_id: str, size: int, **more: object
) -> LayerRecord:
    values = {
        "element": layer.element,
        "digest": descriptor.digest,
        "size": descriptor.size,
        "diff_id": diff_id,
        "files": len(layer.files),
        "uncompressed_size": size,
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
    return dataclasses.replace(descriptor, annotations={TITLE: layer.title})
