from __future__ import annotations

from pathlib import Path

import pytest

from rra.scan.text import MAX_TEXT_BYTES, decode, read_text

TEXT = "Genauigkeit: 98,9 % – übrig\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_every_unicode_encoding_is_read(encoding: str) -> None:
    assert decode(TEXT.encode(encoding)) == TEXT


def test_latin_1_is_read_where_utf_8_fails() -> None:
    assert decode("caf\xe9\n".encode("latin-1")) == "café\n"


def test_line_ends_become_line_feeds() -> None:
    assert decode(b"a\r\nb\rc\n") == "a\nb\nc\n"


def test_binary_and_large_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\x89PNG\0\0\0\1")
    (tmp_path / "b.txt").write_bytes(b"x" * (MAX_TEXT_BYTES + 1))
    (tmp_path / "c.txt").write_bytes(b"")
    assert read_text(tmp_path / "a.bin") is None
    assert read_text(tmp_path / "b.txt") is None
    assert read_text(tmp_path / "c.txt") == ""
    assert read_text(tmp_path / "missing") is None
