"""The runs that a launcher stands for, and how each is called."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.errors import UsageError
from rra.launch.instances import REDUCED, SMOKE, instance_name, instances_of, parse_seeds
from rra.model import Launcher

ALLOWED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=,-]{0,127}")


def launcher(**more: Any) -> Launcher:
    return Launcher.model_validate({"entry": "launchers/a.sh", "environment": "cpu", **more})


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("0:5", (0, 1, 2, 3, 4)),
        ("1,2,7", (1, 2, 7)),
        ("-2:1, 9", (-2, -1, 0, 9)),
        ("4", (4,)),
        ("declared", "declared"),
    ],
)
def test_seeds_are_read(text: str, seeds: object) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize(
    "text", ["", "a", "1.5", "5:0", "3:3", "1,1", "0:3,2", "0:99999999", "1;2"]
)
def test_what_is_no_list_of_seeds_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--seeds") as caught:
        parse_seeds(text)
    assert "0:5" in caught.value.hint


def test_the_most_seeds_are_named() -> None:
    assert len(parse_seeds("0:100000")) == 100_000
    for text, count in (("0:1000000000", "1,000,000,000"), ("0:100000,-1", "100,001")):
        with pytest.raises(UsageError, match=f"these are {count} seeds, and 100,000 are the most"):
            parse_seeds(text)


def test_a_launcher_has_one_instance_for_each_combination() -> None:
    both = launcher(
        seeds={"values": [7, 8]},
        matrix={"depth": [3, 5], "method": ["lda"]},
        parameters={"depth": {"type": "integer"}, "method": {}},
    )
    names = [one.name for one in instances_of(both, seeds=(0, 1), matrix=True)]
    assert names == [
        "depth=3,method=lda,seed=0",
        "depth=3,method=lda,seed=1",
        "depth=5,method=lda,seed=0",
        "depth=5,method=lda,seed=1",
    ]
    assert [one.name for one in instances_of(both)] == ["default"]
    assert [one.name for one in instances_of(both, seeds="declared")] == ["seed=7", "seed=8"]
    fixed = instances_of(both, matrix=True, given={"depth": 5})
    assert [(one.name, dict(one.axes)) for one in fixed] == [
        ("depth=5,method=lda", {"method": "lda"})
    ]
    assert [one.name for one in instances_of(launcher(), seeds=(0, 1))] == ["default"]


def test_reduced_runs_are_called_so() -> None:
    assert [one.name for one in instances_of(launcher(), mode=REDUCED)] == ["reduced"]
    assert [one.name for one in instances_of(launcher(), mode=SMOKE)] == ["smoke"]
    seeded = launcher(seeds={})
    names = [one.name for one in instances_of(seeded, seeds=(0, 1), mode=REDUCED)]
    assert names == ["reduced,seed=0", "reduced,seed=1"]


def test_b29_what_a_name_cannot_hold_is_replaced_and_kept_apart() -> None:
    one = instance_name({"eq": "1 + 2 = 3"})
    other = instance_name({"eq": "1 - 2 = 3"})
    assert one.startswith("eq=1-2-3-")
    assert one != other
    assert instance_name({"x": "$(touch p)"}) != instance_name({"x": "touch-p"})
    assert instance_name({"_private": 1}).startswith("private=1-")


SCALARS = st.one_of(
    st.text(max_size=40).filter(lambda text: text.isprintable() or text == ""),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.booleans(),
)


@given(st.dictionaries(st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_-]{0,20}\Z"), SCALARS, min_size=1))
def test_a_name_is_one_that_a_record_may_hold(values: dict[str, Any]) -> None:
    assert ALLOWED.fullmatch(instance_name(values))
    assert ALLOWED.fullmatch(instance_name(values, ("reduced",)))


@given(st.lists(st.text(max_size=20), min_size=2, max_size=2, unique=True))
def test_two_values_have_two_names(texts: list[str]) -> None:
    assert instance_name({"a": texts[0]}) != instance_name({"a": texts[1]})
