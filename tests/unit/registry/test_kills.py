"""A pull or push that is killed at any point leaves no wrong state, and can be repeated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rra.api import push
from tests.support.http_registry import HttpRegistry
from tests.support.kill_points import killed_pulls, killed_pushes, make_bundle
from tests.support.killing import Killer, killer


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two bundles of one artifact."""
    folder = tmp_path_factory.mktemp("bundles")
    return make_bundle(folder / "old", "1.0.0"), make_bundle(folder / "new", "1.1.0")


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
    registry: HttpRegistry, bundles: tuple[str, str], deadly: Killer, tmp_path: Path, count: int
) -> None:
    assert killed_pushes(deadly, *bundles, registry.host, count, seed=7) > count // 4
    assert list((tmp_path / "temporary").iterdir()) == []
