"""Unpacking: what was packed, or nothing."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from rra.artifact import load_artifact
from rra.bundle import write_archive
from rra.bundle.extract import Limits
from rra.bundle.layers import Thresholds
from rra.bundle.layout import LayoutStore
from rra.bundle.reader import read_bundle
from rra.bundle.unpack import unpack_bundle
from rra.errors import CorruptError, RraError, StorageError, UnsafePathError, UsageError
from tests.support.bundles import blob, forge, locked_artifact, pack, put, tree, unpack
from tests.support.disks import mounted_disk
from tests.support.needs import needs

SMALL = Thresholds(wheel=1000, file=4000, group=10_000, part=50_000)
DATA = {"d": {"path": "data"}}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A layout with one bundle, made from the artifact beside it."""
    files: dict[str, str | bytes] = {
        "b/deep/é.txt": "x\n",
        "evidence/main/0a/record.json": "{}",
        "data/wine.csv": "1,2\n",
    }
    (tmp_path / "a" / "code").mkdir(parents=True)
    (tmp_path / "a" / "code" / "link").symlink_to("main.py")
    pack(locked_artifact(tmp_path / "a", files, data=DATA), tmp_path / "b")
    return tmp_path / "b"


def refused(place: Path, kind: type[Exception], message: str, **more: Any) -> None:
    """Unpack, expect an error, and see that nothing is left."""
    before = sorted(path.name for path in place.parent.iterdir())
    with pytest.raises(kind, match=re.escape(message)):
        unpack(place, place.parent / "out", **more)
    assert sorted(path.name for path in place.parent.iterdir()) == before


def test_a_bundle_comes_back_the_same(place: Path, tmp_path: Path) -> None:
    found = unpack(place, tmp_path / "out")
    assert found.complete
    assert tree(tmp_path / "out") == tree(tmp_path / "a")
    assert found.elements == {
        "meta": 4,
        "guide": 1,
        "environment": 3,
        "launchers": 1,
        "code": 3,
        "data": 1,
        "evidence": 1,
    }
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "out").rglob("*.sh")}
    assert modes == {0o755}


def test_packing_what_was_unpacked_gives_the_same_digest(place: Path, tmp_path: Path) -> None:
    unpack(place, tmp_path / "out")
    again = pack(load_artifact(tmp_path / "out"), tmp_path / "again").descriptor
    assert again.digest == read_bundle(LayoutStore(place)).descriptor.digest


def test_b2_an_executable_file_stays_one_also_as_a_layer_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a" / "data").mkdir(parents=True)
    (tmp_path / "a" / "data" / "tool").write_bytes(os.urandom(8000))
    (tmp_path / "a" / "data" / "tool").chmod(0o755)
    packed = pack(locked_artifact(tmp_path / "a", data=DATA), tmp_path / "b", thresholds=SMALL)
    assert "data/tool.tar" in packed.titles
    unpack(tmp_path / "b", tmp_path / "out")
    assert (tmp_path / "out/data/tool").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "out/launchers/main.sh").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "out/code/main.py").stat().st_mode & 0o777 == 0o644


def test_b4_files_of_one_basename_keep_their_paths(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "data/x/f.bin": os.urandom(5000),
        "data/y/f.bin": os.urandom(5000),
    }
    pack(locked_artifact(tmp_path / "a", files, data=DATA), tmp_path / "b", thresholds=SMALL)
    unpack(tmp_path / "b", tmp_path / "out")
    for name, content in files.items():
        assert (tmp_path / "out" / name).read_bytes() == content


def test_raw_layers_and_parts_come_back_whole(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "data/huge.bin": os.urandom(120_001),
        "data/photo.bin": os.urandom(9000),
        "data/text.csv": "1,2\n" * 3000,
    }
    artifact = locked_artifact(tmp_path / "a", files, data=DATA)
    packed = pack(artifact, tmp_path / "b", thresholds=SMALL)
    assert sum(record.part is not None for record in packed.config.layers) == 3
    unpack(tmp_path / "b", tmp_path / "out")
    assert tree(tmp_path / "out") == tree(tmp_path / "a")


