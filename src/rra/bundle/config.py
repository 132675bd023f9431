"""The two small documents of a bundle: OCI manifest and typed config, written and read.

Together they say everything about a bundle without its layers: what the artifact declares, its
core, and for each layer its element, the digest of its archive, and its sizes.

Source: OCI Image Specification 1.1, Image Manifest; ``schemas/v1/bundle-config.schema.json``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pydantic
from pydantic import Field

from rra._base import canonical
from rra._base.yaml import YamlDocument
from rra.bundle.jsonio import parse_json
from rra.bundle.names import fold, name_faults, printable
from rra.bundle.store import MANIFEST_TYPE, Descriptor, parse_descriptor
from rra.errors import CorruptError, FormatError, Problem, UnsafePathError, UsageError
from rra.model.base import BundlePath, Digest, FormatVersion, Object, OutcomeId
from rra.schema import check_document

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.model import ElementLock, Manifest

BUNDLE_TYPE = "application/vnd.rra.bundle.v1"
CONFIG_TYPE = "application/vnd.rra.config.v1+json"
TITLE = "org.opencontainers.image.title"
MAX_CONFIG_BYTES = 4 * 1024 * 1024
MAX_LAYERS = 1000
"""Layers that a reader takes; writers stay far below (`rra.bundle.layers`)."""

BundleElement = Literal[
    "meta", "guide", "environment", "launchers", "code", "evidence", "data", "wheels", "runtime"
]
ELEMENTS: tuple[BundleElement, ...] = BundleElement.__args__  # type: ignore[attr-defined]
"""Elements that layers carry."""

Form = Literal["raw", "tar", "tar+gzip", "tar+zstd"]
Compression = Literal["none", "gzip", "zstd"]

_LAYER_TYPE = re.compile(
    rf"application/vnd\.rra\.(?P<element>{'|'.join(ELEMENTS)})\.v1"
    r"\.(?P<form>raw|tar|tar\+gzip|tar\+zstd)"
)
_HINT = "get the bundle again from where it came; when it stays so, tell who packed it"


class Compressor(Object):
    """How a blob was made from an archive."""

    algorithm: Literal["zstd", "gzip"]
    level: int
    library: str


class Part(Object):
    """Which part of a large file a raw layer is, counted from 1."""

    number: Annotated[int, Field(ge=1)]
    of: Annotated[int, Field(ge=2)]


class LayerRecord(Object):
    """What the config says of one layer.

    Attributes:
        element: Element that its files belong to.
        digest: Digest of the blob.
        size: Bytes of the blob.
        diff_id: Digest of the canonical archive, or of the raw file.
        files: Files and links in it.
        uncompressed_size: Bytes of the archive or file.
        compressor: How the blob was made; None when it is the archive or file itself.
        path: Path of the file in the artifact, of raw layers.
        part: Part of the file, of files that are too large for one blob.
    """

    element: BundleElement
    digest: Digest
    size: Annotated[int, Field(ge=0)]
    diff_id: Digest
    files: Annotated[int, Field(ge=1)]
    uncompressed_size: Annotated[int, Field(ge=0)]
    compressor: Compressor | None = None
    path: BundlePath | None = None
    part: Part | None = None


class BundleConfig(Object):
    """The typed config of a bundle.

    Attributes:
        rra: Version of the format.
        core: Core of the artifact.
        manifest: What ``rra.yaml`` says.
        outcomes: The outcomes of its results tables, by ``<experiment>/<outcome>``; what they
            report stands in files of the layers. None without a table.
        lock: What ``rra.lock`` says.
        layers: The layers, in order.
    """

    rra: FormatVersion
    core: Digest
    manifest: dict[str, Any]
    outcomes: dict[OutcomeId, dict[str, Any]] | None = None
    lock: dict[str, Any]
    layers: Annotated[list[LayerRecord], Field(min_length=1)]

    @property
    def name(self) -> str:
        """Id of the artifact."""
        return str(self.manifest["name"])

    @property
    def version(self) -> str:
        """Version of the artifact."""
        return str(self.manifest["version"])

    def to_bytes(self) -> bytes:
        """Return the config in canonical JSON."""
        return canonical.dumps(self.to_json())

    def artifact_manifest(self) -> Manifest:
        """Return what ``rra.yaml`` says as an object of the format, with all outcomes.

        Raises:
            FormatError: It breaks the format in a way that its schema does not tell.
        """
        from rra.model import Manifest

        whole = _with_outcomes(self.manifest, self.outcomes or {})
        with _told("config of the bundle"):
            return Manifest.model_validate(whole)


@dataclasses.dataclass(frozen=True, slots=True)
class LayerDescriptor:
    """One layer as the OCI manifest has it.

    Attributes:
        descriptor: Its descriptor.
        element: Element that its media type names.
        form: How its bytes are packed.
    """

    descriptor: Descriptor
    element: str
    form: Form

    @property
    def title(self) -> str:
        """Name that other tools give the blob; empty when it has none."""
        return self.descriptor.annotations.get(TITLE, "")

    @property
    def compression(self) -> Compression:
        """How the bytes are compressed."""
        forms: Mapping[str, Compression] = {"tar+gzip": "gzip", "tar+zstd": "zstd"}
        return forms.get(self.form, "none")


@dataclasses.dataclass(frozen=True, slots=True)
class BundleManifest:
    """The OCI manifest of a bundle.

    Attributes:
        config: Descriptor of the config.
        layers: The layers, in order.
        annotations: What catalogues show.
    """

    config: Descriptor
    layers: tuple[LayerDescriptor, ...]
    annotations: Mapping[str, str]


def table_outcomes(artifact: Artifact) -> dict[str, dict[str, Any]] | None:
    """Return the outcomes of an artifact's results tables as the config has them."""
    outcomes = artifact.manifest.outcomes()
    return {name: outcomes[name].to_json() for name in artifact.table_levels} or None


