"""What a lock that cannot be made says: the smallest conflict, and the nearest that works."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.environment import lock_environment, search
from rra.environment.platforms import find_platforms
from rra.environment.resolve import Resolution, is_on_no_day, resolve
from rra.environment.search import smallest_conflict
from rra.errors import LockError, NoSolutionError
from rra.model import Environment
from tests.support.needs import needs
from tests.support.pythons import OTHERS, find_python
from tests.unit.environment.conftest import PYTHON
from tests.unit.environment.toy_index import ToyIndex, make_sdist

LATER = sorted(
    (one for one in OTHERS if int(one[2:]) > int(PYTHON[2:]) and find_python(one)),
    key=lambda one: int(one[2:]),
)


def refusal(root: Path, *requirements: str, as_of: str | None) -> NoSolutionError:
    env = Environment(kind="pylock", python=PYTHON, platforms=["linux-x86_64"])
    with pytest.raises(NoSolutionError) as caught:
        lock_environment(root, "cpu", env, requirements, as_of=as_of)
    return caught.value


def test_the_smallest_conflicting_set_and_that_nothing_has_it(index: ToyIndex, root: Path) -> None:
    for name in ("gamma", "delta", "eps"):
        index.add_wheel(name, "1.0", "2020-01-01")
    error = refusal(root, "gamma", "alpha==2.0", "delta", "beta==1.0", "eps", as_of="2024-01-01")
    found, _, why = error.message.partition(": ")
    assert found == "alpha==2.0, beta==1.0 cannot be had together"
    assert why.startswith(f"no versions fit together for Python {PYTHON} as of 2024-01-01: ")
    assert error.hint == (
        "loosen one of these requirements: neither another Python that is installed here has them "
        f"as of 2024-01-01, nor Python {PYTHON} on another day"
    )
    assert (error.exit_code, error.slug) == (3, "environment/no-solution")
    assert not (root / "environment").exists() or not any((root / "environment").iterdir())


def test_the_first_day_that_has_a_version_is_found(index: ToyIndex, root: Path) -> None:
    error = refusal(root, "beta", "alpha==2.0", as_of="2021-05-01")
    assert error.message.startswith("alpha==2.0 cannot be had: ")
    # alpha 2.0 was put there on 2023-01-01, at noon.
    assert 'as_of: "2023-01-01" (about the nearest day' in error.hint


def test_a_day_before_a_release_that_does_not_build_is_found(index: ToyIndex, root: Path) -> None:
    """As autograd 1.2 does: the newest release of the day has no metadata without a build."""
    index.add_wheel("gamma", "1.0", "2020-01-01")
    broken = make_sdist("gamma", "1.1", fails=True, static=False)
    index.add("gamma", "gamma-1.1.tar.gz", broken, "2021-06-01")
    error = refusal(root, "beta", "gamma", as_of="2022-01-01")
    assert error.message.startswith("gamma cannot be had: gamma 1.1 has no wheel for Python")
    assert "building one failed: RuntimeError: a compiler is missing" in error.message
    assert 'as_of: "2021-05-31" (about the nearest day' in error.hint


@pytest.mark.parametrize("wanted", ["alpha==99.9", "alpha>50", "alpha~=99.9 ; python_version>'3'"])
def test_a_version_that_no_day_has_is_looked_for_on_no_other_day(
    index: ToyIndex, root: Path, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    del index
    tried: list[Resolution] = []

    def counted(requirements: Sequence[str], target: Resolution) -> object:
        tried.append(target)
        return resolve(requirements, target)

    monkeypatch.setattr(search, "resolve", counted)
    error = refusal(root, "beta", wanted, as_of="2024-01-01")
    assert error.message.startswith(f"{wanted} cannot be had: ")
    assert error.hint == (
        "loosen that requirement: your index lists no such version, for any Python and on any day"
    )
    assert {(one.python, one.as_of) for one in tried} == {(PYTHON, "2024-01-01")}
    assert len(tried) <= 3


@needs("later-python")
@pytest.mark.parametrize("wanted", ["gamma==1.0", "gamma>0.5"])
def test_a_version_for_another_python_only_is_not_said_to_be_nowhere(
    index: ToyIndex, root: Path, wanted: str
) -> None:
    index.add_wheel("gamma", "1.0", "2020-01-01", python=f">={LATER[0]}")
    target = Resolution(PYTHON, f"{PYTHON}.1", None, find_platforms(["linux-x86_64"]), None)
    assert not is_on_no_day(wanted, target)
    assert is_on_no_day("gamma==2.0", target)


@needs("later-python")
def test_the_nearest_python_that_has_it_is_named(index: ToyIndex, root: Path) -> None:
    index.add_wheel("gamma", "1.0", "2020-01-01", python=f">={LATER[0]}")
    error = refusal(root, "beta", "gamma", as_of="2024-01-01")
    assert error.message.startswith("gamma cannot be had: ")
    assert error.hint == f'set python: "{LATER[0]}" in rra.yaml, or loosen that requirement'


@needs("other-python")
def test_a_python_that_builds_what_ours_does_not_is_named(index: ToyIndex, root: Path) -> None:
    before = f"import sys\n    assert sys.version_info[:2] != ({PYTHON.replace('.', ', ')})"
    sdist = make_sdist("gamma", "1.0", before=before)
    index.add("gamma", "gamma-1.0.tar.gz", sdist, "2020-01-01")
    env = Environment(kind="pylock", python=PYTHON, platforms=["linux-x86_64"])
    steps: list[str] = []
    with pytest.raises(LockError, match="building one failed: AssertionError") as caught:
        lock_environment(root, "cpu", env, ["gamma"], as_of="2024-01-01", progress=steps.append)
    assert caught.value.hint.startswith("it builds with Python 3.")
    assert f"builds with Python {PYTHON}" not in caught.value.hint
    assert "that failed; trying whether another Python builds gamma" in steps


@given(
    count=st.integers(1, 9),
    conflicts=st.lists(st.sets(st.integers(0, 8), min_size=1, max_size=4), min_size=1, max_size=3),
)
def test_any_conflict_is_found_and_is_smallest(count: int, conflicts: list[set[int]]) -> None:
    names = [f"p{number}" for number in range(count)]
    wrong = [frozenset(f"p{n % count}" for n in conflict) for conflict in conflicts]

    def resolves(some: Sequence[str]) -> bool:
        return not any(conflict <= set(some) for conflict in wrong)

    found = smallest_conflict(names, resolves)
    assert not resolves(found)
    assert list(found) == [name for name in names if name in found]
    assert all(resolves(rest) for rest in itertools.combinations(found, len(found) - 1))
