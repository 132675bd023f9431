"""Reading a bundle's two small documents from any store."""

from __future__ import annotations

import dataclasses

from rra.bundle.config import (
    MAX_CONFIG_BYTES,
    BundleConfig,
    BundleManifest,
    LayerDescriptor,
    LayerRecord,
    parse_config,
    parse_manifest,
)
from rra.bundle.store import Descriptor, ManifestStore, read_blob, resolve
from rra.errors import Problem


@dataclasses.dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle of which manifest and config were read and checked.

    Attributes:
        where: The store, as messages call it.
        descriptor: Descriptor of the manifest; its digest names the bundle.
        manifest: The OCI manifest.
        config: The typed config.
        notices: What others say that readers have to know, as warnings of whoever opened it.
    """

    where: str
    descriptor: Descriptor
    manifest: BundleManifest
    config: BundleConfig
    notices: tuple[Problem, ...] = ()

    @property
    def layers(self) -> list[tuple[LayerDescriptor, LayerRecord]]:
        """The layers, each as the manifest and as the config has it."""
        return list(zip(self.manifest.layers, self.config.layers, strict=True))


def read_bundle(store: ManifestStore, tag: str | None = None, digest: str | None = None) -> Bundle:
    """Read manifest and config of a bundle; no layer is touched.

    Args:
        store: Where it lies.
        tag: Its name there; None for the only one.
        digest: Digest that its manifest must have.

    Raises:
        UsageError: There is no such bundle, or it is of another kind.
        CorruptError: Bytes are not what vouches for them.
        FormatError: A document breaks the format.
    """
    data, descriptor = resolve(store, tag, digest)
    where = f"{store.name}@{descriptor.digest[:19]}"
    manifest = parse_manifest(data, where)
    config = parse_config(read_blob(store, manifest.config, MAX_CONFIG_BYTES), manifest, where)
    return Bundle(store.name, descriptor, manifest, config)
