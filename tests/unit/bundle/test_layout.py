"""Bundles in a folder: what is written when, and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from rra.bundle.layout import LayoutStore
from rra.bundle.store import Descriptor, read_blob, resolve
from rra.errors import CorruptError, FormatError, StorageError, UsageError
from tests.support.disks import mounted_disk
from tests.support.needs import needs

KIND = "application/octet-stream"
MANIFEST = b'{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json"}'


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def make(place: Path, *tags: str, data: bytes = MANIFEST) -> LayoutStore:
    store = LayoutStore(place)
    for tag in tags:
        with store.writing():
            store.put([b"one ", b"blob"], KIND)
            store.put_manifest(data, tag)
    return store


def put(store: LayoutStore, *blobs: bytes, stop: bool = False) -> None:
    """Put blobs and a manifest called 2.0; stop in the middle when told to."""
    with store.writing():
        for data in blobs:
            store.put([data], KIND)
        store.put_manifest(MANIFEST, "2.0")
        if stop:
            raise RuntimeError


def names(place: Path) -> set[str]:
    return {p.relative_to(place).as_posix() for p in place.rglob("*") if p.is_file()}


def test_a_new_layout_has_blobs_index_and_version(tmp_path: Path) -> None:
    make(tmp_path / "b", "1.0")
    blobs = {f"blobs/sha256/{digest(d)[7:]}" for d in (b"one blob", MANIFEST)}
    assert names(tmp_path / "b") == blobs | {"index.json", "oci-layout"}
    assert json.loads((tmp_path / "b/oci-layout").read_bytes()) == {"imageLayoutVersion": "1.0.0"}
    (entry,) = json.loads((tmp_path / "b/index.json").read_bytes())["manifests"]
    assert entry == {
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "digest": digest(MANIFEST),
        "size": len(MANIFEST),
        "annotations": {"org.opencontainers.image.ref.name": "1.0"},
    }


def test_several_bundles_share_a_layout_and_a_tag_moves(tmp_path: Path) -> None:
    other = MANIFEST.replace(b"}", b',"x":1}')
    store = make(tmp_path / "b", "1.0", "2.0")
    assert store.tags() == ["1.0", "2.0"]
    make(tmp_path / "b", "2.0", data=other)
    assert resolve(store, "1.0", None)[0] == MANIFEST
    assert resolve(store, "2.0", None)[0] == other
    with pytest.raises(UsageError, match="several bundles"):
        resolve(store, None, None)
    with pytest.raises(UsageError, match=r"holds no bundle 3\.0") as caught:
        resolve(store, "3.0", None)
    assert caught.value.hint == "tags: 1.0, 2.0"


def test_what_is_put_again_keeps_its_place(tmp_path: Path) -> None:
    make(tmp_path / "b", "1.0", "2.0")
    before = (tmp_path / "b" / "index.json").read_bytes()
    make(tmp_path / "b", "1.0")
    assert (tmp_path / "b" / "index.json").read_bytes() == before
    make(tmp_path / "b", "1.0", data=MANIFEST.replace(b"}", b',"x":1}'))
    listed = json.loads((tmp_path / "b" / "index.json").read_bytes())["manifests"]
    names = [entry["annotations"]["org.opencontainers.image.ref.name"] for entry in listed]
    assert names == ["2.0", "1.0"]


def test_the_digest_decides(tmp_path: Path) -> None:
    store = make(tmp_path / "b", "1.0")
    assert resolve(store, "1.0", digest(MANIFEST))[1].digest == digest(MANIFEST)
    with pytest.raises(UsageError, match="holds no bundle sha256:"):
        resolve(store, "1.0", digest(b"another"))


def test_entries_of_others_are_kept_as_they_came(tmp_path: Path) -> None:
    make(tmp_path / "b", "1.0")
    index = json.loads((tmp_path / "b/index.json").read_bytes())
    foreign = {
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "digest": digest(b"x"),
        "size": 1,
        "platform": {"os": "linux"},
    }
    index["manifests"].append(foreign)
    index["x-note"] = "kept"
    (tmp_path / "b/index.json").write_text(json.dumps(index))
    make(tmp_path / "b", "2.0")
    found = json.loads((tmp_path / "b/index.json").read_bytes())
    assert foreign in found["manifests"]
    assert found["x-note"] == "kept"


def test_a_failure_leaves_no_new_layout(tmp_path: Path) -> None:
    store = LayoutStore(tmp_path / "b")
    with pytest.raises(RuntimeError):
        put(store, b"one blob", stop=True)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_a_layout_as_it_was(tmp_path: Path) -> None:
    store = make(tmp_path / "b", "1.0")
    before = {name: (tmp_path / "b" / name).read_bytes() for name in names(tmp_path / "b")}
    with pytest.raises(RuntimeError):
        put(store, b"another blob", b"one blob", stop=True)
    assert {name: (tmp_path / "b" / name).read_bytes() for name in names(tmp_path / "b")} == before


def test_the_index_is_written_last(tmp_path: Path) -> None:
    store = make(tmp_path / "b", "1.0")
    with store.writing():
        kept = store.put([b"another blob"], KIND)
        store.put_manifest(MANIFEST, "2.0")
        assert LayoutStore(tmp_path / "b").tags() == ["1.0"]
        assert store.has(kept.digest)
    assert LayoutStore(tmp_path / "b").tags() == ["1.0", "2.0"]


def test_what_killed_writers_left_is_swept(tmp_path: Path) -> None:
    make(tmp_path / "b", "1.0")
    left = tmp_path / "b/blobs/sha256/.rra-staging-0123"
    left.write_bytes(b"half")
    make(tmp_path / "b", "2.0")
    assert not left.exists()


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="is not an OCI image layout"):
        make(tmp_path / "b", "1.0")
    with pytest.raises(UsageError, match="is not a folder"):
        make(tmp_path / "b" / "thesis.tex", "1.0")
    assert names(tmp_path) == {"b/thesis.tex"}


def test_blobs_that_are_not_what_they_should_be_are_not_kept(tmp_path: Path) -> None:
    store = LayoutStore(tmp_path / "b")
    with pytest.raises(CorruptError), store.writing():
        store.put_blob(Descriptor(KIND, digest(b"expected"), 8), [b"surprise"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (b"one blo", "has 7 bytes, not the 8 declared"),
        (b"one blob!", "has 9 bytes, not the 8 declared"),
        (b"two blob", "has other content"),
    ],
    ids=["truncated", "longer", "tampered"],
)
def test_a_damaged_blob_is_named(tmp_path: Path, damaged: bytes, message: str) -> None:
    store = make(tmp_path / "b", "1.0")
    (tmp_path / "b/blobs/sha256" / digest(b"one blob")[7:]).write_bytes(damaged)
    with pytest.raises(CorruptError) as caught:
        read_blob(store, Descriptor(KIND, digest(b"one blob"), 8), 100)
    assert message in caught.value.message
    assert digest(b"one blob") in caught.value.message


def test_a_missing_blob_is_named(tmp_path: Path) -> None:
    store = make(tmp_path / "b", "1.0")
    (tmp_path / "b/blobs/sha256" / digest(b"one blob")[7:]).unlink()
    with pytest.raises(CorruptError, match=digest(b"one blob")):
        read_blob(store, Descriptor(KIND, digest(b"one blob"), 8), 100)


def test_a_blob_that_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    store = make(tmp_path / "b", "1.0")
    blob = tmp_path / "b/blobs/sha256" / digest(b"one blob")[7:]
    blob.unlink()
    os.mkfifo(blob)
    with pytest.raises(CorruptError, match="is not a file"):
        read_blob(store, Descriptor(KIND, digest(b"one blob"), 8), 100)


def test_a_manifest_that_was_changed_is_refused(tmp_path: Path) -> None:
    store = make(tmp_path / "b", "1.0")
    place = tmp_path / "b/blobs/sha256" / digest(MANIFEST)[7:]
    place.write_bytes(MANIFEST.replace(b"2", b"3", 1))
    with pytest.raises(CorruptError, match="has other content"):
        resolve(store, "1.0", None)


@pytest.mark.parametrize(
    ("index", "kind", "message"),
    [
        ("{", FormatError, "not valid JSON"),
        ("[]", FormatError, "not a JSON object"),
        ('{"schemaVersion":2}', FormatError, "is not an OCI image index"),
        ('{"schemaVersion":2,"schemaVersion":2}', FormatError, "is given twice"),
        ('{"schemaVersion":NaN}', FormatError, "NaN is no number"),
        ('{"a":' * 100 + "1" + "}" * 100, FormatError, "nested deeper"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, FormatError, "nested deeper"),
    ],
    ids=["json", "list", "empty", "twice", "nan", "deep", "bomb"],
)
def test_an_index_that_is_none(
    tmp_path: Path, index: str, kind: type[Exception], message: str
) -> None:
    store = make(tmp_path / "b", "1.0")
    (tmp_path / "b/index.json").write_text(index)
    with pytest.raises(kind) as caught:
        store.tags()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("digest", "sha256:../../x"),
        ("digest", digest(b"x").upper()),
        ("digest", "md5:" + "0" * 32),
        ("digest", 7),
        ("size", -1),
        ("size", 1.0),
        ("size", True),
        ("size", "1"),
        ("mediaType", ""),
        ("annotations", {"a": 1}),
        ("artifactType", 1),
    ],
)
def test_a_descriptor_that_is_none(tmp_path: Path, field: str, value: object) -> None:
    store = make(tmp_path / "b", "1.0")
    index = json.loads((tmp_path / "b/index.json").read_bytes())
    index["manifests"][0][field] = value
    (tmp_path / "b/index.json").write_text(json.dumps(index))
    with pytest.raises(FormatError) as caught:
        resolve(store, None, None)
    assert caught.value.problems[0].pointer == f"/manifests/0/{field}"


def test_another_version_of_the_layout_is_refused(tmp_path: Path) -> None:
    store = make(tmp_path / "b", "1.0")
    (tmp_path / "b/oci-layout").write_text('{"imageLayoutVersion":"2.0.0"}')
    with pytest.raises(FormatError, match=r"version '2\.0\.0', not 1\.0\.0"):
        store.tags()


def test_an_index_of_images_is_no_bundle(tmp_path: Path) -> None:
    store = make(tmp_path / "b", "1.0")
    index = json.loads((tmp_path / "b/index.json").read_bytes())
    index["manifests"][0]["mediaType"] = "application/vnd.oci.image.index.v1+json"
    (tmp_path / "b/index.json").write_text(json.dumps(index))
    with pytest.raises(UsageError, match=r"image\.index"):
        resolve(store, "1.0", None)


@needs("tmpfs")
@needs("root")
def test_a_full_disk_leaves_the_layout_as_it_was(tmp_path: Path) -> None:
    with mounted_disk(tmp_path / "disk", "1m") as disk:
        store = make(disk / "b", "1.0")
        before = names(disk / "b")
        with pytest.raises(StorageError, match="no space left"):
            put(store, bytes(2 << 20))
        assert names(disk / "b") == before
        with pytest.raises(StorageError, match="no space left"):
            put(LayoutStore(disk / "c"), bytes(2 << 20))
        assert sorted(path.name for path in disk.iterdir()) == ["b"]


def test_what_is_there_already_keeps_its_place(tmp_path: Path) -> None:
    """A bundle that comes a second time, after others, changes no byte of the index."""
    store = LayoutStore(tmp_path / "x")
    for tag, data in (("1", b'{"a": 1}'), ("2", b'{"a": 2}')):
        with store.writing():
            store.put_manifest(data, tag)
    before = (tmp_path / "x" / "index.json").read_bytes()
    with store.writing():
        store.put_manifest(b'{"a": 1}', "1")
    assert (tmp_path / "x" / "index.json").read_bytes() == before
    with store.writing():
        store.put_manifest(b'{"a": 3}', "1")
    assert store.tags() == ["1", "2"]
    assert store.get_manifest("1")[0] == b'{"a": 3}'
