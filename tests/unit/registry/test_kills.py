"""A pull or push that is killed at any point leaves no wrong state, and can be repeated."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from rra.api import copy, push
from rra.bundle.layout import LayoutStore
from rra.bundle.store import BlobStore, Descriptor, read_blob
from rra.registry import RegistryStore
from tests.support.http_registry import HttpRegistry
from tests.support.kill_points import killed_pulls, killed_pushes, make_bundle, points
from tests.support.killing import Killer, killer
from tests.support.statements import REVIEW, put_blobs, statement

Open = Callable[..., RegistryStore]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two bundles of one artifact, each with a statement on it that has a statement on it."""
    folder = tmp_path_factory.mktemp("bundles")
    made = make_bundle(folder / "old", "1.0.0"), make_bundle(folder / "new", "1.1.0")
    for name, reference in zip(("old", "new"), made, strict=True):
        store = LayoutStore(folder / name / "layout")
        _, subject = store.get_manifest(reference.partition("@")[2])
        for text in ("fine", "signed"):
            put_blobs(store, text)
            subject = store.put_referrer(statement(subject, text), subject)
    return made


@pytest.fixture
def deadly(tmp_path: Path) -> Iterator[Killer]:
    (tmp_path / "temporary").mkdir()
    with killer(RRA_CACHE=str(tmp_path / "cache"), TMPDIR=str(tmp_path / "temporary")) as parent:
        yield parent


@pytest.mark.parametrize(
    "count", [6, pytest.param(120, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_pulls_that_are_killed(
    registry: HttpRegistry, bundles: tuple[str, str], deadly: Killer, tmp_path: Path, count: int
) -> None:
    reference = f"{registry.host}/lab/study:1"
    push(bundles[0], reference)
    assert killed_pulls(deadly, reference, tmp_path, count, seed=5) > count // 4


@pytest.mark.parametrize(
    "count", [4, pytest.param(120, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_pushes_that_are_killed(
    registry: HttpRegistry,
    opened: Open,
    bundles: tuple[str, str],
    deadly: Killer,
    tmp_path: Path,
    count: int,
) -> None:
    assert killed_pushes(deadly, *bundles, registry.host, count, seed=7) > count // 4
    assert list((tmp_path / "temporary").iterdir()) == []
    whole(opened(registry, "study-0"), bundles)


def whole(store: BlobStore, bundles: Sequence[str]) -> None:
    """See that statements are there, each with all of its blobs."""
    for reference in bundles:
        digest = reference.partition("@")[2]
        for text in (b"fine", b"signed"):
            (one,) = store.referrers(digest)
            blob = Descriptor(REVIEW, "sha256:" + hashlib.sha256(text).hexdigest(), len(text))
            assert read_blob(store, blob, 100) == text
            assert json.loads(store.get_manifest(one.digest)[0])["subject"]["digest"] == digest
            digest = one.digest


@pytest.mark.parametrize(
    "count", [6, pytest.param(120, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_copies_into_a_folder_that_is_in_use_are_killed(
    registry: HttpRegistry, bundles: tuple[str, str], deadly: Killer, tmp_path: Path, count: int
) -> None:
    """The bundle that is there keeps its tag and its statement, whatever comes beside it."""
    copy(bundles[1], f"{registry.host}/lab/study:1.1.0")
    copy(bundles[0], f"oci-layout:{tmp_path}/old")
    place, killed = tmp_path / "place", 0

    def call(**kill: float) -> dict[str, object]:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(tmp_path / "old", place)
        source, target = f"{registry.host}/lab/study:1.1.0", f"oci-layout:{place}:1.1.0"
        return deadly.call("copy", source, target, **kill)

    for point in points(deadly, call, count, seed=11):
        killed += bool(call(**point)["killed"])
        store = LayoutStore(place)
        assert store.get_manifest("1.0.0")[1].digest == bundles[0].partition("@")[2], point
        whole(store, bundles[:1])
        if "1.1.0" in store.tags():
            whole(store, bundles)
        copy(f"{registry.host}/lab/study:1.1.0", f"oci-layout:{place}:1.1.0")
        assert LayoutStore(place).tags() == ["1.0.0", "1.1.0"]
        whole(LayoutStore(place), bundles)
    assert killed > count // 4
