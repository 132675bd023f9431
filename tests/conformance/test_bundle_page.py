"""The pages about bundles and annotations against the bundles that are made."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from rra.bundle.config import parse_manifest
from rra.errors import FormatError
from tests.support.bundles import blob, locked_artifact, pack

SPEC = Path(__file__).parents[2] / "spec" / "v1"
OCI, OWN = "org.opencontainers.image.", "org.w3id.rra."
PAPER = {
    "title": "On wine",
    "doi": "10.1000/wine",
    "arxiv": "2101.00001",
    "url": "https://example.org/wine",
}
SOURCE = {"repository": "https://example.org/wine.git", "commit": "0123456789" * 4}


def fence(page: str, test: str) -> Any:
    found = re.search(rf"::{test}\n(.*?)```", (SPEC / page).read_text("utf-8"), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_manifest_of_the_page() -> None:
    document = fence("bundle.md", "test_the_manifest_of_the_page")
    manifest = parse_manifest(json.dumps(document).encode(), "the page")
    (layer,) = manifest.layers
    assert (layer.element, layer.form, layer.title) == ("guide", "tar+zstd", "guide")


def documents(place: Path) -> tuple[bytes, bytes]:
    """Return manifest and config of the only bundle of a layout."""
    (entry,) = json.loads((place / "index.json").read_bytes())["manifests"]
    manifest = blob(place, entry["digest"]).read_bytes()
    return manifest, blob(place, json.loads(manifest)["config"]["digest"]).read_bytes()


@pytest.mark.clause("bundle/manifest-is-canonical")
def test_manifest_and_config_are_canonical(tmp_path: Path) -> None:
    pack(locked_artifact(tmp_path / "a", title="Wein, größer"), tmp_path / "b")
    for data in documents(tmp_path / "b"):
        assert data == rfc8785.dumps(json.loads(data))


@pytest.mark.clause("bundle/json")
@pytest.mark.parametrize(
    "data",
    [
        b'{"schemaVersion": 2, "schemaVersion": 2}',
        b'{"size": NaN}',
        b'{"size": -Infinity}',
        b"[]",
        b"{",
        b'\xff{"a": 1}',
        b'{"a":' * 100 + b"1" + b"}" * 100,
        b'{"a":' * 65 + b"1" + b"}" * 65,
    ],
)
def test_json_that_two_readers_may_read_in_two_ways_is_refused(data: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        parse_manifest(data, "somewhere")
    assert [problem.clause for problem in caught.value.problems] == ["bundle/json"]


@pytest.mark.clause("bundle/manifest-size")
def test_a_manifest_over_a_mebibyte_is_not_made(tmp_path: Path) -> None:
    artifact = locked_artifact(tmp_path / "a", description="x" * (1 << 20))
    with pytest.raises(FormatError, match="1048576 are allowed"):
        pack(artifact, tmp_path / "b")
    assert not (tmp_path / "b").exists()


def notes(place: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(documents(place)[0])["annotations"]
    return found


@pytest.mark.clause("annotations/required")
def test_the_annotations_that_are_always_there(tmp_path: Path) -> None:
    packed = pack(locked_artifact(tmp_path / "a"), tmp_path / "b")
    found = notes(tmp_path / "b")
    assert found == {
        f"{OCI}title": "tiny",
        f"{OCI}version": "1.0.0",
        f"{OCI}licenses": "MIT",
        f"{OWN}format": "1.0",
        f"{OWN}name": "tiny",
        f"{OWN}core": packed.config.core,
    }


@pytest.mark.clause("annotations/from-the-manifest", "annotations/only-what-is-known")
def test_the_annotations_say_what_the_manifest_says(tmp_path: Path) -> None:
    artifact = locked_artifact(
        tmp_path / "a", title="Wine", description="", paper=PAPER, source=SOURCE, version="1.0.0+x"
    )
    pack(artifact, tmp_path / "b", created="2026-11-29T18:00:00Z")
    found = notes(tmp_path / "b")
    core = found.pop(f"{OWN}core")
    assert re.fullmatch("sha256:[0-9a-f]{64}", core)
    assert found == {
        f"{OCI}title": "Wine",
        f"{OCI}version": "1.0.0+x",
        f"{OCI}created": "2026-11-29T18:00:00Z",
        f"{OCI}source": SOURCE["repository"],
        f"{OCI}revision": SOURCE["commit"],
        f"{OCI}licenses": "MIT",
        f"{OWN}format": "1.0",
        f"{OWN}name": "tiny",
        f"{OWN}paper.title": "On wine",
        f"{OWN}paper.doi": "10.1000/wine",
        f"{OWN}paper.arxiv": "2101.00001",
        f"{OWN}paper.url": "https://example.org/wine",
    }


def test_the_annotations_of_the_page() -> None:
    page = (SPEC / "annotations.md").read_text("utf-8")
    table = set(re.findall(r"^\| `(org\.[a-z0-9.]+)`", page, re.MULTILINE))
    example = fence("annotations.md", "test_the_annotations_of_the_page")
    assert set(example) <= table
    assert len(table) == 14
    assert {f"{OWN}paper.{key}" for key in PAPER} <= table
