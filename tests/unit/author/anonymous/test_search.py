"""Searching files of every size, and inside of what they hold."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path, PurePosixPath

import pytest

from rra.author.anonymous.identifier import Finder
from rra.author.anonymous.people import Words, person
from rra.author.anonymous.search import OVERLAP, WINDOW, Findings, Search

NAME = b"Bo Sample"


def search(root: Path, data: bytes) -> Findings:
    (root / "x.bin").write_bytes(data)
    finder = Finder(person(NAME.decode(), Words(), "test"))
    return Search(finder).files(root, [PurePosixPath("x.bin")])


@pytest.mark.parametrize("before", [WINDOW - 4, WINDOW - OVERLAP - 4, 2 * WINDOW - 3])
def test_a_large_file_is_searched_in_pieces(tmp_path: Path, before: int) -> None:
    lines = b"\0\n" * (before // 2) + b"\n" * (before % 2)
    found = search(tmp_path, lines + NAME + b"\n\0" * WINDOW)
    assert [problem.line for problem in found.problems] == [lines.count(b"\n") + 1]


def test_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    data = b"\0" + random.Random(1).randbytes(40 << 20)
    (tmp_path / "x.bin").write_bytes(data)
    del data
    finder = Finder(person(NAME.decode(), Words(), "test"))
    list(finder.find(b"\0" * 100_000))  # what is imported on the way does not count
    tracemalloc.start()
    found = Search(finder).files(tmp_path, [PurePosixPath("x.bin")])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.files, found.size, found.problems) == (1, (40 << 20) + 1, [])
    assert peak < 64 << 20


def test_a_link_is_searched_by_its_target(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("bo-sample.txt")
    finder = Finder(person(NAME.decode(), Words(), "test"))
    found = Search(finder).files(tmp_path, [PurePosixPath("a")])
    assert [problem.path for problem in found.problems] == ["a"]
    assert found.files == 0
