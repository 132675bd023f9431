"""Bundles in one file: read where they lie, whoever wrote the tar."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from rra.bundle.archive import ArchiveStore
from rra.bundle.layout import LayoutStore
from rra.bundle.store import Descriptor, read_blob, resolve
from rra.errors import CorruptError, StorageError, UsageError
from tests.support.disks import mounted_disk
from tests.support.needs import needs
from tests.unit.bundle.test_layout import KIND, MANIFEST, digest


def make(file: Path, tag: str = "1.0", *, extra: bytes = b"") -> ArchiveStore:
    store = ArchiveStore(file)
    with store.writing():
        store.put([b"one blob"], KIND)
        if extra:
            store.put([extra], KIND)
        store.put_manifest(MANIFEST, tag)
    return store


def test_the_file_is_the_canonical_tar_of_a_layout(tmp_path: Path) -> None:
    make(tmp_path / "a.tar")
    with LayoutStore(tmp_path / "b").writing():
        pass
    with tarfile.open(tmp_path / "a.tar") as tar:
        members = {member.name: member for member in tar}
        assert sorted(members) == [
            "blobs",
            "blobs/sha256",
            *sorted(f"blobs/sha256/{digest(d)[7:]}" for d in (b"one blob", MANIFEST)),
            "index.json",
            "oci-layout",
        ]
        assert {member.mtime for member in members.values()} == {315532800}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar", "b"]


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    make(tmp_path / "a.tar")
    make(tmp_path / "b.tar")
    assert (tmp_path / "a.tar").read_bytes() == (tmp_path / "b.tar").read_bytes()


def test_blobs_are_read_where_they_lie(tmp_path: Path) -> None:
    store = make(tmp_path / "a.tar")
    assert store.has(digest(b"one blob"))
    assert not store.has(digest(b"another"))
    assert read_blob(store, Descriptor(KIND, digest(b"one blob"), 8), 100) == b"one blob"
    assert resolve(store, None, None)[0] == MANIFEST
    assert store.tags() == ["1.0"]


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("prefix", ["", "./"])
def test_archives_of_other_tools_are_read(tmp_path: Path, form: int, prefix: str) -> None:
    layout = LayoutStore(tmp_path / "b")
    with layout.writing():
        layout.put([b"one blob"], KIND)
        layout.put_manifest(MANIFEST, "1.0")

    def theirs(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid, member.uname, member.mtime = 1000, "agnes", 1_700_000_000
        if form == tarfile.PAX_FORMAT:
            member.pax_headers = {"mtime": "1700000000.123", "comment": "x"}
        return member

    with tarfile.open(tmp_path / "a.tar", "w", format=form) as tar:
        tar.add(tmp_path / "b", arcname=prefix or ".", filter=theirs)
    store = ArchiveStore(tmp_path / "a.tar")
    assert resolve(store, "1.0", None)[0] == MANIFEST
    assert read_blob(store, Descriptor(KIND, digest(b"one blob"), 8), 100) == b"one blob"


def rewrite(file: Path, change: dict[str, tarfile.TarInfo | None], content: bytes = b"x") -> None:
    """Write an archive again with members taken out or added."""
    with tarfile.open(file) as tar:
        members = [(m, tar.extractfile(m)) for m in tar]
        kept = [(m, body.read() if body else b"") for m, body in members if m.name not in change]
    with tarfile.open(file, "w", format=tarfile.USTAR_FORMAT) as tar:
        for member, body in kept:
            tar.addfile(member, io.BytesIO(body))
        for added in change.values():
            if added is not None:
                added.size = len(content) if added.isfile() else 0
                tar.addfile(added, io.BytesIO(content))


@pytest.mark.clause("bundle/layout-links")
@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "blobs/sha256/x", "readme"])
def test_names_that_are_no_part_of_a_layout_are_refused(tmp_path: Path, name: str) -> None:
    store = make(tmp_path / "a.tar")
    rewrite(tmp_path / "a.tar", {"": tarfile.TarInfo(name)})
    with pytest.raises(CorruptError, match="which is no part of an image layout"):
        ArchiveStore(tmp_path / "a.tar").tags()
    assert store.name == str(tmp_path / "a.tar")


@pytest.mark.clause("bundle/layout-links")
def test_links_are_refused(tmp_path: Path) -> None:
    make(tmp_path / "a.tar")
    name = f"blobs/sha256/{digest(b'one blob')[7:]}"
    link = tarfile.TarInfo(name)
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    rewrite(tmp_path / "a.tar", {name: link})
    with pytest.raises(CorruptError, match="which is no part of an image layout"):
        ArchiveStore(tmp_path / "a.tar").tags()


def test_b4_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    make(tmp_path / "a.tar")
    rewrite(tmp_path / "a.tar", {"": tarfile.TarInfo("index.json")})
    with pytest.raises(CorruptError, match=r"two files called index\.json"):
        ArchiveStore(tmp_path / "a.tar").tags()


@pytest.mark.parametrize("left", [0, 100, 700, 3000])
def test_a_cut_archive_is_refused(tmp_path: Path, left: int) -> None:
    make(tmp_path / "a.tar")
    whole = (tmp_path / "a.tar").read_bytes()
    (tmp_path / "a.tar").write_bytes(whole[:left])
    with pytest.raises(CorruptError):
        ArchiveStore(tmp_path / "a.tar").tags()


def test_a_changed_byte_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    make(tmp_path / "a.tar")
    whole = bytearray((tmp_path / "a.tar").read_bytes())
    at = whole.index(b"one blob")
    whole[at] ^= 1
    (tmp_path / "a.tar").write_bytes(whole)
    store = ArchiveStore(tmp_path / "a.tar")
    with pytest.raises(CorruptError, match="has other content"):
        read_blob(store, Descriptor(KIND, digest(b"one blob"), 8), 100)


def test_a_missing_blob_is_named(tmp_path: Path) -> None:
    make(tmp_path / "a.tar")
    rewrite(tmp_path / "a.tar", {f"blobs/sha256/{digest(b'one blob')[7:]}": None})
    store = ArchiveStore(tmp_path / "a.tar")
    with pytest.raises(CorruptError, match=digest(b"one blob")):
        read_blob(store, Descriptor(KIND, digest(b"one blob"), 8), 100)


def test_an_archive_is_replaced_as_a_whole_and_nothing_else_is(tmp_path: Path) -> None:
    make(tmp_path / "a.tar", "1.0")
    make(tmp_path / "a.tar", "2.0")
    assert ArchiveStore(tmp_path / "a.tar").tags() == ["2.0"]
    (tmp_path / "thesis.pdf").write_bytes(b"%PDF-1.7 years of work")
    with pytest.raises(UsageError, match="is there and is no OCI archive"):
        make(tmp_path / "thesis.pdf")
    assert (tmp_path / "thesis.pdf").read_bytes() == b"%PDF-1.7 years of work"
    with pytest.raises(UsageError, match="is a folder"):
        make(tmp_path)
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(UsageError, match="is a link that leads nowhere"):
        make(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    store = make(tmp_path / "a.tar")
    before = (tmp_path / "a.tar").read_bytes()
    with pytest.raises(RuntimeError), store.writing():
        raise RuntimeError
    assert (tmp_path / "a.tar").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        ArchiveStore(tmp_path / "a.tar").tags()


@needs("tmpfs")
@needs("root")
def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    with mounted_disk(tmp_path / "disk", "1m") as disk:
        make(disk / "a.tar")
        before = (disk / "a.tar").read_bytes()
        with pytest.raises(StorageError, match="no space left"):
            make(disk / "a.tar", "2.0", extra=bytes(600_000))
        assert (disk / "a.tar").read_bytes() == before
        assert [path.name for path in disk.iterdir()] == ["a.tar"]
