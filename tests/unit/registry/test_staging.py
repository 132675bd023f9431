"""Folders of what is not whole yet: left behind by a kill they go, in use they stay."""

from __future__ import annotations

import os
from pathlib import Path

from rra.bundle.staging import claimed
from tests.support.needs import needs


def test_a_folder_that_goes_with_the_block(tmp_path: Path) -> None:
    with claimed(tmp_path / "new") as place:
        (place / "file").write_text("x")
        assert place.parent == tmp_path / "new"
    assert list((tmp_path / "new").iterdir()) == []


def test_a_folder_that_got_a_name_stays(tmp_path: Path) -> None:
    with claimed(tmp_path / "in") as place:
        place.rename(tmp_path / "in/name")
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["name"]


def test_what_was_left_behind_goes_and_what_is_in_use_stays(tmp_path: Path) -> None:
    tmp_path = tmp_path / "in"
    with claimed(tmp_path) as first:
        left = tmp_path / f"{first.name[:-12]}0123456789ab"
        (left / "deep").mkdir(parents=True)
        (left / "deep/file").write_text("x")
        other = tmp_path / ".rra-staging-0123456789ab"  # of another kind of writer
        other.mkdir()
        with claimed(tmp_path) as second:
            assert sorted(tmp_path.iterdir()) == sorted([first, second, other])


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("x")
    with claimed(tmp_path / "in") as first:
        link = tmp_path / "in" / f"{first.name[:-12]}0123456789ab"
        link.symlink_to(outside)
        with claimed(tmp_path / "in"):
            assert (outside / "file").read_text() == "x"
        link.unlink()


@needs("root")
def test_the_folder_of_another_user_stays(tmp_path: Path) -> None:
    with claimed(tmp_path, prefix="rra-test-", mode=0o700) as first:
        assert first.stat().st_mode & 0o777 == 0o700
        theirs = tmp_path / "rra-test-0123456789ab"
        theirs.mkdir()
        os.chown(theirs, 65534, 65534)
        with claimed(tmp_path, prefix="rra-test-"):
            assert theirs.is_dir()
