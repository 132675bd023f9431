"""Manifest and config of a bundle: what they say, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rra.bundle.layout import LayoutStore
from rra.bundle.reader import read_bundle
from rra.errors import CorruptError, FormatError, UnsafePathError, UsageError
from tests.support.bundles import blob, forge, locked_artifact, pack, tree, unpack

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A layout with one bundle."""
    pack(
        locked_artifact(tmp_path / "a", title="Tiny", description="A tiny artifact"), tmp_path / "b"
    )
    return tmp_path / "b"


@pytest.mark.clause("bundle/manifest")
def test_the_manifest_is_one_of_oci_1_1(place: Path) -> None:
    (entry,) = json.loads((place / "index.json").read_bytes())["manifests"]
    assert entry["artifactType"] == "application/vnd.rra.bundle.v1"
    data = blob(place, entry["digest"]).read_bytes()
    document = json.loads(data)
    assert data == json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    assert document["schemaVersion"] == 2
    assert document["mediaType"] == "application/vnd.oci.image.manifest.v1+json"
    assert document["artifactType"] == "application/vnd.rra.bundle.v1"
    assert document["config"]["mediaType"] == "application/vnd.rra.config.v1+json"
    kinds = {layer["mediaType"] for layer in document["layers"]}
    assert kinds == {
        f"application/vnd.rra.{element}.v1.tar+zstd"
        for element in ("meta", "guide", "environment", "launchers", "code")
    }
    notes = document["annotations"]
    assert notes["org.opencontainers.image.title"] == "Tiny"
    assert notes["org.opencontainers.image.version"] == "1.0.0"
    assert notes["org.opencontainers.image.licenses"] == "MIT"
    assert notes["org.opencontainers.image.description"] == "A tiny artifact"
    assert notes["org.w3id.rra.core"].startswith("sha256:")
    assert "org.opencontainers.image.created" not in notes


def test_the_config_is_the_whole_index(place: Path, tmp_path: Path) -> None:
    bundle = read_bundle(LayoutStore(place))
    config = bundle.config
    lock = json.loads((tmp_path / "a" / "rra.lock").read_bytes())
    assert config.manifest == json.loads((tmp_path / "a" / "rra.yaml").read_bytes())
    assert config.lock == lock
    assert config.core == lock["core"]
    by_element = {record.element: record for record in config.layers}
    for name in ("code", "environment", "launchers", "guide"):
        assert by_element[name].diff_id == lock["elements"][name]["diff_id"]
        assert by_element[name].files == lock["elements"][name]["files"]
        assert by_element[name].uncompressed_size == lock["elements"][name]["size"]
        compressor = by_element[name].compressor
        assert compressor is not None
        assert (compressor.algorithm, compressor.level) == ("zstd", 3)
        assert compressor.library.startswith("zstd 1.")


def edit(**values: Any) -> Change:
    return lambda document: document.update(values)


def layer(**values: Any) -> Change:
    return lambda document: document["layers"][0].update(values)


def swap(document: dict[str, Any]) -> None:
    document["layers"].reverse()


def same_title(document: dict[str, Any]) -> None:
    for one in document["layers"]:
        one["annotations"] = {"org.opencontainers.image.title": "f.txt"}


def folded_title(document: dict[str, Any]) -> None:
    for name, one in zip(("F.txt", "f.txt"), document["layers"], strict=False):
        one["annotations"] = {"org.opencontainers.image.title": name}


@pytest.mark.clause(
    "bundle/manifest",
    "bundle/descriptor",
    "bundle/media-types",
    "annotations/text",
)
@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (edit(schemaVersion=1), FormatError, "not an OCI image manifest"),
        (edit(schemaVersion=True), FormatError, "not an OCI image manifest"),
        (edit(mediaType="x/y"), FormatError, "not an OCI image manifest"),
        (edit(manifests=[]), FormatError, "an index and a manifest at once"),
        (edit(artifactType="x/y"), UsageError, "not a bundle of a refined"),
        (edit(layers=[]), FormatError, "no list of 1 to 1000 layers"),
        (edit(layers=[{}] * 1001), FormatError, "no list of 1 to 1000 layers"),
        (edit(layers={}), FormatError, "no list of 1 to 1000 layers"),
        (edit(annotations={"a": 1}), FormatError, "annotations that are not texts"),
        (edit(config=None), FormatError, "is not an object"),
        (layer(mediaType="application/vnd.rra.code.v2.tar"), FormatError, "layer of type"),
        (layer(mediaType="application/vnd.rra.code.v1.tar+xz"), FormatError, "layer of type"),
        (layer(size=-5), FormatError, "not a number of bytes"),
        (layer(digest="sha256:0"), FormatError, "64 hexadecimal digits"),
        (swap, CorruptError, "layer 1 is sha256:"),
    ],
)
def test_manifests_that_are_refused(
    place: Path, change: Change, kind: type[Exception], message: str
) -> None:
    forge(place, manifest=change)
    with pytest.raises(kind, match=re.escape(message)):
        read_bundle(LayoutStore(place))


