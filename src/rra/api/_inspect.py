"""``rra inspect``: what a bundle says of itself, from its two small documents."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra.api._open import open_bundle
from rra.api._result import Progress, VerbResult, silent
from rra.api._statements import read_policy, standing_of
from rra.api._unpack import bundle_reference
from rra.bundle.config import BundleConfig
from rra.errors import UsageError
from rra.model import Manifest

if TYPE_CHECKING:
    from rra.report.standing import Standing


@dataclasses.dataclass(frozen=True, slots=True)
class InspectedLayer:
    """One layer: its name, kind, and what the config says of it."""

    title: str
    media_type: str
    record: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Inspection(VerbResult):
    """What manifest and config of a bundle say; no layer was read.

    The answer is no when statements were asked for and a requirement of the policy is not met.

    Attributes:
        reference: The bundle, with its digest.
        digest: Digest of its manifest.
        annotations: What catalogues show.
        layers: Its layers, in order.
        config: The typed config.
        standing: What is attached to it; None when that was not asked for.
    """

    reference: str
    digest: str
    annotations: Mapping[str, str]
    layers: tuple[InspectedLayer, ...]
    config: BundleConfig
    standing: Standing | None = None

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
        said: dict[str, Any] = {}
        if self.standing is not None:
            from rra.report.standing import statement_json

            standing = self.standing
            said["referrers"] = [statement_json(one) for one in standing.statements]
            said["requirements"] = [one.to_json() for one in standing.requirements]
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
            **said,
        }


def inspect(
    reference: str,
    *,
    referrers: bool = False,
    policy: Path | None = None,
    keys: Sequence[Path] = (),
    plain_http: bool = False,
    progress: Progress = silent,
) -> Inspection:
    """Read the two small documents of a bundle and say what is in it.

    Args:
        reference: The bundle.
        referrers: Read also what others attached, and check its signatures.
        policy: The reader's policy file, for what is attached.
        keys: Public keys to trust with everything, in place of a policy.
        plain_http: Speak to a registry without TLS.
        progress: Called with one line for each step.

    Raises:
        UsageError: There is no such bundle, it is of another kind, or a policy was given for
            statements that were not asked for.
        CorruptError: A document is not what vouches for it.
        FormatError: A document breaks the format; the policy or a key is not one.
        RegistryError: The registry does not answer.
    """
    if not referrers and (policy is not None or keys):
        message = "a policy is for what is attached, which was not asked for"
        raise UsageError(message, hint="add --referrers")
    trusted = read_policy(policy, keys)
    named = bundle_reference(reference)
    progress(f"reading {reference}")
    store, bundle = open_bundle(named, progress=progress, plain_http=plain_http, ask=not referrers)
    standing = standing_of(store, bundle, trusted) if referrers else None
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
        standing=standing,
        exit_code=0 if standing is None or standing.met else 1,
        problems=bundle.notices,
    )