def _with_outcomes(
    manifest: dict[str, Any], outcomes: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    """Put the outcomes of tables among the others; those of no experiment are left out."""
    experiments = dict(manifest.get("experiments", {}))
    for name, outcome in outcomes.items():
        experiment, _, key = name.partition("/")
        if experiment in experiments:
            known = experiments[experiment]
            merged = {**known.get("outcomes", {}), key: outcome}
            experiments[experiment] = {**known, "outcomes": merged}
    return {**manifest, "experiments": experiments} if outcomes else manifest


def archive_lock(record: LayerRecord) -> ElementLock:
    """Return what a layer that is an archive says of it."""
    from rra.model import ElementLock

    return ElementLock(diff_id=record.diff_id, files=record.files, size=record.uncompressed_size)


def layer_type(element: str, form: Form) -> str:
    """Return the media type of a layer."""
    return f"application/vnd.rra.{element}.v1.{form}"


def manifest_bytes(
    config: Descriptor, layers: Sequence[Descriptor], annotations: Mapping[str, str]
) -> bytes:
    """Return the OCI manifest of a bundle in canonical JSON."""
    document: dict[str, Any] = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": BUNDLE_TYPE,
        "config": config.to_json(),
        "layers": [layer.to_json() for layer in layers],
    }
    if annotations:
        document["annotations"] = dict(annotations)
    return canonical.dumps(document)


def parse_manifest(data: bytes, where: str) -> BundleManifest:
    """Read the OCI manifest of a bundle, strictly.

    Args:
        data: The document, whose digest was checked.
        where: Name of the bundle for messages.

    Raises:
        UsageError: It is an image of another kind.
        FormatError: It is not an image manifest, or not one of a bundle.
        UnsafePathError: The title of a layer leads outside.
    """
    source = f"manifest of {where}"
    document = parse_json(data, source)
    version, media_type = document.get("schemaVersion"), document.get("mediaType", MANIFEST_TYPE)
    if version != 2 or isinstance(version, bool | float) or media_type != MANIFEST_TYPE:
        raise _fault(source, "is not an OCI image manifest")
    if "manifests" in document:
        raise _fault(source, "is an index and a manifest at once")
    kind = document.get("artifactType")
    if kind != BUNDLE_TYPE:
        message = f"{where} is not a bundle of a refined reproducible artifact"
        hint = f"its artifactType is {printable(kind)[:80]}, not {BUNDLE_TYPE}"
        raise UsageError(message, hint=hint)
    config = parse_descriptor(document.get("config"), "/config", source)
    if config.media_type != CONFIG_TYPE:
        raise _fault(source, f"has a config of type {printable(config.media_type)[:80]}")
    listed = document.get("layers")
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_LAYERS:
        raise _fault(source, f"has no list of 1 to {MAX_LAYERS} layers")
    layers = tuple(_layer(entry, number, source) for number, entry in enumerate(listed))
    _check_titles(layers, source)
    annotations = document.get("annotations", {})
    if not isinstance(annotations, dict) or not all(
        isinstance(text, str) for text in annotations.values()
    ):
        raise _fault(source, "has annotations that are not texts")
    return BundleManifest(config, layers, annotations)


