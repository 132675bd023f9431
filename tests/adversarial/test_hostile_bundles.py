"""Each hostile archive as a layer of a bundle whose digests are all right, unpacked as users do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra.errors import ArchiveError, RraError, UnsafePathError
from tests.acceptance.command import rra
from tests.adversarial.hostile_archives import CASES
from tests.support.archives import HARD, file, folder, hard, link, member, snapshot, tar
from tests.support.bundles import blob, forge, locked_artifact, pack, put

LAYOUT = "oci-layout:bundle"


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A layout with one bundle."""
    place = tmp_path_factory.mktemp("hostile")
    pack(locked_artifact(place / "artifact"), place / "bundle")
    return place / "bundle"


@pytest.fixture
def ground(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a copy of the bundle and things that nobody may touch."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "secret").write_bytes(b"do not touch\n")
    place = tmp_path / "work"
    shutil.copytree(packed, place / "bundle")
    monkeypatch.chdir(place)
    return place


def hostile(case: str, ground: Path) -> None:
    """Make the archive of a case the layer of the code."""
    made = CASES[case][0]
    data = made if isinstance(made, bytes) else made(str(ground.parent / "victim"))
    forge(ground / "bundle", layers={"code": data})


@pytest.mark.parametrize("case", CASES)
def test_a_hostile_layer_leaves_nothing(case: str, ground: Path) -> None:
    hostile(case, ground)
    before = snapshot(ground.parent)
    with pytest.raises(RraError) as caught:
        api.unpack(LAYOUT, ground / "out")
    assert caught.value.exit_code == 4, caught.value.message
    assert snapshot(ground.parent) == before


@pytest.mark.parametrize("case", ["escape-sequence", "24-bidi", "23-newline", "nul-in-pax-path"])
def test_what_is_refused_is_shown_safely(case: str, ground: Path) -> None:
    hostile(case, ground)
    for form in ((), ("--json",)):
        answer = rra("unpack", LAYOUT, "out", *form, cwd=ground).expect(4)
        for line in answer.said.splitlines():
            assert line.isprintable(), line


def test_a_bomb_in_a_bundle_leaves_nothing(ground: Path) -> None:
    """10 GiB of zeros in 320 KiB, and a config that says so: the ratio is refused, not met."""
    run = ((1 << 17) << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    blocks = (10 << 30) // (1 << 17)
    data = b"\x28\xb5\x2f\xfd\x00\x58" + run * (blocks - 1) + b"\x03\x00\x10\0"
    where = put(ground / "bundle", data)
    assert blob(ground / "bundle", where["digest"]).stat().st_size < (10 << 30) / 32_000

    def bomb(document: dict[str, Any]) -> None:
        for one in document["layers"]:
            if one.get("element") == "code":
                one.update(where, uncompressed_size=10 << 30, diff_id="sha256:" + "0" * 64)
                one["compressor"] = {"algorithm": "zstd", "level": 3, "library": "zstd 1.5.7"}
            if ".code." in one.get("mediaType", ""):
                one.update(where, mediaType="application/vnd.rra.code.v1.tar+zstd")

    forge(ground / "bundle", config=bomb, manifest=bomb)
    assert json.loads((ground / "bundle/index.json").read_bytes())["manifests"]
    before = snapshot(ground.parent)
    with pytest.raises(ArchiveError):
        api.unpack(LAYOUT, ground / "out")
    assert snapshot(ground.parent) == before


B8 = {
    "absolute": [link("s", "/etc/passwd"), hard("t", "s")],
    "relative": [link("s", "../../victim/secret"), hard("t", "s")],
    "below a folder": [folder("d"), link("d/s", "../../../victim/secret"), hard("t", "d/s")],
    "through a chain": [link("a", "b"), link("b", "../../victim"), hard("t", "a/secret")],
    "then written to": [link("s", "../../victim/secret"), hard("t", "s"), file("t", b"over")],
    "to a good link": [file("a"), link("s", "a"), hard("t", "s")],
    "to a file": [file("a"), hard("t", "a")],
    "to itself": [hard("t", "t")],
    "before its link": [hard("s", "t"), link("t", "../../victim/secret")],
    "with a size": [file("a"), member("t", b"over" * 200, kind=HARD, target="a")],
    "with a long name": [file("a"), member("t", kind=HARD, target="d/" * 80 + "a")],
}


@pytest.mark.parametrize("shape", B8)
def test_b8_a_hard_link_is_refused_in_every_shape(shape: str, ground: Path) -> None:
    """cpython#151558: where a hard link cannot be made, Python's reader writes through a link."""
    forge(ground / "bundle", layers={"code": tar(*B8[shape])})
    before = snapshot(ground.parent)
    with pytest.raises(RraError) as caught:
        api.unpack(LAYOUT, ground / "out")
    assert isinstance(caught.value, ArchiveError | UnsafePathError)
    assert snapshot(ground.parent) == before


@pytest.mark.parametrize("shape", ["absolute", "to a good link", "to a file"])
def test_b8_the_hard_link_is_what_is_named(shape: str, ground: Path) -> None:
    forge(ground / "bundle", layers={"code": tar(*B8[shape])})
    with pytest.raises(ArchiveError, match="t: is a hard link; only files, folders and links"):
        api.unpack(LAYOUT, ground / "out")
