"""Packing: an artifact becomes a bundle in a folder or file.

The bytes of a bundle follow from the artifact's files and the compression library alone. No
time, owner, mode mask, path, locale or order of a directory is in them.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Protocol

import rfc8785

from rra._base.collector import settled
from rra._base.files import sha256_bytes
from rra.artifact import Artifact
from rra.bundle.annotations import annotate
from rra.bundle.blobcache import blob_cache
from rra.bundle.compress import Encoder
from rra.bundle.config import (
    CONFIG_TYPE,
    MAX_CONFIG_BYTES,
    BundleConfig,
    LayerRecord,
    archive_lock,
    manifest_bytes,
    table_outcomes,
)
from rra.bundle.identity import core_digest, core_locks
from rra.bundle.layers import DEFAULT_THRESHOLDS, PlannedLayer, Thresholds, list_files, plan_layers
from rra.bundle.make import make_layer
from rra.bundle.reference import tag_of_version
from rra.bundle.store import BundleWriter, Descriptor
from rra.errors import CorruptError, FormatError, Problem, UsageError
from rra.model import ElementLock, Lock

MAX_MANIFEST = 1 << 20
"""Largest manifest that is made; registries refuse larger ones sooner or later."""

LARGE_LAYER = 2 << 30

Progress = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class PackResult:
    """A bundle that was made.

    Attributes:
        descriptor: Descriptor of its manifest.
        tag: Its name in the store.
        config: Its config.
        titles: Name of each layer, in order.
        warnings: What may be refused elsewhere.
    """

    descriptor: Descriptor
    tag: str
    config: BundleConfig
    titles: tuple[str, ...]
    warnings: tuple[Problem, ...]


class Watcher(Protocol):
    """Sees what is made before anybody else does, and stops it by an error."""

    def see_layers(self, plan: Sequence[PlannedLayer], records: Sequence[LayerRecord]) -> None:
        """See the layers, before anything is compared with the lock."""

    def see_manifest(self, digest: str) -> None:
        """See the digest of the manifest, before the bundle is there."""


@settled()
def pack_bundle(
    artifact: Artifact,
    store: BundleWriter,
    tag: str | None = None,
    *,
    created: str | None = None,
    thresholds: Thresholds = DEFAULT_THRESHOLDS,
    progress: Progress | None = None,
    reuse: bool = True,
    watcher: Watcher | None = None,
) -> PackResult:
    """Make the bundle of an artifact; no rule is asked whether it should be.

    Args:
        artifact: The artifact; its ``rra.lock`` must be that of its files.
        store: Where the bundle goes; nothing of it is there when an error is raised.
        tag: Its name there; the version by default.
        created: When the artifact was made (`rra.bundle.annotations.creation_time`).
        thresholds: From which sizes on files are layers of their own.
        progress: Called with one line for each layer.
        reuse: Whether layers that were compressed before are taken from the cache.
        watcher: Sees layers and manifest before the bundle is there.

    Raises:
        UsageError: The artifact is not locked, a layer is too large, or the store's place is
            taken by something else.
        FormatError: A file that the manifest names is missing, or a name or link is one that
            no archive may hold; carries every problem.
        CorruptError: ``rra.lock`` is that of other files.
        UnavailableError: A file changes while it is read, or the disk is full.
    """
    lock = artifact.lock
    if lock is None:
        message = f"{artifact.root} is not locked: it has no rra.lock"
        raise UsageError(message, hint="run: rra lock")
    name = tag if tag is not None else tag_of_version(artifact.manifest.version)
    listed = list_files(artifact)
    plan = plan_layers(artifact, thresholds, listed)
    remembered = blob_cache() if reuse else contextlib.nullcontext()
    with store.writing(), remembered as cache:
        made, encoder = [], Encoder()
        for layer in plan:
            if progress is not None:
                count = len(layer.files)
                progress(f"packing {layer.title} ({count} file{'s' * (count != 1)})")
            made.append(make_layer(artifact, layer, store, encoder, cache))
        records = [record for _, record in made]
        if watcher is not None:
            watcher.see_layers(plan, records)
        named = {str(element): files for element, files in listed.items()}
        elements = core_locks(artifact, _archives(plan, records), named)
        core = core_digest(artifact, elements)
        if core != lock.core:
            message = (
                f"rra.lock is not that of the files as they are now: {_changed(lock, elements)}"
            )
            raise CorruptError(message, hint="run: rra lock --keep, look at it, and pack again")
        config = BundleConfig(
            rra=artifact.manifest.rra,
            core=core,
            manifest=artifact.document.data,
            outcomes=table_outcomes(artifact),
            lock=lock.to_json(),
            layers=records,
        )
        configured = store.put([_config_bytes(config)], CONFIG_TYPE)
        layers = [descriptor for descriptor, _ in made]
        document = manifest_bytes(configured, layers, annotate(artifact, core, created))
        if len(document) > MAX_MANIFEST:
            message = f"the manifest has {len(document)} bytes; {MAX_MANIFEST} are allowed"
            raise FormatError(message, hint="shorten the description in rra.yaml")
        if watcher is not None:
            watcher.see_manifest(sha256_bytes(document))
        descriptor = store.put_manifest(document, name)
    titles = tuple(layer.title for layer in plan)
    return PackResult(descriptor, name, config, titles, tuple(_large(titles, layers)))


def _config_bytes(config: BundleConfig) -> bytes:
    try:
        data = config.to_bytes()
    except (rfc8785.CanonicalizationError, TypeError) as error:
        message = f"rra.yaml holds a value without a canonical form: {error}"
        hint = "write integers beyond 2^53 as text, and keys as text"
        raise FormatError(message, hint=hint) from error
    if len(data) > MAX_CONFIG_BYTES:
        message = f"the config has {len(data):,} bytes; {MAX_CONFIG_BYTES:,} are allowed"
        raise FormatError(message, hint="shorten rra.yaml")
    return data


def _archives(
    plan: tuple[PlannedLayer, ...], records: list[LayerRecord]
) -> Iterator[tuple[Collection[PurePosixPath], ElementLock]]:
    """Yield the files of each archive with what is known of it."""
    for layer, record in zip(plan, records, strict=True):
        if not layer.raw:
            yield layer.files, archive_lock(record)


def _changed(lock: Lock, elements: Mapping[str, ElementLock]) -> str:
    """Say which elements changed since an artifact was locked."""
    changed = [
        f"{name} has changed ({now.files} file{'s' * (now.files != 1)}; locked with {then.files})"
        for name, now in elements.items()
        if (then := lock.elements.get(name)) is not None and then.diff_id != now.diff_id
    ]
    return ", ".join(changed) or "what rra.yaml defines has changed"


def _large(titles: tuple[str, ...], layers: list[Descriptor]) -> Iterator[Problem]:
    for title, layer in zip(titles, layers, strict=True):
        if layer.size > LARGE_LAYER:
            yield Problem(
                f"the layer has {layer.size:,} bytes; some registries and proxies stop at 2 GiB",
                title,
                clause="bundle/size",
                hint="have large data fetched (access: fetch) if it has a place of its own",
                severity="warning",
            )
