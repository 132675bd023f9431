"""A pull or push that is killed at any point leaves no wrong state, and can be repeated.

The same with the double, which is quick, and with the real docker-registry. Counted are the points
of the slow ones: 250 pulls and 250 pushes here, 252 packs in tests/acceptance/test_pack_killed.py
and 252 unpacks in tests/acceptance/test_unpack_killed.py, which are 1,004 altogether.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from rra.api import copy, push
from rra.bundle.layout import LayoutStore
from rra.bundle.reference import RegistryReference
from rra.bundle.store import BlobStore, Descriptor, read_blob
from rra.registry import open_store
from tests.services.registry import running
from tests.support.http_registry import http_registry
from tests.support.kill_points import (
    LARGEST,
    deadly,
    killed_pulls,
    killed_pushes,
    make_bundle,
    points,
    scratch,
)
from tests.support.needs import needs
from tests.support.statements import REVIEW, put_blobs, statement


@contextlib.contextmanager
def double(_: Path) -> Iterator[str]:
    with http_registry() as registry:
        yield registry.host


@contextlib.contextmanager
def real(folder: Path) -> Iterator[str]:
    with running(folder / "registry") as registry:
        yield registry.host


Registry = Callable[[Path], AbstractContextManager[str]]


def cases(in_process: int, server: int) -> list[object]:
    """Return so many kill points with either registry; which one is quicker depends on the way."""
    needed = needs("docker-registry")
    return [
        pytest.param(double, 6, id="double-few"),
        pytest.param(double, in_process, id="double-many", marks=pytest.mark.slow),
        pytest.param(real, 6, id="docker-registry-few", marks=needed),
        pytest.param(real, server, id="docker-registry-many", marks=[needed, pytest.mark.slow]),
    ]


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


@pytest.mark.parametrize(("registry", "count"), cases(60, 190))
def test_pulls_that_are_killed(bundles: tuple[str, str], registry: Registry, count: int) -> None:
    with scratch() as folder, registry(folder) as host, deadly(folder) as killer:
        reference = f"{host}/lab/study:1"
        push(bundles[0], reference)
        assert killed_pulls(killer, reference, folder, count, seed=5) > count // 4
        assert list((folder / "temporary").iterdir()) == []


@pytest.mark.parametrize(("registry", "count"), cases(190, 60))
def test_pushes_that_are_killed(bundles: tuple[str, str], registry: Registry, count: int) -> None:
    with scratch() as folder, registry(folder) as host, deadly(folder) as killer:
        assert killed_pushes(killer, *bundles, host, count, seed=7) > count // 4
        assert list((folder / "temporary").iterdir()) == []
        whole(open_store(RegistryReference(host, "study-0")), bundles)


def test_pushes_of_a_directory_that_are_killed(bundles: tuple[str, str]) -> None:
    """Nothing of them was ever on a disk, and the old tag stays."""
    artifact = Path(bundles[1].removeprefix("oci-layout:").partition(":")[0]).parent / "tiny"
    with scratch() as folder, http_registry() as server, deadly(folder) as killer:
        killed = killed_pushes(killer, *bundles, server.host, 4, seed=9, directory=str(artifact))
        assert killed > 0
        assert list((folder / "temporary").iterdir()) == []


@pytest.mark.parametrize(
    "count", [6, pytest.param(40, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_copies_into_a_folder_that_is_in_use_are_killed(
    bundles: tuple[str, str], count: int
) -> None:
    """The bundle that is there keeps its tag and its statement, whatever comes beside it."""
    with scratch() as folder, double(folder) as host, deadly(folder) as killer:
        source, place, killed = f"{host}/lab/study:1.1.0", folder / "place", 0
        target = f"oci-layout:{place}:1.1.0"
        copy(bundles[1], source)
        copy(bundles[0], f"oci-layout:{folder}/old")

        def call(**kill: float) -> dict[str, object]:
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(folder / "old", place)
            return killer.call("copy", source, target, **kill)

        for point in points(call, count, seed=11, largest=LARGEST):
            killed += bool(call(**point)["killed"])
            store = LayoutStore(place)
            assert store.get_manifest("1.0.0")[1].digest == bundles[0].partition("@")[2], point
            whole(store, bundles[:1])
            if "1.1.0" in store.tags():
                whole(store, bundles)
            copy(source, target)
            assert LayoutStore(place).tags() == ["1.0.0", "1.1.0"]
            whole(LayoutStore(place), bundles)
        assert killed > count // 4