def test_a_missing_part_is_noticed(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"data/huge.bin": os.urandom(120_001)}
    artifact = locked_artifact(tmp_path / "a", files, data=DATA)
    pack(artifact, tmp_path / "b", thresholds=SMALL)

    def drop(document: dict[str, Any]) -> None:
        gone = next(n for n, layer in enumerate(document["layers"]) if layer["size"] == 50_000)
        del document["layers"][gone]

    forge(tmp_path / "b", manifest=drop, config=drop)
    refused(tmp_path / "b", CorruptError, "parts of data/huge.bin are missing")


# ---------------------------------------------------------------------------------- only


def test_only_some_elements(place: Path, tmp_path: Path) -> None:
    found = unpack(place, tmp_path / "out", "guide", "launchers")
    assert not found.complete
    assert set(tree(tmp_path / "out")) == {"guide/GUIDE.md", "launchers/main.sh"}


@pytest.mark.clause("bundle/selective")
def test_only_reads_no_other_layer(place: Path, tmp_path: Path) -> None:
    for record in read_bundle(LayoutStore(place)).config.layers:
        if record.element != "guide":
            blob(place, record.digest).unlink()
    unpack(place, tmp_path / "out", "guide")
    assert set(tree(tmp_path / "out")) == {"guide/GUIDE.md"}


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("launcher", "no element is called launcher", "did you mean launchers?"),
        ("wheels", "the bundle holds no wheels", "it holds"),
    ],
)
def test_elements_that_are_not_there(place: Path, name: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        unpack(place, place.parent / "out", name)
    assert caught.value.hint.startswith(hint)


# -------------------------------------------------------------------------------- target


@pytest.mark.clause("bundle/target-is-empty")
def test_a_target_in_use_is_left_alone(place: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    refused(place, UsageError, "is not empty")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="is not a directory"):
        unpack(place, tmp_path / "file")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is a link"):
        unpack(place, tmp_path / "link")
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_system_that_is_no_storage(place: Path) -> None:
    with pytest.raises(StorageError, match="no folder can be made in /proc"):
        unpack(place, Path("/proc/artifact"))


def test_an_empty_directory_is_a_target(place: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    unpack(place, tmp_path / "out")
    assert tree(tmp_path / "out") == tree(tmp_path / "a")


@needs("tmpfs")
@needs("root")
def test_a_full_disk_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    artifact = locked_artifact(tmp_path / "a", {"big.bin": os.urandom(2 << 20)})
    pack(artifact, tmp_path / "b")
    with mounted_disk(tmp_path / "disk", "1m") as disk:
        with pytest.raises(StorageError, match="no space left"):
            unpack(tmp_path / "b", disk / "out")
        assert list(disk.iterdir()) == []


# ------------------------------------------------------------------------------- damage


def damage(how: str) -> Callable[[Path], None]:
    def act(path: Path) -> None:
        data = path.read_bytes()
        middle = len(data) // 2
        path.write_bytes(
            {
                "truncated": data[:-1],
                "longer": data + b"x",
                "tampered": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
                "empty": b"",
            }[how]
        )

    return act


@pytest.mark.clause("bundle/digest-decides", "bundle/all-or-nothing")
@pytest.mark.parametrize("how", ["truncated", "longer", "tampered", "empty"])
@pytest.mark.parametrize("element", ["code", "meta", "evidence"])
def test_a_damaged_blob_is_named_and_nothing_is_left(place: Path, element: str, how: str) -> None:
    records = read_bundle(LayoutStore(place)).config.layers
    (digest,) = [record.digest for record in records if record.element == element]
    damage(how)(blob(place, digest))
    refused(place, CorruptError, f"blob {digest} in {place}")


def test_a_missing_blob_is_named_and_nothing_is_left(place: Path) -> None:
    digest = read_bundle(LayoutStore(place)).config.layers[-1].digest
    blob(place, digest).unlink()
    refused(place, CorruptError, f"blob {digest} is not in {place}")


@pytest.mark.parametrize("how", ["truncated", "longer", "tampered", "empty"])
@pytest.mark.parametrize("which", ["manifest", "config"])
def test_a_damaged_document_is_refused(place: Path, which: str, how: str) -> None:
    bundle = read_bundle(LayoutStore(place))
    descriptor = bundle.descriptor if which == "manifest" else bundle.manifest.config
    damage(how)(blob(place, descriptor.digest))
    refused(place, CorruptError, descriptor.digest)


@pytest.mark.clause("bundle/digest-decides")
def test_another_manifest_under_the_tag_is_not_the_one_of_the_digest(
    place: Path, tmp_path: Path
) -> None:
    asked = read_bundle(LayoutStore(place)).descriptor.digest
    other = locked_artifact(tmp_path / "other", {"main.py": "print(7)\n"})
    pack(other, tmp_path / "c", "1.0.0")
    with pytest.raises(UsageError, match=f"holds no bundle {asked}"):
        read_bundle(LayoutStore(tmp_path / "c"), "1.0.0", asked)


# ------------------------------------------- bundles that somebody made by hand, all digests right


def archive(files: dict[str, bytes | str], root: Path) -> bytes:
    """Return a canonical archive; text is the target of a link."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.symlink_to(content)
        else:
            path.write_bytes(content)
    stream = io.BytesIO()
    write_archive(root, [PurePosixPath(name) for name in files], stream)
    return stream.getvalue()


def count(files: int, title: str) -> Callable[[dict[str, Any]], None]:
    """Let the config say the right number of files for the layer of an element."""

    def change(config: dict[str, Any]) -> None:
        for record in config["layers"]:
            if record["element"] == title:
                record["files"] = files

    return change


@pytest.mark.clause("bundle/elements", "bundle/no-references", "security/git-folders")
@pytest.mark.parametrize(
    ("element", "files", "kind", "message"),
    [
        ("guide", {"code/evil.py": b"x"}, UnsafePathError, "code/evil.py is no place for files"),
        ("guide", {"rra.yaml": b"x"}, UnsafePathError, "rra.yaml is no place for files of the"),
        ("code", {"code/.git/config": b"x"}, UnsafePathError, "belongs to git"),
        ("code", {"code/.GIT/config": b"x"}, UnsafePathError, "belongs to git"),
        (
            "code",
            {"code/__pycache__/x.pyc": b"x"},
            CorruptError,
            "is not in the layer of its",
        ),
        ("code", {"code/other.py": b"x"}, CorruptError, "the files give core"),
        ("meta", {"rra.yaml": b"rra: [1\n"}, CorruptError, "unpacks to no artifact"),
        ("meta", {"README.md": b"x"}, CorruptError, "unpacks to no artifact"),
        (
            "guide",
            {"guide/references.json": b'{"table/accuracy": {"scores": [{"value": "1"}]}}'},
            CorruptError,
            "holds references",
        ),
    ],
)
def test_layers_that_hold_something_else(
    place: Path,
    tmp_path_factory: pytest.TempPathFactory,
    element: str,
    files: dict[str, bytes | str],
    kind: type[Exception],
    message: str,
) -> None:
    data = archive(files, tmp_path_factory.mktemp("forged"))
    forge(place, layers={element: data}, config=count(len(files), element))
    refused(place, kind, message)


@pytest.mark.clause("bundle/each-file-once")
def test_b4_two_layers_with_one_file_are_refused(
    place: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = archive({"data/wine.csv": b"x"}, tmp_path_factory.mktemp("forged"))

    def evidence_is_data(document: dict[str, Any]) -> None:
        for one in document["layers"]:
            if "evidence" in one.get("mediaType", ""):
                one["mediaType"] = "application/vnd.rra.data.v1.tar"
            if one.get("element") == "evidence":
                one["element"] = "data"

    forge(
        place,
        layers={"evidence-main": data},
        config=evidence_is_data,
        manifest=evidence_is_data,
    )
    refused(place, UnsafePathError, "data/wine.csv")


@pytest.mark.clause("bundle/links")
def test_b6_a_link_into_another_layer_is_refused_on_this_side_too(
    place: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = archive({"data/x": b""}, tmp_path_factory.mktemp("forged"))
    # The canonical head of a link: kind, target and checksum changed in the one of a file.
    header = bytearray(data[512:1024])
    header[0:100] = b"data/latest".ljust(100, b"\0")
    header[100:108], header[156:157] = b"0000755\0", b"2"
    header[157:257] = b"../code/main.py".ljust(100, b"\0")
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    forge(place, layers={"data": data[:512] + bytes(header) + bytes(1024)})
    refused(place, UnsafePathError, "data/latest")


def edit(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document.update(values)


@pytest.mark.clause("bundle/unpacks-to-what-it-says")
def test_a_config_that_tells_another_story_than_the_files(place: Path) -> None:
    bundle = read_bundle(LayoutStore(place))
    better = json.loads(json.dumps(bundle.config.manifest))
    better["experiments"]["table"]["outcomes"]["accuracy"]["reported"] = "99.9"
    forge(place, config=edit(manifest=better))
    refused(place, CorruptError, "rra.yaml is not what the bundle's config says")


@pytest.mark.clause("bundle/unpacks-to-what-it-says")
def test_a_config_with_another_lock_or_core(place: Path) -> None:
    config = read_bundle(LayoutStore(place)).config
    forge(place, config=edit(lock={**config.lock, "core": "sha256:" + "1" * 64}))
    refused(place, CorruptError, "rra.lock is not what the bundle's config says")
    forge(place, config=edit(lock=config.lock, core="sha256:" + "1" * 64))
    refused(place, CorruptError, "the bundle says sha256:1111")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("diff_id", "sha256:" + "2" * 64, "sha256:2222"),
        ("files", 99, "not 99 in"),
        ("uncompressed_size", 512, "512"),
        ("uncompressed_size", 10**9, "as the config says"),
    ],
)
def test_a_config_that_promises_another_archive(
    place: Path, field: str, value: object, message: str
) -> None:
    def change(document: dict[str, Any]) -> None:
        for record in document["layers"]:
            if record["element"] == "code":
                record[field] = value

    forge(place, config=change)
    refused(place, CorruptError, message)


def test_limits_hold_over_all_layers_together(place: Path, tmp_path: Path) -> None:
    store = LayoutStore(place)
    bundle = read_bundle(store)
    total = sum(record.uncompressed_size for record in bundle.config.layers)
    with pytest.raises(RraError):
        unpack_bundle(bundle, store, tmp_path / "out", limits=Limits(total_bytes=total - 1))
    assert not (tmp_path / "out").exists()
    unpack_bundle(bundle, store, tmp_path / "out", limits=Limits(total_bytes=total))


def test_gzip_layers_of_others_are_read(place: Path, tmp_path: Path) -> None:
    stream = io.BytesIO()
    write_archive(
        tmp_path / "a",
        [PurePosixPath(n) for n in ("code/main.py", "code/link", "code/b/deep/é.txt")],
        stream,
    )
    forge(place, layers={"code": stream.getvalue()})
    packed = gzip.compress(stream.getvalue(), mtime=0)

    def change(document: dict[str, Any]) -> None:
        for one in document["layers"]:
            if one.get("element") == "code":
                one.update(put(place, packed))
                one["compressor"] = {"algorithm": "gzip", "level": 6, "library": "zlib"}
            if "code" in one.get("mediaType", ""):
                one.update(put(place, packed), mediaType="application/vnd.rra.code.v1.tar+gzip")

    forge(place, config=change, manifest=change)
    unpack(place, tmp_path / "out")
    assert tree(tmp_path / "out") == tree(tmp_path / "a")
