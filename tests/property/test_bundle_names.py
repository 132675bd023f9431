"""Names that are passed quickly, and why they may be."""

from __future__ import annotations

from pathlib import PurePosixPath

from hypothesis import given, settings
from hypothesis import strategies as st

from rra.bundle import names

PIECES = ["con", "PRN", "aux", "Nul", "com1", "LPT9", "lpt0", "a", "Z", "9", "_", "-", "~", "+"]
PATHS = st.lists(st.sampled_from([*PIECES, ".", "..", "/", "/", " ", "é"]), max_size=40).map(
    "".join
)


@settings(max_examples=600, deadline=None)
@given(PATHS)
def test_a_plain_path_breaks_no_rule(path: str) -> None:
    if names._PLAIN.fullmatch(path):
        assert list(names.name_faults(PurePosixPath(path))) == []
        assert str(PurePosixPath(path)) == path


def test_what_is_plain_and_what_is_not() -> None:
    for path in (
        "a",
        "code/pkg/module_1.py",
        ".git-keep",
        "x" * 255,
        "/".join("d" * 64),
        "console",
    ):
        assert names._PLAIN.fullmatch(path), path
    for path in ("", "a.", "a/./b", "../a", "/a", "a//b", "nul", "a/CON.txt", "Com1/x", "lpt9."):
        assert not names._PLAIN.fullmatch(path), path
    assert not names._PLAIN.fullmatch("x" * 256)
    assert not names._PLAIN.fullmatch("/".join("d" * 65))


def test_folders_on_the_way() -> None:
    assert names.folders_of(["a/b/c", "a/b/d", "e", "f/g"]) == {"a", "a/b", "f"}
    assert names.folders_of([]) == set()
