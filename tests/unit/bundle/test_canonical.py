"""The canonical tar stream: byte for byte, from files alone."""

from __future__ import annotations

import hashlib
import io
import os
import socket
import subprocess
import tarfile
from pathlib import Path, PurePosixPath

import pytest

from rra._base.files import walk_files
from rra.bundle import canonical, diff_id, write_archive
from rra.errors import FormatError, StorageError, UnavailableError


def archive(root: Path, *names: str) -> bytes:
    stream = io.BytesIO()
    files = [PurePosixPath(name) for name in names] or list(walk_files(root))
    locked = write_archive(root, files, stream)
    data = stream.getvalue()
    assert locked == diff_id(root, files)
    assert locked.diff_id == "sha256:" + hashlib.sha256(data).hexdigest()
    assert locked.size == len(data)
    return data


def write(root: Path, name: str, content: bytes = b"", mode: int = 0o644) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.mark.clause("canonical-tar/header", "canonical-tar/checksum")
def test_one_file_byte_for_byte(tmp_path: Path) -> None:
    write(tmp_path, "a", b"hi\n")
    # POSIX.1-2017 ustar: name, mode, uid, gid, size, mtime, checksum, type, link, magic, …
    fields = [
        (0, b"a"),
        (100, b"0000644\0"),
        (108, b"0000000\0"),
        (116, b"0000000\0"),
        (124, b"00000000003\0"),
        (136, b"02263523000\0"),  # 315532800 in octal: 1980-01-01T00:00:00Z
        (156, b"0"),
        (257, b"ustar\x0000"),
        (329, b"0000000\0"),
        (337, b"0000000\0"),
    ]
    header = bytearray(512)
    for offset, value in fields:
        header[offset : offset + len(value)] = value
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    expected = bytes(header) + b"hi\n" + bytes(509) + bytes(1024)
    assert oct(315532800) == "0o2263523000"
    assert archive(tmp_path, "a") == expected


@pytest.mark.clause("canonical-tar/end")
def test_the_empty_archive_is_two_zero_blocks(tmp_path: Path) -> None:
    locked = diff_id(tmp_path, [])
    assert (locked.files, locked.size) == (0, 1024)
    assert locked.diff_id == "sha256:" + hashlib.sha256(bytes(1024)).hexdigest()


@pytest.mark.clause("canonical-tar/folders-explicit", "canonical-tar/order")
def test_folders_are_explicit_and_paths_byte_sorted(tmp_path: Path) -> None:
    for name in ("b/c/d", "b-x", "b/a", "Z", "é", "b.y/z"):
        write(tmp_path, name)
    with tarfile.open(fileobj=io.BytesIO(archive(tmp_path))) as tar:
        names = tar.getnames()
        kinds = {member.name: member.type for member in tar}
    assert names == ["Z", "b", "b-x", "b.y", "b.y/z", "b/a", "b/c", "b/c/d", "é"]
    assert [name for name in names if kinds[name] == tarfile.DIRTYPE] == ["b", "b.y", "b/c"]


@pytest.mark.clause("canonical-tar/times-and-owners")
def test_nothing_but_names_contents_and_the_executable_bit_counts(tmp_path: Path) -> None:
    contents = {"run.sh": b"#!/bin/sh\n", "d/x.txt": b"x", "d/y.txt": b"y", "e/z": b""}
    digests = set()
    for number, (order, umask, file_mode, x_mode, moment) in enumerate(
        [
            (1, 0o022, 0o644, 0o755, 0),
            (-1, 0o077, 0o600, 0o700, 1_700_000_000),
            (1, 0o000, 0o666, 0o654, 2_000_000_000),
        ]
    ):
        root = tmp_path / str(number)
        before = os.umask(umask)
        for name in list(contents)[::order]:
            path = write(root, name, contents[name], x_mode if name == "run.sh" else file_mode)
            os.utime(path, (moment, moment))
        os.umask(before)
        files = list(walk_files(root))[::order]
        digests.add(diff_id(root, files).diff_id)
    assert len(digests) == 1
    (tmp_path / "0" / "run.sh").chmod(0o644)
    assert diff_id(tmp_path / "0", walk_files(tmp_path / "0")).diff_id not in digests


