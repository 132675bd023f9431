"""Canonical archives of arbitrary names and contents."""

from __future__ import annotations

import io
import tarfile
import tempfile
import unicodedata
from pathlib import Path, PurePosixPath

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rra.bundle import diff_id, write_archive
from rra.bundle.names import check_names

CHARACTERS = st.characters(
    codec="utf-8", exclude_characters="/\\:\0", exclude_categories=["Cc", "Cs"]
)
COMPONENT = st.text(CHARACTERS, min_size=1, max_size=60).map(
    lambda text: unicodedata.normalize("NFC", text)
)
PATHS = st.lists(COMPONENT, min_size=1, max_size=5).map("/".join)
TREES = st.dictionaries(PATHS, st.binary(max_size=1200), min_size=1, max_size=6)


def allowed(names: list[str]) -> bool:
    paths = [PurePosixPath(name) for name in names]
    if len(set(paths)) < len(names) or any(str(p) != n for p, n in zip(paths, names, strict=True)):
        return False
    folders = {parent for path in paths for parent in path.parents if parent.parts}
    return not folders & set(paths) and not list(check_names([*paths, *folders]))


@settings(max_examples=150, deadline=None)
@given(TREES, st.randoms(use_true_random=False))
def test_pythons_reader_gives_back_every_allowed_tree(
    tree: dict[str, bytes], random: object
) -> None:
    assume(allowed(list(tree)))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, content in tree.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        files = [PurePosixPath(name) for name in tree]
        stream = io.BytesIO()
        locked = write_archive(root, files, stream)
        assert diff_id(root, reversed(files)) == locked
    with tarfile.open(fileobj=io.BytesIO(stream.getvalue())) as tar:
        members = tar.getmembers()
        found = {m.name: tar.extractfile(m) for m in members if m.isreg()}
        assert {name: file.read() for name, file in found.items() if file} == tree
    names = [member.name.encode() for member in members]
    assert names == sorted(names)
    assert {(m.uid, m.gid, m.mtime, m.uname, m.gname) for m in members} == {
        (0, 0, 315532800, "", "")
    }
    assert locked.size % 512 == 0
    assert locked.files == len(tree)


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=300))
def test_names_are_judged_without_a_failure_and_shown_in_one_line(name: str) -> None:
    assume(name not in {".", ".."})
    for problem in check_names([PurePosixPath(name)]):
        assert len(str(problem).splitlines()) == 1 or "\u2028" in name or "\u2029" in name
        assert "\x1b" not in str(problem)
