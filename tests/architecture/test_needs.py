"""A missing tool skips a test with what to install, and fails it where tools are required."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.needs import NEEDS, available, needs, require


@pytest.fixture
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("RRA_REQUIRE_TOOLS", raising=False)
    available.cache_clear()
    yield
    available.cache_clear()


@pytest.mark.parametrize("tool", ["bwrap", "strace", "git"])
def test_a_missing_tool_skips_and_says_what_to_install(empty_path: None, tool: str) -> None:
    with pytest.raises(pytest.skip.Exception, match=f"needs {tool}: apt-get install"):
        require(tool)


def test_where_tools_are_required_a_missing_one_fails(
    empty_path: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RRA_REQUIRE_TOOLS", "1")
    with pytest.raises(pytest.fail.Exception, match="RRA_REQUIRE_TOOLS=1 forbids to skip"):
        require("bwrap")


def test_a_tool_that_is_found_but_does_not_work_counts_as_missing(
    empty_path: None, tmp_path: Path
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/false\n")
    broken.chmod(0o755)
    assert not available("bwrap")


def test_only_listed_tools_can_be_needed() -> None:
    with pytest.raises(KeyError, match="is not in"):
        needs("a-tool-nobody-knows")
    assert all(need.remedy for need in NEEDS.values())
