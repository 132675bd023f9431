"""Unpacking of arbitrary trees, and of archives that were changed anywhere."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import zstandard
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rra._base.files import staged_directory, walk_files
from rra.bundle import diff_id, write_archive
from rra.bundle.decompress import decompressed
from rra.bundle.extract import Limits, extract_archive
from rra.errors import ArchiveError, RraError, UnsafePathError
from tests.property.test_bundle_canonical import TREES, allowed
from tests.support.archives import checksummed, file, folder, link, member, snapshot, tar

LIMITS = Limits(members=100, file_bytes=1 << 16, total_bytes=1 << 18, names_bytes=1 << 16)
SEEDS = [
    tar(file("a", b"hello\n"), folder("d"), file("d/b", b"y" * 600), link("l", "d/b")),
    tar(folder("data"), file("data/naïve データ.csv", b"1,2\n"), link("latest", "data")),
    tar(member("n" * 150, b"long"), member("run.sh", b"#!/bin/sh\n", mode=0o755)),
]


@contextlib.contextmanager
def place() -> Iterator[Path]:
    """A folder with something next to the target that nothing may touch."""
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "secret").write_bytes(b"do not touch\n")
        (Path(name) / "victim").mkdir()
        yield Path(name)


@settings(max_examples=120, deadline=None)
@given(TREES, st.data())
def test_every_tree_comes_back(tree: dict[str, bytes], data: st.DataObject) -> None:
    assume(allowed(list(tree)))
    with place() as root:
        source = root / "source"
        for name, content in tree.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes(content)
            (source / name).chmod(data.draw(st.sampled_from([0o644, 0o755, 0o600, 0o711])))
        target = data.draw(st.sampled_from(sorted(tree)))
        if data.draw(st.booleans()) and not (source / "~link").exists():
            (source / "~link").symlink_to(target)
        stream = io.BytesIO()
        locked = write_archive(source, walk_files(source), stream)
        stream.seek(0)
        out = root / "out"
        out.mkdir()
        found = extract_archive(stream, out, expected_diff_id=locked.diff_id)
        assert (found.diff_id, found.files, found.size) == (
            locked.diff_id,
            locked.files,
            locked.size,
        )
        assert diff_id(out, walk_files(out)) == locked
        assert list(walk_files(out)) == list(walk_files(source))


def unpack(data: bytes, target: Path) -> RraError | str:
    """Unpack bytes as a caller does; return the digest, or the error that refused them."""
    try:
        with staged_directory(target) as staging:
            return extract_archive(io.BytesIO(data), staging, limits=LIMITS).diff_id
    except (ArchiveError, UnsafePathError) as error:
        return error


def attempt(data: bytes) -> None:
    """Unpack bytes; what is accepted is what packing the result gives, byte for byte."""
    with place() as root:
        before = snapshot(root)
        result = unpack(data, root / "target")
        after = snapshot(root)
        if isinstance(result, RraError):
            assert result.message.isprintable()
            assert after == before
            return
        assert {name: after[name] for name in before} == before
        assert all(name.split("/")[0] in {"secret", "victim", "target"} for name in after)
        stream = io.BytesIO()
        locked = write_archive(root / "target", walk_files(root / "target"), stream)
        assert stream.getvalue() == data
        assert locked.diff_id == result


@st.composite
def changed(draw: st.DrawFn) -> bytes:
    """A good archive with bytes replaced, left out or put in, and its checksums put right."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["byte", "byte", "field", "cut", "copy", "drop"]))
        block = draw(st.integers(0, len(data) // 512)) * 512
        if kind == "byte" and data:
            data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
        elif kind == "field":
            offset, length = draw(
                st.sampled_from([(0, 100), (100, 8), (124, 12), (156, 1), (157, 100), (345, 155)])
            )
            text = draw(
                st.sampled_from([b"../x", b"/etc/passwd", b"a", b"d/b", b"l", b"5", b"2", b"x"])
                | st.binary(max_size=length)
            )
            data[block + offset : block + offset + length] = text[:length].ljust(length, b"\0")
        elif kind == "cut":
            del data[draw(st.integers(0, len(data))) :]
        elif kind == "copy":
            data[block:block] = data[: draw(st.integers(0, 4)) * 512]
        else:
            del data[block : block + 512]
    if draw(st.booleans()):
        for start in range(0, len(data) - 511, 512):
            if data[start + 257 : start + 262] == b"ustar":
                data[start : start + 512] = checksummed(data[start : start + 512])
    return bytes(data)


@settings(max_examples=400, deadline=None)
@given(changed())
def test_a_changed_archive_is_refused_or_is_another_good_one(data: bytes) -> None:
    attempt(data)


NAMES = st.sampled_from(
    ["a", "b", "d", "d/a", "d/e", "d/e/f", "A", "é", "../x", "/x", "", ".", "d/../a", "n" * 120]
)
MEMBERS = st.one_of(
    st.builds(file, NAMES, st.binary(max_size=600)),
    st.builds(folder, NAMES),
    st.builds(link, NAMES, NAMES | st.sampled_from(["../a", "../d/a", "../../x", "e/../a"])),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(MEMBERS, max_size=6))
def test_members_in_any_combination(members: list[bytes]) -> None:
    attempt(tar(*members))


SORTED = st.lists(st.sampled_from(["a", "b", "d", "d/a", "d/e", "d/e/f", "l"]), unique=True)


@settings(max_examples=300, deadline=None)
@given(SORTED.map(sorted), st.data())
def test_members_in_order(names: list[str], data: st.DataObject) -> None:
    """Nearer to what is accepted: in order, each name once."""
    targets = st.sampled_from([*names, "../a", "../d", "e/f", "a/../b", "..", "d/e/../a"])
    makers: dict[str, Callable[[str], bytes]] = {
        "file": lambda name: file(name, b"1"),
        "folder": folder,
        "link": lambda name: link(name, data.draw(targets)),
    }
    kinds = [
        "folder" if any(other.startswith(name + "/") for other in names) else "file"
        for name in names
    ]
    kinds = [data.draw(st.sampled_from([kind, kind, "link"])) for kind in kinds]
    attempt(tar(*(makers[kind](name) for kind, name in zip(kinds, names, strict=True))))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=2000))
def test_bytes_that_are_no_archive(data: bytes) -> None:
    attempt(data)


COMPRESSED = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(
    b"".join(b"%d\n" % number for number in range(20_000)) + os.urandom(200)
)


def inflated(data: bytes) -> bytes | None:
    """Return what a frame holds, in bounded pieces, or nothing when it is refused."""
    limit = 1 << 20
    stream = decompressed(io.BytesIO(data), "zstd", compressed_size=len(data), limit=limit)
    content = b""
    try:
        while chunk := stream.read(1 << 16):
            content += chunk
    except ArchiveError:
        return None
    finally:
        assert len(content) <= limit
    return content


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(COMPRESSED) - 1), st.integers(0, 255)), min_size=1, max_size=4
    ),
    st.integers(0, len(COMPRESSED)) | st.none(),
)
def test_a_changed_frame_is_refused_or_gives_the_same(
    changes: list[tuple[int, int]], cut: int | None
) -> None:
    data = bytearray(COMPRESSED)
    for at, value in changes:
        data[at] = value
    assert inflated(bytes(data[:cut])) in {None, inflated(COMPRESSED)}


def test_the_seeds_are_accepted() -> None:
    for seed in SEEDS:
        with place() as root:
            (root / "out").mkdir()
            extract_archive(io.BytesIO(seed), root / "out", limits=LIMITS)
            assert PurePosixPath("secret") in set(walk_files(root))
