"""Platforms: markers and wheel tags."""

from __future__ import annotations

import pytest
from packaging.markers import Marker
from packaging.tags import Tag, parse_tag

from rra.environment.platforms import PLATFORMS, find_platforms, parse_minor
from rra.errors import UsageError


@pytest.mark.parametrize(
    ("platform", "python", "tag", "fits"),
    [
        ("linux-x86_64", "3.11", "cp311-cp311-manylinux_2_17_x86_64", True),
        ("linux-x86_64", "3.11", "cp311-cp311-manylinux2014_x86_64", True),
        ("linux-x86_64", "3.11", "cp311-cp311-manylinux_2_28_x86_64", True),
        ("linux-x86_64", "3.11", "cp38-abi3-manylinux1_x86_64", True),
        ("linux-x86_64", "3.11", "py3-none-any", True),
        ("linux-x86_64", "3.6", "cp36-cp36m-manylinux1_x86_64", True),
        ("linux-x86_64", "3.11", "cp311-cp311-manylinux_2_34_x86_64", False),
        ("linux-x86_64", "3.11", "cp311-cp311-musllinux_1_1_x86_64", False),
        ("linux-x86_64", "3.11", "cp312-cp312-manylinux_2_17_x86_64", False),
        ("linux-x86_64", "3.11", "cp311-cp311-manylinux_2_17_aarch64", False),
        ("linux-aarch64", "3.11", "cp311-cp311-manylinux_2_17_aarch64", True),
        ("macos-arm64", "3.11", "cp311-cp311-macosx_11_0_arm64", True),
        ("macos-x86_64", "3.11", "cp311-cp311-macosx_10_9_x86_64", True),
        ("windows-x86_64", "3.11", "cp311-cp311-win_amd64", True),
        ("windows-x86_64", "3.11", "py2-none-any", False),
    ],
)
def test_wheels_that_fit(platform: str, python: str, tag: str, *, fits: bool) -> None:
    (wanted,) = parse_tag(tag)
    assert isinstance(wanted, Tag)
    assert (wanted in PLATFORMS[platform].tags(python)) is fits


def test_markers_hold_on_their_platform_alone() -> None:
    for platform in PLATFORMS.values():
        holding = [
            other.name
            for other in PLATFORMS.values()
            if Marker(platform.marker).evaluate(other.environment("3.11.0"))
        ]
        assert holding == [platform.name]


def test_versions_of_python() -> None:
    assert parse_minor("3.11") == (3, 11)
    assert parse_minor("3.11.7") == (3, 11)
    for text in ("3", "", "3.11rc1", ">=3.8"):
        with pytest.raises(UsageError, match="is not a Python version"):
            parse_minor(text)


def test_declared_platforms() -> None:
    assert [p.name for p in find_platforms(["macos-arm64"])] == ["macos-arm64"]
    assert len(find_platforms(None)) == 1
