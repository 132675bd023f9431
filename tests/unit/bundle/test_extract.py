"""Unpacking: the same tree back, one budget, shared folders, whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
import tracemalloc
from pathlib import Path, PurePosixPath

import pytest

from rra._base.files import staged_directory, walk_files
from rra.bundle import diff_id, write_archive
from rra.bundle.extract import Extraction, Limits, extract_archive
from rra.bundle.store import Descriptor, VerifiedFile
from rra.errors import ArchiveError, CorruptError, StorageError, UnsafePathError
from tests.support.archives import file, folder, header, link, tar
from tests.support.disks import mounted_disk
from tests.support.needs import needs


@pytest.fixture
def out(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.mkdir()
    return path


def write(root: Path, name: str, content: bytes = b"", mode: int = 0o644) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)


def sample(root: Path) -> list[PurePosixPath]:
    """A tree with everything that an archive may hold."""
    write(root, "run.sh", b"#!/bin/sh\n", 0o755)
    write(root, "empty")
    write(root, "block", b"b" * 512)
    write(root, "large", os.urandom(3_000_001))
    write(root, "data/naïve/データ.csv", b"1,2\n", 0o600)
    write(root, "/".join(["folder" * 8] * 6) + "/end.txt", b"deep\n")
    write(root, "d-x/" + "n" * 250, b"long\n", 0o700)
    write(root, "d/private", b"p", 0o400)
    (root / "link").symlink_to("run.sh")
    (root / "d" / "up").symlink_to("../data/naïve/データ.csv")
    (root / "d" / "folder").symlink_to("../data/naïve")
    (root / "d" / "far").symlink_to("../" + "/".join(["folder" * 8] * 6) + "/end.txt")
    return list(walk_files(root))


def test_what_was_packed_comes_back(tmp_path: Path, out: Path) -> None:
    root = tmp_path / "in"
    files = sample(root)
    stream = io.BytesIO()
    locked = write_archive(root, files, stream)
    stream.seek(0)
    found = extract_archive(stream, out, expected_diff_id=locked.diff_id)
    assert (found.diff_id, found.files, found.size) == (locked.diff_id, locked.files, locked.size)
    assert list(walk_files(out)) == files
    assert diff_id(out, walk_files(out)) == locked
    for path in files:
        if (root / path).is_symlink():
            assert (out / path).readlink() == (root / path).readlink()
        else:
            assert (out / path).read_bytes() == (root / path).read_bytes()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_modes_do_not_depend_on_the_umask(tmp_path: Path, out: Path, umask: int) -> None:
    root = tmp_path / "in"
    stream = io.BytesIO()
    write_archive(root, sample(root), stream)
    stream.seek(0)
    before = os.umask(umask)
    extract_archive(stream, out)
    os.umask(before)
    modes = {
        str(path.relative_to(out)): stat.S_IMODE(path.stat().st_mode)
        for path in out.rglob("*")
        if not path.is_symlink()
    }
    assert {name: mode for name, mode in modes.items() if (out / name).is_file()} == {
        name: 0o755 if name == "run.sh" or name.startswith("d-x/") else 0o644
        for name in modes
        if (out / name).is_file()
    }
    assert {mode for name, mode in modes.items() if (out / name).is_dir()} == {0o755}


def test_the_empty_archive(out: Path) -> None:
    found = extract_archive(io.BytesIO(bytes(1024)), out)
    assert found.diff_id == "sha256:" + hashlib.sha256(bytes(1024)).hexdigest()
    assert (found.files, found.size) == (0, 1024)
    assert list(out.iterdir()) == []


class Trickle(io.RawIOBase):
    """Gives seven bytes a read, whatever is asked for."""

    def __init__(self, data: bytes) -> None:
        self._stream = io.BytesIO(data)

    def read(self, size: int = -1, /) -> bytes:
        return self._stream.read(min(size, 7))


def test_short_reads_make_no_difference(out: Path) -> None:
    data = tar(file("a", b"x" * 1000), folder("d"), file("d/b"), link("l", "a"))
    found = extract_archive(Trickle(data), out)  # type: ignore[arg-type]
    assert found.diff_id == "sha256:" + hashlib.sha256(data).hexdigest()
    assert (out / "l").read_bytes() == b"x" * 1000


def test_a_large_file_takes_no_memory(out: Path) -> None:
    size = 64 << 20

    class Large(io.RawIOBase):
        left = size

        def read(self, asked: int = -1, /) -> bytes:
            if Large.left == size:
                Large.left -= 1
                return header("a", size=size)
            if Large.left < 0:
                return b""
            if Large.left == 0:
                Large.left = -1
                return b"y" + bytes(1024)
            given = min(asked, Large.left)
            Large.left -= given
            return b"x" * given

    tracemalloc.start()
    extract_archive(Large(), out)  # type: ignore[arg-type]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 << 20
    assert (out / "a").stat().st_size == size


def test_links_come_after_the_digest(out: Path) -> None:
    data = tar(file("a"), link("l", "a"))
    with pytest.raises(CorruptError):
        extract_archive(io.BytesIO(data), out, expected_diff_id="sha256:" + "0" * 64)
    assert [path.name for path in out.iterdir()] == ["a"]


def test_messages_name_the_archive(out: Path) -> None:
    with pytest.raises(ArchiveError, match="layer code goes on after its end"):
        extract_archive(io.BytesIO(bytes(2048)), out, what="layer code")


# ------------------------------------------------------------------------ what is in the way


@pytest.mark.parametrize("what", ["file", "link", "fifo"])
def test_nothing_that_is_there_is_written_to(tmp_path: Path, out: Path, what: str) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    if what == "file":
        (out / "a").write_bytes(b"mine")
    elif what == "link":
        (out / "a").symlink_to(victim)
    else:
        os.mkfifo(out / "a")
    with pytest.raises(UnsafePathError, match="a: something else is already at that place"):
        extract_archive(io.BytesIO(tar(file("a", b"new"))), out)
    assert victim.read_bytes() == b"mine"


def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path, out: Path) -> None:
    (tmp_path / "victim").mkdir()
    (out / "d").symlink_to(tmp_path / "victim")
    with pytest.raises(UnsafePathError, match="d: something else is already at that place"):
        extract_archive(io.BytesIO(tar(folder("d"), file("d/a"))), out)
    assert list((tmp_path / "victim").iterdir()) == []


@pytest.mark.clause("canonical-tar/stay-inside")
def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(tmp_path: Path, out: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()

    data = io.BytesIO(tar(folder("d"), folder("d/e"), file("d/e/a"), file("d/f")))
    with Extraction(out) as extraction:
        extraction.add(data)
        (out / "d" / "e").rename(out / "d" / "moved")
        (out / "d" / "e").symlink_to(victim)
        with pytest.raises(UnsafePathError, match="d/e: something else is already"):
            extraction.add(io.BytesIO(tar(folder("d"), folder("d/e"), file("d/e/b"))))
    assert list(victim.iterdir()) == []


@pytest.mark.parametrize("kind", ["missing", "file", "link"])
def test_the_place_is_a_real_directory(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    if kind == "file":
        place.touch()
    elif kind == "link":
        place.symlink_to(tmp_path)
    with pytest.raises(StorageError, match="cannot write"):
        extract_archive(io.BytesIO(bytes(1024)), place)


def test_a_stream_that_fails_is_said(out: Path) -> None:
    class Broken(io.RawIOBase):
        def read(self, size: int = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(StorageError, match="the archive cannot be read: Input/output error"):
        extract_archive(Broken(), out)  # type: ignore[arg-type]


@needs("tmpfs")
def test_a_full_disk_midway_leaves_nothing(tmp_path: Path) -> None:
    data = tar(file("a", bytes(300_000)), folder("d"), file("d/b", bytes(900_000)))
    with mounted_disk(tmp_path / "disk", "1m") as disk:
        with (
            pytest.raises(StorageError, match="no space left while writing"),
            staged_directory(disk / "target") as staging,
        ):
            extract_archive(io.BytesIO(data), staging)
        assert list(disk.iterdir()) == []


@needs("tmpfs")
def test_too_few_inodes_are_a_full_disk(tmp_path: Path) -> None:
    data = tar(*(file(f"f{number:04}", b"") for number in range(200)))
    with mounted_disk(tmp_path / "disk", "1m,nr_inodes=100") as disk:
        with (
            pytest.raises(StorageError, match="no space left while writing"),
            staged_directory(disk / "target") as staging,
        ):
            extract_archive(io.BytesIO(data), staging)
        assert list(disk.iterdir()) == []


def test_no_descriptor_stays_open(out: Path) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = descriptors()
    deep = ["/".join(["d"] * depth) for depth in range(1, 64)]
    data = tar(*map(folder, deep), file(deep[-1] + "/x"))
    with pytest.raises(ArchiveError):
        extract_archive(io.BytesIO(data + b"x"), out)
    assert descriptors() == before


# ------------------------------------------------------------------------- several archives

ONE = tar(folder("d"), file("d/a", b"1"), file("x"))


def test_archives_share_folders_but_no_files(out: Path) -> None:
    with Extraction(out) as extraction:
        extraction.add(io.BytesIO(ONE))
        extraction.add(io.BytesIO(tar(folder("d"), file("d/b", b"2"))))
        assert sorted(path.name for path in (out / "d").iterdir()) == ["a", "b"]
        with pytest.raises(UnsafePathError, match="d/a: another archive of the bundle has"):
            extraction.add(io.BytesIO(tar(folder("d"), file("d/a", b"3"))))
    assert (out / "d" / "a").read_bytes() == b"1"


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (tar(folder("D"), file("D/b")), "D: differs from d in case only"),
        (tar(file("X")), "X: differs from x in case only"),
        (tar(file("d")), "d: another archive of the bundle has something of that name"),
        (tar(folder("x"), file("x/y")), "x: another archive of the bundle has"),
        (tar(link("latest", "d/a")), "latest: is a symbolic link to something that is not in"),
        (tar(link("up", "x")), "up: is a symbolic link to something that is not in the archive"),
    ],
)
def test_archives_stay_apart(out: Path, second: bytes, message: str) -> None:
    with Extraction(out) as extraction:
        extraction.add(io.BytesIO(ONE))
        with pytest.raises(UnsafePathError, match=message):
            extraction.add(io.BytesIO(second))


def test_a_link_of_one_archive_is_no_folder_of_another(out: Path) -> None:
    with Extraction(out) as extraction:
        extraction.add(io.BytesIO(tar(folder("d"), file("d/a"), link("l", "d"))))
        with pytest.raises(UnsafePathError, match="l: another archive of the bundle has"):
            extraction.add(io.BytesIO(tar(folder("l"), file("l/b"))))
    assert [path.name for path in (out / "d").iterdir()] == ["a"]


def test_archives_share_one_budget_of_bytes(out: Path) -> None:
    with Extraction(out, Limits(total_bytes=6000)) as extraction:
        extraction.add(io.BytesIO(tar(file("a", bytes(2000)))))  # 3,584 bytes with headers and end
        with pytest.raises(ArchiveError, match="is longer than the 2,416 bytes that are allowed"):
            extraction.add(io.BytesIO(tar(file("b", bytes(3000)))))


def test_archives_share_one_budget_of_members(out: Path) -> None:
    with Extraction(out, Limits(members=3)) as extraction:
        extraction.add(io.BytesIO(tar(folder("d"), file("d/a"))))
        extraction.add(io.BytesIO(tar(folder("d"), file("d/b"))))
        with pytest.raises(ArchiveError, match="more than the 3 members"):
            extraction.add(io.BytesIO(tar(file("c"))))


def test_limits_are_inclusive(tmp_path: Path) -> None:
    data = tar(file("a", bytes(1000)), file("b", bytes(1000)))
    exact = Limits(members=2, file_bytes=1000, total_bytes=len(data), names_bytes=2)
    for number, limits in enumerate(
        [
            exact,
            Limits(members=1),
            Limits(file_bytes=999),
            Limits(total_bytes=len(data) - 1),
            Limits(names_bytes=1),
        ]
    ):
        place = tmp_path / str(number)
        place.mkdir()
        if limits is exact:
            assert extract_archive(io.BytesIO(data), place, limits=limits).size == len(data)
        else:
            with pytest.raises(ArchiveError, match="allowed"):
                extract_archive(io.BytesIO(data), place, limits=limits)


# ------------------------------------------------------------------------------ single files


def test_a_single_file_with_its_mode(out: Path) -> None:
    digest = "sha256:" + hashlib.sha256(b"#!/bin/sh\n").hexdigest()
    with Extraction(out) as extraction:
        found = extraction.add_file(
            io.BytesIO(b"#!/bin/sh\n"), "launch/run.sh", executable=True, expected_diff_id=digest
        )
        extraction.add_file(io.BytesIO(b"1"), "launch/data", executable=False)
    assert (found.diff_id, found.files, found.size) == (digest, 1, 10)
    assert stat.S_IMODE((out / "launch" / "run.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((out / "launch" / "data").stat().st_mode) == 0o644


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("../u.py", "path is not relative"),
        ("/opt/x/run.py", "path is not relative"),
        ("a//b", "not in its plain form"),
        ("", "path is not relative"),
        ("x", "x: another archive of the bundle has something of that name"),
        ("x/y", "x: another archive of the bundle has something of that name"),
        ("d", "d: another archive of the bundle has something of that name"),
        ("D/z", "D: differs from d in case only"),
    ],
)
def test_a_single_file_stays_in_its_place(out: Path, path: str, message: str) -> None:
    with Extraction(out) as extraction:
        extraction.add(io.BytesIO(ONE))
        with pytest.raises(UnsafePathError, match=message):
            extraction.add_file(io.BytesIO(b"new"), path, executable=False)


def test_a_single_file_is_checked_and_bounded(out: Path) -> None:
    with Extraction(out, Limits(file_bytes=5)) as extraction:
        with pytest.raises(CorruptError, match="a is sha256:"):
            extraction.add_file(
                io.BytesIO(b"1"), "a", executable=False, expected_diff_id="sha256:" + "0" * 64
            )
        with pytest.raises(ArchiveError, match="b is longer than the 5 bytes that are allowed"):
            extraction.add_file(io.BytesIO(b"123456"), "b", executable=False)


def lying_here(folder: Path, content: bytes) -> VerifiedFile:
    file = folder / "fetched"
    file.write_bytes(content)
    file.chmod(0o600)
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    return VerifiedFile(file, Descriptor("application/octet-stream", digest, len(content)))


def test_a_file_that_lies_here_gets_another_name(out: Path, tmp_path: Path) -> None:
    here = lying_here(tmp_path, b"weights")
    with Extraction(out, Limits(total_bytes=10)) as extraction:
        found = extraction.add_file(io.BytesIO(), "data/w.bin", executable=False, here=here)
        with pytest.raises(ArchiveError, match="b is longer than the 3 bytes that are allowed"):
            extraction.add_file(io.BytesIO(b"1234"), "b", executable=False)
    assert (found.diff_id, found.files, found.size) == (here.descriptor.digest, 1, 7)
    placed = out / "data" / "w.bin"
    assert placed.samefile(here.path)
    assert placed.read_bytes() == b"weights"
    assert stat.S_IMODE(placed.stat().st_mode) == 0o644


def test_a_file_that_can_have_no_other_name_is_copied(
    out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    here = lying_here(tmp_path, b"weights")
    with Extraction(out) as extraction:
        found = extraction.add_file(io.BytesIO(b"weights"), "w", executable=False, here=here)
    assert found.diff_id == here.descriptor.digest
    assert not (out / "w").samefile(here.path)
    assert (out / "w").read_bytes() == b"weights"


def test_a_file_that_may_be_run_or_is_too_large_gets_no_other_name(
    out: Path, tmp_path: Path
) -> None:
    here = lying_here(tmp_path, b"#!/bin/sh\n")
    with Extraction(out, Limits(file_bytes=10)) as extraction:
        extraction.add_file(io.BytesIO(b"#!/bin/sh\n"), "run", executable=True, here=here)
        large = lying_here(tmp_path, b"12345678901")
        with pytest.raises(ArchiveError, match="longer than the 10 bytes"):
            extraction.add_file(io.BytesIO(b"12345678901"), "w", executable=False, here=large)
    assert (out / "run").stat().st_nlink == 1


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_file_that_lies_here_takes_nobodys_place(out: Path, tmp_path: Path, kind: str) -> None:
    """What came between is neither replaced nor followed."""
    here = lying_here(tmp_path, b"weights")
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    (out / "w").symlink_to(outside) if kind == "link" else (out / "w").write_bytes(b"mine")
    with (
        Extraction(out) as extraction,
        pytest.raises(UnsafePathError, match="something else is already at that place"),
    ):
        extraction.add_file(io.BytesIO(b"weights"), "w", executable=False, here=here)
    assert outside.read_bytes() == b"mine"
    assert (out / "w").read_bytes() == b"mine"
