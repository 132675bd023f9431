"""Processes that belong together, found by a line of their environment."""

from __future__ import annotations

import subprocess
import sys

from rra._base import proctree

HOLDS = "import sys; held = bytearray(64 << 20); print('held', flush=True); sys.stdin.read()"


def test_memory_of_marked_processes_is_told_by_the_value_of_a_variable() -> None:
    def holder(place: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", HOLDS],
            env={"MARK": "of-this-test", "PLACE": place},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    with holder("one") as first, holder("one") as second, holder("two") as third:
        for each in (first, second, third):
            assert each.stdout is not None
            assert each.stdout.readline() == "held\n"
        found = proctree.resident("MARK=of-this-test", "PLACE")
        assert proctree.resident("MARK=of-this", "PLACE") == {}
    assert found.keys() == {"one", "two"}
    assert found["one"] > 128 << 20
    assert 64 << 20 < found["two"] < 128 << 20