def test_gnu_tar_reads_it_and_gives_the_files_back(tmp_path: Path) -> None:
    root = tmp_path / "in"
    long_name = "n" * 150 + ".txt"
    deep = "/".join(["folder" * 8] * 6) + "/end.txt"
    write(root, "run.sh", b"#!/bin/sh\n", 0o755)
    write(root, f"d/{long_name}", b"long\n")
    write(root, deep, b"deep\n")
    write(root, "naïve/データ.csv", b"1,2\n")
    (root / "link").symlink_to("run.sh")
    (root / "d" / "up").symlink_to("../naïve/データ.csv")
    (root / "d" / "far").symlink_to("../" + deep)
    packed = tmp_path / "a.tar"
    packed.write_bytes(archive(root))
    out = tmp_path / "out"
    out.mkdir()
    done = subprocess.run(
        ["tar", "tvf", packed], capture_output=True, check=True, env={"TZ": "UTC"}
    )
    assert done.stderr == b""
    lines = done.stdout.decode().splitlines()
    assert lines[-1].startswith("-rwxr-xr-x 0/0 ")
    assert all("1980-01-01 00:00" in line for line in lines)
    subprocess.run(["tar", "xf", packed, "-C", out], check=True)
    assert list(walk_files(out)) == list(walk_files(root))
    for path in walk_files(root):
        if (root / path).is_symlink():
            assert (out / path).readlink() == (root / path).readlink()
        else:
            assert (out / path).read_bytes() == (root / path).read_bytes()
    assert diff_id(out, walk_files(out)) == diff_id(root, walk_files(root))


def test_headers_without_need_of_pax_are_those_of_gnu_tar(tmp_path: Path) -> None:
    """For short ASCII names GNU tar writes the same members."""
    write(tmp_path, "d/x", b"x")
    packed = archive(tmp_path)
    command = ["tar", "--format=ustar", "--sort=name", "--owner=0", "--group=0"]
    command += ["--numeric-owner", "--mtime=@315532800", "--mode=u=rwX,go=rX", "-cf", "-", "d"]
    gnu = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout
    assert packed[:1536] == gnu[:1536]


@pytest.mark.parametrize(
    ("name", "prefix", "field"),
    [
        ("a" * 100, b"", b"a" * 100),
        ("p" * 77 + "/" + "q" * 77 + "/" + "n" * 100, b"p" * 77 + b"/" + b"q" * 77, b"n" * 100),
        ("p/" + "q" * 99, b"p", b"q" * 99),
        ("a/" + "b" * 50 + "/" + "c" * 60, b"a/" + b"b" * 50, b"c" * 60),
    ],
)
def test_a_long_path_is_split_at_the_last_slash_that_fits(
    tmp_path: Path, name: str, prefix: bytes, field: bytes
) -> None:
    write(tmp_path, name)
    data = archive(tmp_path, name)
    blocks = [data[start : start + 512] for start in range(0, len(data) - 1024, 512)]
    header = next(block for block in blocks if block[156:157] == b"0")
    assert header[:100].rstrip(b"\0") == field
    assert header[345:500].rstrip(b"\0") == prefix
    assert not any(block[156:157] == b"x" for block in blocks)


def test_a_path_that_does_not_fit_has_one_pax_record(tmp_path: Path) -> None:
    name = "p" * 101
    write(tmp_path, name, b"1")
    data = archive(tmp_path, name)
    assert data[:14] == b"././@PaxHeader"
    assert data[156:157] == b"x"
    # 101 bytes of name + " path=" + newline = 108, and three digits that count themselves
    assert data[512 : 512 + 111] == b"111 path=" + b"p" * 101 + b"\n"
    assert data[1024 : 1024 + 100] == b"p" * 100


def test_a_record_counts_its_own_digits() -> None:
    for length in (1, 85, 88, 89, 90, 91, 92, 987, 988, 989, 990):
        record = canonical._record(b"path", b"x" * length)
        digits, _, _ = record.partition(b" ")
        assert int(digits) == len(record)


@pytest.mark.clause("canonical-tar/pax-size")
def test_eight_gibibytes_need_a_size_record() -> None:
    small, large = (
        b"".join(canonical.member_headers(b"big", b"0", 0o644, (8 << 30) - n)) for n in (1, 0)
    )
    assert len(small) == 512
    assert small[124:136] == b"77777777777\0"
    assert large[512 : 512 + 19] == b"19 size=8589934592\n"
    assert large[1024 + 124 : 1024 + 136] == b"00000000000\0"


