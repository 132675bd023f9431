from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from rra._base.collector import settled


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_what_is_there_is_out_of_the_way_until_the_block_ends() -> None:
    @settled()
    def fail() -> None:
        assert gc.get_freeze_count() > 0
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 - it is our own
        fail()
    assert gc.get_freeze_count() == 0


def test_what_a_caller_has_frozen_stays_so() -> None:
    gc.freeze()
    with settled():
        pass
    assert gc.get_freeze_count() > 0