@pytest.mark.clause("bundle/titles")
@pytest.mark.parametrize(
    "title", ["/etc/passwd", "../x", "a/../b", "a//b", "a\\b", "c:x", "a\nb", "a\u202eb", "nul"]
)
def test_b1_titles_that_lead_outside_are_refused_without_an_unsafe_flag(
    place: Path, title: str
) -> None:
    forge(place, manifest=layer(annotations={"org.opencontainers.image.title": title}))
    with pytest.raises(UnsafePathError) as caught:
        read_bundle(LayoutStore(place))
    said = f"{caught.value.message} {caught.value.hint}".lower()
    assert "unsafe" not in said
    assert "allow" not in said
    assert caught.value.message.isprintable()


@pytest.mark.clause("bundle/titles-differ")
@pytest.mark.parametrize("change", [same_title, folded_title])
def test_b4_two_layers_of_one_title_are_refused(place: Path, change: Change) -> None:
    forge(place, manifest=change)
    with pytest.raises(FormatError, match="two layers called"):
        read_bundle(LayoutStore(place))


@pytest.mark.clause("bundle/config-fits-manifest")
@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (edit(rra="2.0"), FormatError, "/rra"),
        (edit(core="sha256:x"), FormatError, "/core"),
        (edit(manifest={}), FormatError, "lacks the required key"),
        (edit(lock={}), FormatError, "lacks the required key"),
        (layer(element="secrets"), FormatError, "/layers/0/element"),
        (layer(path="../x"), FormatError, "climbs out"),
        (layer(path="/x"), FormatError, "absolute path"),
        (layer(size=1.5), FormatError, "/layers/0/size"),
        (layer(files=0), FormatError, "/layers/0/files"),
        (layer(digest="sha256:" + "0" * 64), CorruptError, "layer 1 is sha256:000"),
        (layer(size=7), CorruptError, "layer 1 has 7 bytes where the manifest has"),
        (layer(element="runtime"), CorruptError, "is runtime where the manifest says"),
        (layer(path="x"), CorruptError, "has a path and is not raw"),
        (layer(part={"number": 1, "of": 2}), CorruptError, "is a part of nothing"),
        (lambda d: d["layers"].pop(), CorruptError, "has 4 layers, its manifest 5"),
    ],
)
def test_configs_that_are_refused(
    place: Path, change: Change, kind: type[Exception], message: str
) -> None:
    forge(place, config=change)
    with pytest.raises(kind, match=re.escape(message)):
        read_bundle(LayoutStore(place))


@pytest.mark.clause("bundle/config-size")
def test_a_config_over_the_limit_is_not_read(place: Path) -> None:
    forge(place, config=edit(x="y" * (4 << 20)))
    with pytest.raises(FormatError, match="at most 4194304 are read"):
        read_bundle(LayoutStore(place))


@pytest.mark.clause("bundle/unknown-is-kept")
def test_what_a_config_does_not_know_is_kept(place: Path) -> None:
    forge(place, config=edit(later={"a": 1}))
    assert read_bundle(LayoutStore(place)).config.to_json()["later"] == {"a": 1}


@pytest.mark.clause("bundle/addresses-and-data")
def test_embedded_data_and_foreign_addresses_are_ignored(place: Path, tmp_path: Path) -> None:
    forge(place, manifest=layer(data="bm90IHRoaXM=", urls=["http://192.0.2.1/evil"]))
    unpack(place, tmp_path / "out")
    assert tree(tmp_path / "out") == tree(tmp_path / "a")
