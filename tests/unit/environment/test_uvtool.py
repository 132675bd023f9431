"""Reading what uv says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rra.environment.uvtool import (
    build_reason,
    condense,
    environment_for_tools,
    find_uv,
    is_network_failure,
    run_uv,
)

if TYPE_CHECKING:
    import pytest

CONFLICT = """\
  × No solution found when resolving dependencies:
  ╰─▶ Because pandas==2.1.0 depends on numpy>=1.23.2 and you require
      numpy==1.20, we can conclude that your requirements and pandas==2.1.0
      are incompatible.
      And because you require pandas==2.1.0, we can conclude that your
      requirements are unsatisfiable.

hint: Something about uv's own options.
"""

UNREACHABLE = """\
error: Failed to fetch: `https://me:s3cret@index.example.org/simple/numpy/`
  Caused by: error sending request for url
"""

BUILD = """\
Building wheel from source distribution...
Traceback (most recent call last):
ModuleNotFoundError: No module named 'numpy'
error: Failed to build `/tmp/x/pandas-0.11.0.tar.gz`
  Caused by: The build backend returned an error
"""


def test_a_conflict_is_one_sentence() -> None:
    assert condense(CONFLICT) == (
        "Because pandas==2.1.0 depends on numpy>=1.23.2 and you require numpy==1.20, we can "
        "conclude that your requirements and pandas==2.1.0 are incompatible"
    )
    assert not is_network_failure(CONFLICT)


def test_credentials_are_left_out() -> None:
    assert condense(UNREACHABLE) == (
        "Failed to fetch: `https://index.example.org/simple/numpy/` Caused by: error sending "
        "request for url"
    )
    assert is_network_failure(UNREACHABLE)


def test_the_reason_of_a_failed_build() -> None:
    assert build_reason(BUILD) == "ModuleNotFoundError: No module named 'numpy'"


def test_long_text_keeps_both_ends() -> None:
    text = condense("start " + "x" * 5000 + " end")
    assert len(text) < 1000
    assert text.startswith("start")
    assert text.endswith("end")
    assert condense("") == "uv gave no reason"


def test_what_would_change_a_resolution_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_EXCLUDE_NEWER", "2001-01-01")
    monkeypatch.setenv("VIRTUAL_ENV", "/somewhere")
    monkeypatch.setenv("UV_INDEX", "https://index.example.org/simple")
    passed = environment_for_tools({"NO_COLOR": "1"})
    assert "UV_EXCLUDE_NEWER" not in passed
    assert "VIRTUAL_ENV" not in passed
    assert passed["UV_INDEX"] == "https://index.example.org/simple"
    assert passed["NO_COLOR"] == "1"


def test_uv_runs() -> None:
    assert find_uv().is_file()
    assert run_uv(["--version"]).stdout.startswith("uv ")
