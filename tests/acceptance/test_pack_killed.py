"""A pack that is killed at any point leaves the old bundles as they were, and nothing for long."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rra import api
from rra.bundle.archive import ArchiveStore
from rra.bundle.layout import LayoutStore
from rra.bundle.reader import read_bundle
from rra.bundle.store import BlobStore
from tests.support.bundles import locked_artifact, pack, tree
from tests.support.kill_points import deadly, leftovers, points, scratch
from tests.support.killing import Killer

NOISE = 1_200_000
OLD, NEW = "# Guide\n\nRun `bash launchers/main.sh`.\n", "# Another guide\n"
TARGETS = {"made": "oci-layout:new", "added": "oci-layout:b:2", "replaced": "oci-archive:b.tar:2"}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with an artifact that was packed before it changed, in a folder and in a file."""
    place = tmp_path_factory.mktemp("killed") / "start"
    noise = b"".join(n.to_bytes(4, "big") * 3 for n in range(NOISE // 12))
    artifact = locked_artifact(place / "a", {"noise.bin": noise, "guide/GUIDE.md": OLD})
    pack(artifact, place / "b", "1")
    assert api.pack(place / "a", f"oci-archive:{place / 'b.tar'}:1").ok
    (place / "a" / "guide" / "GUIDE.md").write_text(NEW)
    return place


@pytest.fixture
def ground() -> Iterator[Path]:
    """A folder for everything that a killed process may touch."""
    with scratch() as folder:
        yield folder


@pytest.fixture
def parent(ground: Path) -> Iterator[Killer]:
    with deadly(ground) as killer:
        yield killer


def whole(store: BlobStore, tag: str | None) -> str:
    """Read a bundle to its last byte, which fails when any is wrong; return its digest."""
    bundle = read_bundle(store, tag)
    for layer, _ in bundle.layers:
        with store.open(layer.descriptor) as stream:
            while stream.read(1 << 20):
                pass
    return bundle.descriptor.digest


def look(place: Path, kind: str, old: str, new: str) -> None:
    """Insist that what was there before is readable, and what is new is whole or not there."""
    assert whole(LayoutStore(place / "b"), "1") == old
    assert set(LayoutStore(place / "b").tags()) <= {"1", "2"}
    file = ArchiveStore(place / "b.tar")
    (tag,) = file.tags()
    assert whole(file, tag) == {"1": old, "2": new}[tag]
    if "2" in LayoutStore(place / "b").tags():
        assert whole(LayoutStore(place / "b"), "2") == new
    if kind == "made" and (place / "new").exists():
        assert whole(LayoutStore(place / "new"), None) == new


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("cached", ["first", "again"])
@pytest.mark.parametrize(
    "count", [4, pytest.param(42, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_a_pack_that_is_killed(
    start: Path, parent: Killer, ground: Path, kind: str, cached: str, count: int
) -> None:
    place, cache = ground / "place", ground / "cache"
    form, _, rest = TARGETS[kind].partition(":")

    def call(**kill: float) -> dict[str, object]:
        return parent.call("pack", str(place / "a"), f"{form}:{place}/{rest}", **kill)

    def fresh() -> None:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(start, place, symlinks=True)
        if cached == "first":
            shutil.rmtree(cache, ignore_errors=True)

    def measured() -> dict[str, object]:
        fresh()
        if cached == "again":
            call()
            fresh()
        return call()

    old, new, expected, killed = whole(LayoutStore(start / "b"), "1"), "", None, 0
    for point in points(measured, count, count + len(kind), largest=NOISE // 2):
        if expected is None:
            expected = tree(place)
            store = ArchiveStore(place / "b.tar") if kind == "replaced" else None
            made = {"made": "new", "added": "b"}.get(kind, "")
            new = whole(store or LayoutStore(place / made), None if kind == "made" else "2")
            assert new != old
        fresh()
        killed += bool(call(**point)["killed"])
        look(place, kind, old, new)
        again = call()
        assert again["ok"], (point, again)
        assert tree(place) == expected, point
        assert leftovers(place, cache, ground / "temporary") == [], point
    assert killed > count // 4


def test_what_a_killed_pack_brought_goes_though_another_bundle_comes_next(
    start: Path, parent: Killer, ground: Path
) -> None:
    place = ground / "place"

    def call(tag: str, **kill: float) -> dict[str, object]:
        return parent.call("pack", str(place / "a"), f"oci-layout:{place}/b:{tag}", **kill)

    def measured() -> dict[str, object]:
        shutil.copytree(start, place, symlinks=True)
        return call("2")

    for point in points(measured, 8, 3, largest=NOISE // 2):
        shutil.rmtree(place)
        shutil.copytree(start, place, symlinks=True)
        before = tree(place / "b")
        call("2", **point)
        if "2" in LayoutStore(place / "b").tags():
            continue
        (place / "a" / "guide" / "GUIDE.md").write_text(OLD)
        assert call("1")["ok"]
        assert tree(place / "b") == before, point
