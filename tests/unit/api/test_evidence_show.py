"""What ``rra evidence show`` says of a run that was held back and cut short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rra.launch import run_launcher
from rra.sandbox import best_sandbox
from tests.acceptance.command import rra
from tests.support.needs import needs
from tests.support.runs import request, write_artifact
from tests.unit.test_cli_schemas import call

SCRIPT = """\
ln -s /etc/passwd "$RRA_OUTPUT_DIR/abs"
(echo 1 > /rra-no-such-folder/x) || true
(echo 1 > "$RRA_DATA_DIR/x.csv") || true
printf '%01000d\\n' 0
setsid sleep 60 &
sleep 60
"""


@pytest.fixture(scope="module", params=["none", pytest.param("bwrap", marks=needs("bwrap"))])
def shown(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    level: str = request.param
    root = tmp_path_factory.mktemp(level) / "a"
    run(root, level)
    return level, root


def run(root: Path, level: str) -> None:
    artifact = write_artifact(root, {"launchers/main.sh": SCRIPT, "data/x.csv": "0"})
    box = best_sandbox(level)
    done = run_launcher(request(artifact, sandbox=box, wall_seconds=1.5, stream_bytes=100))
    assert done.record.termination == "timeout"


@needs("strace")
def test_a_write_that_was_refused_is_said_to_be_tried(shown: tuple[str, Path]) -> None:
    level, root = shown
    result = call("evidence", "show", "main", str(root), cwd=root)["result"]
    said = rra("evidence", "show", "main", str(root)).expect(0).out
    place = "data/x.csv"
    assert "tried        /rra-no-such-folder/x (to write outside; refused)\n" in said
    refused = ["/rra-no-such-folder/x", *([place] if level == "bwrap" else [])]
    assert result["refused_writes"] == refused
    assert sorted(result["document"]["other_writes"]) == ["/rra-no-such-folder/x", place]
    words = "(to write outside; refused)" if level == "bwrap" else "(outside)"
    assert re.search(rf"^(\w+) +{place} {re.escape(words)}$", said, re.MULTILINE)
    assert [line.split()[1] for line in said.splitlines() if line.startswith("wrote ")] == (
        [place] if level == "none" else []
    )


def test_limits_and_what_was_not_kept_are_said(shown: tuple[str, Path]) -> None:
    level, root = shown
    result = call("evidence", "show", "main", str(root), cwd=root)["result"]
    said = rra("evidence", "show", "main", str(root)).expect(0).out
    assert "\n  reached    its limit: wall\n" in said
    assert "stdout.txt (the first 100 B of 1001 bytes; the rest was not kept)\n" in said
    why = "a link to /etc/passwd, outside what is kept"
    assert f"\nleft out     abs ({why})\n" in said
    assert result["left_out"] == [{"path": "abs", "why": why}]
    if level == "none":
        assert result["left_behind"] >= 1
        assert f"left running {result['left_behind']}, which were ended\n" in said
