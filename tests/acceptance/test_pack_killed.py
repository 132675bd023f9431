"""A pack that is killed at any point leaves the old bundles as they were, and nothing for long."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rra import api
from rra._base.files import STAGING_PREFIX
from rra.bundle.archive import ArchiveStore
from rra.bundle.layout import LayoutStore
from rra.bundle.reader import read_bundle
from rra.bundle.store import BlobStore
from rra.bundle.unpack import unpack_bundle
from tests.support.bundles import locked_artifact, pack, tree
from tests.support.kill_points import points
from tests.support.killing import Killer, killer

OLD, NEW = "# Guide\n\nRun `bash launchers/main.sh`.\n", "# Another guide\n"
TARGETS = {"made": "oci-layout:new", "added": "oci-layout:b:2", "replaced": "oci-archive:b.tar:2"}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with an artifact that was packed before it changed, in a folder and in a file."""
    place = tmp_path_factory.mktemp("killed") / "start"
    noise = b"".join(n.to_bytes(4, "big") * 3 for n in range(300_000))
    artifact = locked_artifact(place / "a", {"noise.bin": noise, "guide/GUIDE.md": OLD})
    pack(artifact, place / "b", "1")
    assert api.pack(place / "a", f"oci-archive:{place / 'b.tar'}:1").ok
    (place / "a" / "guide" / "GUIDE.md").write_text(NEW)
    return place


@pytest.fixture
def deadly(tmp_path: Path) -> Iterator[Killer]:
    (tmp_path / "temporary").mkdir()
    with killer(RRA_CACHE=str(tmp_path / "cache"), TMPDIR=str(tmp_path / "temporary")) as parent:
        yield parent


def guide(store: BlobStore, tag: str | None, place: Path) -> str:
    """Unpack a whole bundle, which fails when anything of it is damaged; return its guide."""
    unpack_bundle(read_bundle(store, tag), store, place)
    text = (place / "guide" / "GUIDE.md").read_text()
    shutil.rmtree(place)
    return text


def leftovers(*places: Path) -> list[Path]:
    """Return everything that is not whole, wherever it lies."""
    return [path for place in places for path in place.rglob(f"{STAGING_PREFIX}*")]


def look(place: Path, kind: str) -> None:
    """Insist that what was there before is readable, and what is new is whole or not there."""
    assert guide(LayoutStore(place / "b"), "1", place / "out") == OLD
    assert set(LayoutStore(place / "b").tags()) <= {"1", "2"}
    file = ArchiveStore(place / "b.tar")
    (tag,) = file.tags()
    assert guide(file, tag, place / "out") == {"1": OLD, "2": NEW}[tag]
    if "2" in LayoutStore(place / "b").tags():
        assert guide(LayoutStore(place / "b"), "2", place / "out") == NEW
    if kind == "made" and (place / "new").exists():
        assert guide(LayoutStore(place / "new"), None, place / "out") == NEW


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("cached", ["first", "again"])
@pytest.mark.parametrize(
    "count", [4, pytest.param(60, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_a_pack_that_is_killed(
    start: Path, deadly: Killer, tmp_path: Path, kind: str, cached: str, count: int
) -> None:
    place, cache = tmp_path / "place", tmp_path / "cache"
    form, _, rest = TARGETS[kind].partition(":")

    def call(**kill: float) -> dict[str, object]:
        return deadly.call("pack", str(place / "a"), f"{form}:{place}/{rest}", **kill)

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

    expected, killed = None, 0
    for point in points(deadly, measured, count, seed=count + len(kind)):
        if expected is None:
            expected = tree(place)
        fresh()
        killed += bool(call(**point)["killed"])
        look(place, kind)
        again = call()
        assert again["ok"], (point, again)
        assert tree(place) == expected, point
        assert leftovers(place, cache, tmp_path / "temporary") == [], point
    assert killed > count // 4


def test_what_a_killed_pack_brought_goes_though_another_bundle_comes_next(
    start: Path, deadly: Killer, tmp_path: Path
) -> None:
    place = tmp_path / "place"

    def call(tag: str, **kill: float) -> dict[str, object]:
        return deadly.call("pack", str(place / "a"), f"oci-layout:{place}/b:{tag}", **kill)

    def measured() -> dict[str, object]:
        shutil.copytree(start, place, symlinks=True)
        return call("2")

    for point in points(deadly, measured, 8, seed=3):
        shutil.rmtree(place)
        shutil.copytree(start, place, symlinks=True)
        before = tree(place / "b")
        call("2", **point)
        if "2" in LayoutStore(place / "b").tags():
            continue
        (place / "a" / "guide" / "GUIDE.md").write_text(OLD)
        assert call("1")["ok"]
        assert tree(place / "b") == before, point
