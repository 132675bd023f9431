"""Versions of another era are never taken without a word."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from rra import api
from rra.artifact import Artifact
from tests.unit.environment.toy_index import ToyIndex


@pytest.fixture
def slid(index: ToyIndex) -> ToyIndex:
    """Offer tool, whose release of the day has metadata that no resolver reads."""
    index.add_wheel("tool", "1.0", "2013-04-01")
    index.add_wheel("tool", "2.0", "2019-03-14", requires=["beta>=2011k"])
    index.add_wheel("steady", "1.0", "2012-01-01")
    index.add_wheel("user", "1.0", "2019-03-01", requires=["tool", "steady"])
    return index


def lock(root: Path, artifact: Callable[..., Artifact], *requirements: str) -> tuple[str, ...]:
    artifact(f'as_of: "2019-06-01", requirements: [{", ".join(requirements)}]')
    return tuple(note for note in api.lock(root).notes if " is of " in note)


@pytest.mark.parametrize("asked", ["tool", "user"])
def test_metadata_that_nobody_reads_is_a_finding(
    slid: ToyIndex, root: Path, artifact: Callable[..., Artifact], asked: str
) -> None:
    (note,) = lock(root, artifact, asked)
    assert note.startswith("cpu: tool 1.0 is of 2013-04-01, though 2.0 of 2019-03-14 was there: ")
    assert "tool==2.0 has invalid metadata" in note
    why = tomllib.loads((root / "environment/cpu/pylock.toml").read_text())["tool"]["rra"]["why"]
    assert why["tool"]["overtaken-by"] == "2.0 of 2019-03-14"
    assert "overtaken-by" not in why.get("steady", {})
    readme = (root / "environment/cpu/README.md").read_text()
    assert "2.0 of 2019-03-14" in readme
    (one,) = api.env_explain("tool", root).environments
    assert one.overtaken_by == "2.0 of 2019-03-14"


@pytest.mark.parametrize("asked", ["tool==1.0", "'tool<2'", "steady"])
def test_what_the_author_asked_for_and_what_is_the_newest_is_none(
    slid: ToyIndex, root: Path, artifact: Callable[..., Artifact], asked: str
) -> None:
    assert lock(root, artifact, asked) == ()


def test_a_pre_release_overtakes_nothing(
    slid: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    slid.add_wheel("steady", "2.0rc1", "2019-01-01")
    assert lock(root, artifact, "steady") == ()


def test_what_another_package_keeps_back_is_named(
    slid: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    slid.add_wheel("keeper", "1.0", "2019-01-01", requires=["tool<2"])
    (note,) = lock(root, artifact, "keeper")
    assert "it is kept back: " in note
    assert "keeper" in note
