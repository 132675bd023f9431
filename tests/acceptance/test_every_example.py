"""What holds for every shipped example, a new one included: no finding, and provable repairs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rra.artifact import load_artifact
from tests.acceptance.command import rra
from tests.acceptance.example import EXAMPLES, Example, git, tree_of
from tests.support.needs import needs

NAMES = sorted(path.parents[1].name for path in EXAMPLES.glob("*/artifact/rra.yaml"))
SHIPPED = ["digits-forest", "james-stein", "least-angle-regression", "wine-discriminant"]


@pytest.fixture(params=NAMES)
def example(request: pytest.FixtureRequest) -> Example:
    return Example(request.param)


def test_no_example_is_passed_over() -> None:
    assert NAMES == SHIPPED


def test_the_shipped_artifact_has_no_finding(example: Example) -> None:
    answer = rra("lint", example.artifact, "--profile", "reproducible", "--json").expect(0)

    assert answer.result["findings"] == []


def test_for_the_archive_it_lacks_nothing_but_interpreter_and_wheels(example: Example) -> None:
    """They are some hundred megabytes; `rra lock --keep --runtime` brings them."""
    answer = rra("lint", example.artifact, "--profile", "archival", "--json").expect(1)

    assert {finding["rule"] for finding in answer.result["findings"]} == {"RRA203"}


@needs("git")
def test_the_manifest_names_the_tree_of_upstream(example: Example, tmp_path: Path) -> None:
    assert example.named_tree() == tree_of(example.folder / "upstream", tmp_path / "upstream")


@needs("git")
def test_upstream_with_the_patches_in_order_is_the_code(example: Example, tmp_path: Path) -> None:
    made = example.repaired(tmp_path / "made")

    assert tree_of(made, tmp_path / "tree") == tree_of(example.artifact / "code", tmp_path / "code")


@needs("git")
def test_the_code_without_the_patches_is_upstream(example: Example, tmp_path: Path) -> None:
    place = Path(shutil.copytree(example.artifact / "code", tmp_path / "place"))

    for patch in reversed(example.patches):
        git("apply", "--reverse", patch, cwd=place)

    assert tree_of(place, tmp_path / "tree") == example.named_tree()


def test_every_patch_is_listed_and_every_listed_patch_is_there(example: Example) -> None:
    listed = [repair.patch for _, repair in load_artifact(example.artifact).repairs]

    assert listed == [f"guide/repairs/{patch.name}" for patch in example.patches]
    assert listed
