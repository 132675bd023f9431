from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rra._base import places
from rra.errors import StorageError

MAKERS = [("RRA_CACHE", places.make_cache), ("RRA_STATE", places.make_state)]


@pytest.mark.parametrize(("variable", "make"), MAKERS)
def test_a_place_is_made_where_its_variable_says(
    variable: str, make: Callable[[], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "deep" / "er"))
    assert make() == tmp_path / "deep" / "er"
    assert (tmp_path / "deep" / "er").is_dir()


@pytest.mark.parametrize("below", ["", "/x", "/x/y"])
@pytest.mark.parametrize(("variable", "make"), MAKERS)
def test_a_place_that_cannot_be_made_is_named_with_its_variable(
    variable: str,
    make: Callable[[], Path],
    below: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "afile").write_text("")
    place = f"{tmp_path}/afile{below}"
    monkeypatch.setenv(variable, place)
    with pytest.raises(StorageError) as caught:
        make()
    assert place in caught.value.message
    assert variable in caught.value.hint
    assert caught.value.exit_code == 3


def test_proc_is_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RRA_STATE", "/proc/x")
    with pytest.raises(StorageError, match="/proc/x"):
        places.make_state()
