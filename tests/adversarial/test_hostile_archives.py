"""Archives that want to do harm, one named case each.

Each (`hostile_archives.CASES`) is refused with the error that says why, touches nothing outside
of where it was put, and leaves nothing there once the caller's staging is gone. Those that other
programs write are here a second time, as Python's own `tarfile` writes them.
"""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from rra._base.files import staged_directory
from rra.bundle.extract import Limits, extract_archive
from rra.errors import ArchiveError, CorruptError, RraError, UnsafePathError
from tests.adversarial.hostile_archives import (
    CASES,
    CVE_2025_4330,
    CVE_2026_11940,
    EMPTY_NAMES,
    GOOD,
    cve_2025_4517,
)
from tests.support.archives import header, snapshot

SECRET = b"do not touch\n"
SMALL = Limits(members=1000, file_bytes=1 << 20, total_bytes=1 << 22, names_bytes=1 << 17)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A place with things that no extraction may touch, next to where archives go."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "secret").write_bytes(SECRET)
    (victim / "secret").chmod(0o600)
    (tmp_path / "target-evil").mkdir()
    (tmp_path / "victim-link").symlink_to("victim")
    return victim


def extract(data: bytes, outside: Path, limits: Limits = SMALL, **options: Any) -> None:
    """Extract as a caller does: staged beside the target, renamed at the end."""
    with staged_directory(outside.parent / "target") as staging:
        extract_archive(io.BytesIO(data), staging, limits=limits, **options)


def refused(data: bytes, outside: Path, error: type[RraError], **options: Any) -> str:
    """Extract, insist on that very error and on nothing touched, and return what it says."""
    before = snapshot(outside.parent)
    here = snapshot(Path.cwd()) if Path.cwd() == outside else None
    with pytest.raises(RraError) as caught:
        extract(data, outside, **options)
    assert snapshot(outside.parent) == before
    assert here is None or snapshot(Path.cwd()) == here
    assert type(caught.value) is error, caught.value.message
    assert caught.value.exit_code == 4
    assert caught.value.hint
    message = caught.value.message
    assert message.isprintable()
    assert len(message) < 600
    return message


def test_the_good_archive_passes(outside: Path) -> None:
    extract(GOOD, outside)
    target = outside.parent / "target"
    assert {path: seen.content for path, seen in snapshot(target).items()} == {
        "a": b"x",
        "d": b"",
        "d/b": b"y",
        "l": "d/b",
    }


@pytest.mark.clause(
    "canonical-tar/refuse-others",
    "canonical-tar/stay-inside",
    "canonical-tar/all-or-nothing",
    "canonical-tar/no-empty-folders",
    "canonical-tar/end",
    "canonical-tar/kinds",
)
@pytest.mark.parametrize("case", CASES)
def test_hostile(case: str, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(outside)
    made, error, message = CASES[case]
    data = made if isinstance(made, bytes) else made(str(outside))
    assert message in refused(data, outside, error)


@pytest.mark.clause("canonical-tar/bounded")
def test_ten_million_empty_files_end_at_the_limit(outside: Path) -> None:
    """The archive is made while it is read: what is read ends with the limit, not with it."""
    given = 0

    class Endless(io.RawIOBase):
        def __init__(self) -> None:
            self.number = 0

        def read(self, size: int = -1, /) -> bytes:
            nonlocal given
            self.number += 64
            given += 64
            return b"".join(header(f"{self.number + n:08}") for n in range(64))

    with (
        pytest.raises(ArchiveError, match="more than the 1,000 members"),
        staged_directory(outside.parent / "target") as staging,
    ):
        extract_archive(Endless(), staging, limits=SMALL)  # type: ignore[arg-type]
    assert given < 1200
    assert not (outside.parent / "target").exists()


@pytest.mark.clause("canonical-tar/bounded")
def test_a_stream_without_end_ends_at_the_limit(outside: Path) -> None:
    class Zeros(io.RawIOBase):
        given = 0

        def read(self, size: int = -1, /) -> bytes:
            Zeros.given += size
            return (
                header("a", size=1 << 20) + bytes(size - 512)
                if Zeros.given == size
                else (b"x" * size)
            )

    with (
        pytest.raises(ArchiveError),
        staged_directory(outside.parent / "target") as staging,
    ):
        extract_archive(Zeros(), staging, limits=SMALL)  # type: ignore[arg-type]
    assert Zeros.given <= SMALL.total_bytes
    assert not (outside.parent / "target").exists()


def test_another_digest(outside: Path) -> None:
    message = refused(GOOD, outside, CorruptError, expected_diff_id="sha256:" + "0" * 64)
    assert "where sha256:0000" in message


# ------------------------------------------------------------------ as other programs write it


def made_by_tarfile(members: list[tuple[str, str, str]], **options: Any) -> bytes:
    """Return an archive as Python writes it."""
    kinds = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE, "folder": tarfile.DIRTYPE}
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", **options) as archive:
        for name, kind, value in members:
            info = tarfile.TarInfo(name)
            info.type = kinds.get(kind, tarfile.REGTYPE)
            info.linkname = value if kind in {"link", "hard"} else ""
            info.size = len(value) if kind == "file" else 0
            archive.addfile(info, io.BytesIO(value.encode()))
    return stream.getvalue()


V = "@VICTIM@"  # replaced by the absolute path of the victim's folder
U, A = UnsafePathError, ArchiveError
FOREIGN: dict[str, tuple[list[tuple[str, str, str]], type[RraError]]] = {
    "dotdot": ([("../pwn", "file", "x")], U),
    "absolute": ([(V + "/abs", "file", "x")], U),
    "symlink-then-write": ([("s", "link", V), ("s/pwn", "file", "x")], A),
    "hardlink": ([("h", "hard", V + "/secret"), ("h", "file", "x")], A),
    "cve-2025-4517": (cve_2025_4517(), A),
    "cve-2025-4330": (CVE_2025_4330, A),
    "cve-2026-11940": (CVE_2026_11940, A),
    "empty-names": (EMPTY_NAMES, U),
    "backslash": ([("..\\pwn", "file", "x")], U),
    "bidi": ([("a\u202egpj.exe", "file", "x")], U),
    "long-name": ([("a/" * 60 + "x", "file", "x")], A),
    "ordinary": ([("a", "file", "x")], A),
}


@pytest.mark.clause("canonical-tar/refuse-others")
@pytest.mark.parametrize("dialect", ["pax", "gnu", "ustar"])
@pytest.mark.parametrize("case", FOREIGN)
def test_hostile_as_tarfile_writes_it(
    case: str, dialect: str, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(outside)
    members, error = FOREIGN[case]
    members = [(n.replace(V, str(outside)), k, v.replace(V, str(outside))) for n, k, v in members]
    formats = {"pax": tarfile.PAX_FORMAT, "gnu": tarfile.GNU_FORMAT, "ustar": tarfile.USTAR_FORMAT}
    if dialect == "ustar" and case in {"cve-2025-4517", "bidi"}:
        dialect = "pax"  # ustar cannot hold such names
    if dialect == "gnu":
        error = A  # refused for its format, before anything else
    data = made_by_tarfile(members, format=formats[dialect])
    refused(data, outside, error)
