"""Layers that did not change are not compressed again; no damage to the cache reaches a bundle."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rra.bundle import blobcache, compress
from rra.bundle.blobcache import BlobCache
from rra.bundle.config import Compressor
from rra.bundle.layout import LayoutStore
from rra.bundle.pack import pack_bundle
from tests.support.bundles import lock, locked_artifact, pack, tree, unpack
from tests.support.disks import mounted_disk
from tests.support.needs import needs

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.bundle.pack import PackResult

ZSTD = Compressor(algorithm="zstd", level=3, library="zstd 1.5.7")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a cache that no other test uses."""
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "layers"


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each compression was given, in the order in which they ended."""
    counts: list[int] = []
    real = compress.Encoder.compressed

    def counting(encoder: compress.Encoder, blocks: Any) -> Any:
        total = 0

        def passing() -> Any:
            nonlocal total
            for block in blocks:
                total += len(block)
                yield block

        yield from real(encoder, passing())
        counts.append(total)

    monkeypatch.setattr(compress.Encoder, "compressed", counting)
    return counts


@pytest.fixture
def artifact(tmp_path: Path) -> Artifact:
    """An artifact with something to compress."""
    return locked_artifact(tmp_path / "a", {"noise.bin": os.urandom(300_000), "text.py": "1\n" * 9})


def layers(packed: PackResult) -> dict[str, str]:
    return {str(record.element): record.digest for record in packed.config.layers}


def test_nothing_is_compressed_again_when_nothing_changed(
    artifact: Artifact, tmp_path: Path, counted: list[int]
) -> None:
    first = pack(artifact, tmp_path / "b")
    assert sum(counted) == sum(record.uncompressed_size for record in first.config.layers)
    counted.clear()
    second = pack(artifact, tmp_path / "c")
    assert counted == []
    assert second.descriptor == first.descriptor
    unpack(tmp_path / "c", tmp_path / "out")
    assert tree(tmp_path / "out") == tree(artifact.root)


def test_only_what_changed_is_compressed_again(
    artifact: Artifact, tmp_path: Path, counted: list[int]
) -> None:
    before = layers(pack(artifact, tmp_path / "b"))
    (artifact.root / "guide" / "GUIDE.md").write_text("# Another guide\n" * 40)
    counted.clear()
    packed = pack(artifact, tmp_path / "c")
    after = layers(packed)
    assert {name for name in after if after[name] != before[name]} == {"guide"}
    (guide,) = [record for record in packed.config.layers if record.element == "guide"]
    assert counted == [guide.uncompressed_size]


def test_files_of_the_same_length_with_other_content_are_compressed(
    artifact: Artifact, tmp_path: Path, counted: list[int]
) -> None:
    before = layers(pack(artifact, tmp_path / "b"))
    place = artifact.root / "code" / "noise.bin"
    place.write_bytes(os.urandom(place.stat().st_size))
    counted.clear()
    after = layers(pack(lock(artifact.root), tmp_path / "c"))
    assert {name for name in after if after[name] != before[name]} == {"code", "meta"}
    assert len(counted) == 2


@pytest.mark.parametrize("damage", ["flip", "cut", "longer", "empty", "folder", "link"])
def test_a_damaged_entry_is_removed_and_not_used(
    artifact: Artifact, tmp_path: Path, folder: Path, counted: list[int], damage: str
) -> None:
    first = pack(artifact, tmp_path / "b")
    for entry in list(folder.iterdir()):
        data = entry.read_bytes()
        entry.unlink()
        if damage == "folder":
            entry.mkdir()
        elif damage == "link":
            (tmp_path / entry.name).write_bytes(data)
            entry.symlink_to(tmp_path / entry.name)
        else:
            changed = {
                "flip": data[:-1] + bytes([data[-1] ^ 1]),
                "cut": data[:-1],
                "longer": data + b"\0",
                "empty": b"",
            }
            entry.write_bytes(changed[damage])
    counted.clear()
    assert pack(artifact, tmp_path / "c").descriptor == first.descriptor
    assert sum(counted) == sum(record.uncompressed_size for record in first.config.layers)
    if damage != "folder":
        counted.clear()
        assert pack(artifact, tmp_path / "d").descriptor == first.descriptor
        assert counted == []


def test_no_entry_is_half_written_and_nothing_else_is_left(
    artifact: Artifact, tmp_path: Path, folder: Path
) -> None:
    pack(artifact, tmp_path / "b")
    for entry in folder.iterdir():
        found = blobcache._NAME.fullmatch(entry.name)
        assert found, entry.name
        assert entry.stat().st_mode & 0o777 == 0o600


@needs("root")
@needs("tmpfs")
def test_a_cache_that_cannot_be_written_only_makes_it_slower(
    artifact: Artifact, tmp_path: Path, folder: Path, counted: list[int]
) -> None:
    first = pack(artifact, tmp_path / "b")
    everything = sum(record.uncompressed_size for record in first.config.layers)
    there = {entry.name: entry.read_bytes() for entry in folder.iterdir()}
    shutil.rmtree(folder)
    with mounted_disk(folder, "2m") as disk:
        for name in list(there)[:2]:
            (disk / name).write_bytes(there[name])
        counted.clear()
        assert pack(artifact, tmp_path / "c").descriptor == first.descriptor
        assert 0 < sum(counted) < everything
        assert len(list(disk.iterdir())) == 2, "a disk with so little room takes no more"
        used = sum(counted)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        counted.clear()
        assert pack(artifact, tmp_path / "d").descriptor == first.descriptor
        assert sum(counted) == used, "what is there can be used"
    shutil.rmtree(folder.parent)
    folder.parent.write_text("a file where the cache should be")
    counted.clear()
    assert pack(artifact, tmp_path / "e").descriptor == first.descriptor
    assert sum(counted) == everything


def test_a_pack_that_fails_leaves_nothing_unfinished(
    artifact: Artifact, tmp_path: Path, folder: Path
) -> None:
    (artifact.root / "code" / "text.py").write_text("2\n")
    with pytest.raises(Exception, match=r"rra\.lock is not that of the files"):
        pack(artifact, tmp_path / "b")
    assert all(blobcache._NAME.fullmatch(entry.name) for entry in folder.iterdir())


def test_what_packs_without_the_cache_does_not_touch_it(
    artifact: Artifact, tmp_path: Path, folder: Path, counted: list[int]
) -> None:
    first = pack_bundle(artifact, LayoutStore(tmp_path / "b"), reuse=False)
    assert not folder.exists()
    counted.clear()
    assert pack_bundle(artifact, LayoutStore(tmp_path / "c"), reuse=False) == first
    assert sum(counted) > 0


def test_what_travels_as_it_is_is_not_kept(tmp_path: Path, folder: Path) -> None:
    root = locked_artifact(tmp_path / "a").root
    with (root / "code" / "zeros.bin").open("wb") as file:
        file.truncate(65 << 20)
    pack(lock(root), tmp_path / "b")
    assert not [entry for entry in folder.iterdir() if int(entry.name.split("-")[0]) > 65 << 20]


# ---------------------------------------------------------------------------------- bounds


def kept(cache: BlobCache, number: int, size: int) -> None:
    """Make an entry of so many bytes."""
    with cache.drafting(size) as draft:
        data = bytes([number]) * size
        assert b"".join(draft.passing([data])) == data
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        cache.keep(draft, digest, f"sha256:{number:064}", size, ZSTD)


def test_the_oldest_go_when_there_are_too_many(tmp_path: Path) -> None:
    (tmp_path / "drafts").mkdir()
    cache = BlobCache(tmp_path, tmp_path / "drafts", max_bytes=2500, spare_bytes=0)
    for number in (1, 2):
        kept(cache, number, 1000)
        (entry,) = tmp_path.glob(f"1000-*-{hashlib.sha256(bytes([number]) * 1000).hexdigest()}")
        os.utime(entry, (number, number))
    with cache.find(f"sha256:{1:064}", 1000, ZSTD) as blob:
        assert blob is not None, "and this makes it the newest"
        assert b"".join(blob) == b"".join(blob) == b"\1" * 1000
    kept(cache, 3, 1000)
    for number, there in ((1, True), (2, False), (3, True)):
        with cache.find(f"sha256:{number:064}", 1000, ZSTD) as blob:
            assert (blob is not None) is there, number
    assert list((tmp_path / "drafts").iterdir()) == []


def test_another_way_to_compress_is_another_entry(tmp_path: Path) -> None:
    (tmp_path / "drafts").mkdir()
    cache = BlobCache(tmp_path, tmp_path / "drafts", spare_bytes=0)
    kept(cache, 1, 1000)
    assert cache.knows(1000)
    assert not cache.knows(999)
    for other in (
        Compressor(algorithm="zstd", level=4, library="zstd 1.5.7"),
        Compressor(algorithm="zstd", level=3, library="zstd 1.5.6"),
        Compressor(algorithm="gzip", level=3, library="zstd 1.5.7"),
    ):
        with cache.find(f"sha256:{1:064}", 1000, other) as blob:
            assert blob is None
    with cache.find(f"sha256:{2:064}", 1000, ZSTD) as blob:
        assert blob is None
