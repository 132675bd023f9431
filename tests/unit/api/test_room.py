"""What a pull says of room before it begins, and how paths are shown."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from rra import api
from rra._base.files import plain
from tests.support.bundles import locked_artifact, pack
from tests.support.http_registry import http_registry

NOISE = os.urandom(300_000)


class Usage(NamedTuple):
    """What `shutil.disk_usage` returns."""

    total: int
    used: int
    free: int


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("form", ["", "oci-layout:", "oci-archive:"])
def test_a_pull_says_first_what_comes_and_what_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    files: dict[str, str | bytes] = {"noise.bin": NOISE, "zeros.bin": bytes(900_000)}
    artifact = locked_artifact(tmp_path / "a", files)
    pack(artifact, tmp_path / "bundle", "1")
    asked: list[Path] = []

    def usage(place: Path) -> Usage:
        asked.append(place)
        return Usage(0, 0, 700_000)

    lines: list[str] = []
    with http_registry() as registry:
        away = f"{registry.host}/lab/tiny:1"
        api.push(f"oci-layout:{tmp_path / 'bundle'}:1", away, plain_http=True)
        monkeypatch.setattr(shutil, "disk_usage", usage)
        place = tmp_path / "not" / "there" / "yet"
        if form:
            place.parent.mkdir(parents=True)
        else:
            (tmp_path / "not").mkdir()
            place = tmp_path / "not" / "yet"
        api.pull(away, f"{form}{place}", plain_http=True, progress=lines.append)
    (line,) = [line for line in lines if "free where" in line]
    found = re.fullmatch(
        r"(\S+) KiB to bring(?:, (\S+) MiB of files)?; 683\.6 KiB free where (.*) will be(.*)", line
    )
    assert found is not None, line
    assert 293 < float(found[1]) < 330
    assert found[3] == str(place)
    assert asked[0] == place.parent
    # 900,000 zeros come as a few bytes, and do not fit once they are files.
    assert (found[2] is None) == bool(form)
    assert found[4] == ("" if form else " (that may be too little)")
    blobs = [number for number, text in enumerate(lines) if re.match(r"\S+: \d", text)]
    assert not blobs or lines.index(line) < blobs[0]


def test_paths_are_shown_without_dots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one" / "two").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "one" / "two")
    assert plain(Path("../three")) == tmp_path / "one" / "three"
    assert plain(Path("three")) == tmp_path / "one" / "two" / "three"
    # A link is what it leads to where something is left through it, and stays otherwise.
    (tmp_path / "link").symlink_to(tmp_path / "one" / "two")
    assert plain(tmp_path / "link" / "..") == tmp_path / "one"
    assert plain(tmp_path / "link") == tmp_path / "link"
    artifact = locked_artifact(tmp_path / "a")
    pack(artifact, tmp_path / "bundle", "1")
    found = api.unpack("oci-layout:../../bundle:1", Path("../copy"))
    assert found.unpacked.target == tmp_path / "one" / "copy"
