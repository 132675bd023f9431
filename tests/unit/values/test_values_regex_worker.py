from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rra.values.readers import regex_worker

if TYPE_CHECKING:
    import pytest


def request(path: Path, pattern: str, *, limit: int = 10, whole: bool = False) -> dict[str, object]:
    return {"path": path, "pattern": pattern, "group": "v", "limit": limit, "whole": whole}


def test_lines_are_numbered_as_an_editor_does(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"1\r2\r\n\n3")
    found = regex_worker.find(request(path, r"^(?P<v>\d)$"))
    assert [(value, line) for value, line, _ in found] == [("1", 1), ("2", 1), ("3", 3)]


def test_a_line_of_any_length_is_read_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regex_worker, "MAX_PIECE", 8)
    path = tmp_path / "log"
    path.write_bytes(b"x" * 100 + b"\nv=7\n")
    found = regex_worker.find(request(path, r"v=(?P<v>\d)"))
    assert [(value, line) for value, line, _ in found] == [("7", 2)]


def test_matches_end_one_past_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("7\n" * 50)
    assert len(regex_worker.find(request(path, r"(?P<v>7)", limit=10))) == 11


def test_a_group_that_takes_no_part_is_no_value(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("a\nb7\n")
    found = regex_worker.find(request(path, r"a|b(?P<v>\d)"))
    assert [(value, line) for value, line, _ in found] == [("7", 2)]


def test_a_pattern_over_lines_sees_the_whole_text(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("acc:\n7\n")
    found = regex_worker.find(request(path, r"acc:\n(?P<v>\d)", whole=True))
    assert found == [("7", 2, {"v": "7"})]
