"""``rra inspect``: what a bundle says of itself, from its two small documents."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from rra.api._open import open_bundle
from rra.api._result import Progress, VerbResult, silent
from rra.api._unpack import bundle_reference
from rra.bundle.config import BundleConfig
from rra.model import Manifest


@dataclasses.dataclass(frozen=True, slots=True)
class InspectedLayer:
    """One layer: its name, kind, and what the config says of it."""

    title: str
    media_type: str
    record: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Inspection(VerbResult):
    """What manifest and config of a bundle say; no layer was read.

    Attributes:
        reference: The bundle, with its digest.
        digest: Digest of its manifest.
        annotations: What catalogues show.
        layers: Its layers, in order.
        config: The typed config.
    """

    reference: str
    digest: str
    annotations: Mapping[str, str]
    layers: tuple[InspectedLayer, ...]
    config: BundleConfig

    @property
    def manifest(self) -> Manifest:
        """What ``rra.yaml`` says."""
        return self.config.artifact_manifest()

    @property
    def size(self) -> int:
        """Bytes of all layers as they travel."""
        return sum(layer.size for layer in self.config.layers)

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        manifest = self.manifest
        return {
            "reference": self.reference,
            "digest": self.digest,
            "name": manifest.name,
            "version": manifest.version,
            "core": self.config.core,
            "size": self.size,
            "annotations": dict(self.annotations),
            "layers": [
                {"title": layer.title, "media_type": layer.media_type, **layer.record}
                for layer in self.layers
            ],
            "launchers": list(manifest.launchers),
            "outcomes": {name: one.reported for name, one in manifest.reported_values().items()},
            "manifest": self.config.manifest,
            "lock": self.config.lock,
        }


def inspect(reference: str, *, plain_http: bool = False, progress: Progress = silent) -> Inspection:
    """Read the two small documents of a bundle and say what is in it.

    Args:
        reference: The bundle.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such bundle, or it is of another kind.
        CorruptError: A document is not what vouches for it.
        FormatError: A document breaks the format.
    """
    named = bundle_reference(reference)
    progress(f"reading {reference}")
    _, bundle = open_bundle(named, progress=progress, plain_http=plain_http)
    digest = bundle.descriptor.digest
    layers = tuple(
        InspectedLayer(layer.title, layer.descriptor.media_type, record.to_json())
        for layer, record in bundle.layers
    )
    return Inspection(
        reference=str(dataclasses.replace(named, digest=digest)),
        digest=digest,
        annotations=bundle.manifest.annotations,
        layers=layers,
        config=bundle.config,
    )