@pytest.mark.clause("canonical-tar/hard-links-are-files")
def test_hard_links_are_files(tmp_path: Path) -> None:
    write(tmp_path, "a", b"same")
    os.link(tmp_path / "a", tmp_path / "b")
    with tarfile.open(fileobj=io.BytesIO(archive(tmp_path))) as tar:
        assert [(m.name, m.type, m.size) for m in tar] == [("a", b"0", 4), ("b", b"0", 4)]


@pytest.mark.parametrize(
    ("link", "target", "message"),
    [
        ("l", "/etc/passwd", "absolute path"),
        ("l", "../outside", "leads out of the archive"),
        ("d/l", "../../outside", "leads out of the archive"),
        ("l", "missing", "not in the archive"),
        ("l", "m", "through another link"),
        ("l", "m/x", "through another link"),
    ],
)
def test_links_that_do_not_stay_are_refused(
    tmp_path: Path, link: str, target: str, message: str
) -> None:
    write(tmp_path, "d/x")
    (tmp_path / "m").symlink_to("d")
    (tmp_path / link).symlink_to(target)
    with pytest.raises(FormatError, match=message) as caught:
        archive(tmp_path)
    copy = "replace the link by a copy of the file"
    away = "remove the link, or exclude it (code.exclude in rra.yaml): it leads to no file"
    assert caught.value.hint == (copy if (tmp_path / link).exists() else away)
    assert caught.value.exit_code == 4


@pytest.mark.clause("canonical-tar/kinds")
def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "ok")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
        with pytest.raises(FormatError) as caught:
            archive(tmp_path)
    assert [str(problem) for problem in caught.value.problems] == [
        "pipe: is a named pipe, not a file [canonical-tar/kinds]",
        "sock: is a socket, not a file [canonical-tar/kinds]",
    ]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"gone\.txt cannot be read: No such file"):
        archive(tmp_path, "gone.txt")


def test_a_file_behind_a_linked_folder_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "real/x")
    (tmp_path / "alias").symlink_to("real")
    with pytest.raises(FormatError, match="alias is a symbolic link and cannot hold files"):
        archive(tmp_path, "alias/x")


@pytest.mark.clause("canonical-tar/whole-files")
def test_a_file_that_changes_while_it_is_read_stops_it(tmp_path: Path) -> None:
    path = write(tmp_path, "log", b"1" * 3_000_000)
    entries = canonical._plan(tmp_path, [PurePosixPath("log")])
    stream = canonical._stream(tmp_path, entries)
    next(stream)
    next(stream)
    with path.open("ab") as file:
        file.write(b"more")
    with pytest.raises(UnavailableError, match="log changed while it was read"):
        list(stream)


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    write(tmp_path, "a", b"x" * 4096)
    with (
        Path("/dev/full").open("wb", buffering=0) as full,
        pytest.raises(StorageError, match="no space left"),
    ):
        write_archive(tmp_path, [PurePosixPath("a")], full)


def test_the_buffer_gives_pieces_of_one_size(tmp_path: Path) -> None:
    sizes = (0, 1, 511, 512, 513, (1 << 20) - 1025, (1 << 20) - 512, 1 << 20, 3 << 20)
    for number, size in enumerate(sizes):
        write(tmp_path, f"f{number}", os.urandom(size))
    files = list(walk_files(tmp_path))
    pieces = [bytes(piece) for piece in canonical.archive_blocks(tmp_path, files)]
    assert {len(piece) for piece in pieces[:-1]} == {1 << 20}
    assert b"".join(pieces) == archive(tmp_path)
    with tarfile.open(fileobj=io.BytesIO(b"".join(pieces))) as tar:
        assert {m.name: tar.extractfile(m).read() for m in tar} == {  # type: ignore[union-attr]
            str(path): (tmp_path / path).read_bytes() for path in files
        }


def test_an_empty_file_that_grows_stops_it(tmp_path: Path) -> None:
    path = write(tmp_path, "log")
    stream = canonical.archive_blocks(tmp_path, [PurePosixPath("log")])
    path.write_bytes(b"more")
    with pytest.raises(UnavailableError, match="log changed while it was read"):
        list(stream)
