"""An unpack that is killed at any point leaves its target as it was, or whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from rra import api
from tests.support.bundles import tree
from tests.support.kill_points import deadly, killed_unpacks, make_bundle, scratch


@pytest.mark.parametrize("form", ["oci-layout", "oci-archive"])
@pytest.mark.parametrize(
    "count", [6, pytest.param(126, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_an_unpack_that_is_killed(tmp_path: Path, form: str, count: int) -> None:
    reference = make_bundle(tmp_path, "1.0.0")
    if form == "oci-archive":
        place = f"oci-archive:{tmp_path / 'study.oci.tar'}:1.0.0"
        api.copy(reference, place)
        reference = place
    before = tree(tmp_path)
    with scratch() as folder, deadly(folder) as killer:
        assert killed_unpacks(killer, reference, folder, count, seed=17) > count // 4
    assert tree(tmp_path) == before