def parse_config(data: bytes, manifest: BundleManifest, where: str) -> BundleConfig:
    """Read the config of a bundle and check that it fits the manifest.

    Raises:
        FormatError: It breaks its schema, or those of ``rra.yaml`` and ``rra.lock``.
        CorruptError: It speaks of other layers than the manifest.
    """
    source = f"config of {where}"
    document = parse_json(data, source)
    _check_schema(document, "bundle-config", source)
    _check_schema(document["manifest"], "manifest", f"{source}: manifest")
    whole = _with_outcomes(document["manifest"], document.get("outcomes", {}))
    _check_schema(whole, "manifest", f"{source}: outcomes")
    _check_schema(document["lock"], "lock", f"{source}: lock")
    with _told(source):
        config = BundleConfig.model_validate(document)
    if len(config.layers) != len(manifest.layers):
        what = f"has {len(config.layers)} layers, its manifest {len(manifest.layers)}"
        raise CorruptError(f"{source} {what}", hint=_HINT)
    for number, (record, layer) in enumerate(zip(config.layers, manifest.layers, strict=True), 1):
        for fault in _differences(record, layer):
            raise CorruptError(f"{source}: layer {number} {fault}", hint=_HINT)
    return config


@contextlib.contextmanager
def _told(source: str) -> Iterator[None]:
    """Turn what a model says of a document into one of our errors."""
    try:
        yield
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        place = "/".join(str(key) for key in first["loc"])
        raise _fault(source, f"{place}: {first['msg']}") from error


def _layer(entry: object, number: int, source: str) -> LayerDescriptor:
    descriptor = parse_descriptor(entry, f"/layers/{number}", source)
    kind = _LAYER_TYPE.fullmatch(descriptor.media_type)
    if kind is None:
        what = f"has a layer of type {printable(descriptor.media_type)[:80]}"
        raise _fault(source, what, f"/layers/{number}/mediaType")
    form: Form = kind["form"]  # type: ignore[assignment]
    return LayerDescriptor(descriptor, kind["element"], form)


def _check_titles(layers: Sequence[LayerDescriptor], source: str) -> None:
    """Refuse titles that another tool would write outside, or over one another."""
    seen: set[str] = set()
    for number, layer in enumerate(layers):
        title = layer.title
        if not title:
            continue
        faults = list(name_faults(PurePosixPath(title)))
        if str(PurePosixPath(title)) != title:
            faults.append("path is not in its plain form")
        if faults:
            message = f"{source}: the title of layer {number + 1} is {printable(title)!r}: "
            raise UnsafePathError(message + ", ".join(faults), hint=_HINT)
        if fold(title) in seen:
            raise _fault(source, f"has two layers called {printable(title)!r}")
        seen.add(fold(title))


def _differences(record: LayerRecord, layer: LayerDescriptor) -> Iterator[str]:
    blob = layer.descriptor
    if record.digest != blob.digest:
        yield f"is {record.digest} where the manifest has {blob.digest}"
    if record.size != blob.size:
        yield f"has {record.size} bytes where the manifest has {blob.size}"
    if record.element != layer.element:
        yield f"is {record.element} where the manifest says {layer.element}"
    packed = layer.compression == "none"
    if packed and (record.diff_id, record.uncompressed_size) != (blob.digest, blob.size):
        yield "has two digests or sizes though it is not compressed"
    if (record.path is not None) != (layer.form == "raw"):
        yield "is raw without a path, or has a path and is not raw"
    if record.part is not None and (record.path is None or record.part.number > record.part.of):
        yield "is a part of nothing"
    if record.path is not None and record.files != 1:
        yield "is raw and holds more than one file"


def _check_schema(data: dict[str, Any], schema: str, source: str) -> None:
    problems = check_document(YamlDocument(data, "", source, {}), schema)
    faults = tuple(
        dataclasses.replace(p, line=None, column=None) for p in problems if p.severity == "error"
    )
    if faults:
        message = f"{source} breaks the format: {faults[0].pointer} {faults[0].message}"
        raise FormatError(message, hint=_HINT, problems=faults)


def _fault(source: str, what: str, pointer: str = "") -> FormatError:
    problem = Problem(what, source, pointer=pointer, clause="bundle/manifest")
    return FormatError(f"{source} {what}", problems=(problem,), hint=_HINT)
