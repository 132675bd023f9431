"""A run whose own process is killed leaves nothing half-written, and the next one tidies up."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rra._base import proctree
from rra._base.files import STAGING_PREFIX
from rra.evidence import EvidenceStore, verify_record
from rra.launch import run_launcher
from rra.sandbox import best_sandbox
from tests.support.needs import needs
from tests.support.runs import request, write_artifact

ROOT = Path(__file__).resolve().parents[2]
BOTH = [pytest.param("bwrap", marks=needs("bwrap")), "none"]
#: Says that it has begun and goes on as long as whoever started it lives.
SCRIPT = (
    'echo old > "$RRA_OUTPUT_DIR/metrics.json"; echo begun\n'
    "while [ -d /proc/$PPID ]; do read -t 0.05 < <(:); done\n"
)
RUNNER = (
    "import sys; from pathlib import Path\n"
    "from rra.artifact import load_artifact\n"
    "from rra.launch import run_launcher\n"
    "from rra.sandbox import best_sandbox\n"
    "from tests.support.runs import request\n"
    "artifact = load_artifact(Path(sys.argv[1]))\n"
    "run_launcher(request(artifact, sandbox=best_sandbox(sys.argv[2]), on_line=print))\n"
)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("sandbox", BOTH)
@pytest.mark.clause("execution-record/atomic")
def test_nothing_is_half_written(tmp_path: Path, sandbox: str, number: signal.Signals) -> None:
    artifact = write_artifact(
        tmp_path / "a", {"launchers/main.sh": 'echo 1 > "$RRA_OUTPUT_DIR/metrics.json"\n'}
    )
    first = run_launcher(request(artifact, sandbox=best_sandbox(sandbox)))
    (artifact.root / "launchers" / "main.sh").write_text(SCRIPT)
    kill_when_begun(artifact.root, sandbox, number)
    stored, *cancelled = EvidenceStore(artifact.root / "evidence").records()
    assert stored.digest == first.record_digest
    said = [] if number == signal.SIGKILL else ["cancelled"]
    assert [one.record.termination for one in cancelled] == said
    assert [verify_record(one) for one in (stored, *cancelled)] == [[]] * (1 + len(said))
    assert (artifact.root / "outputs" / "main" / "metrics.json").read_text() == "1\n"
    leftovers = list(artifact.root.rglob(f"{STAGING_PREFIX}*"))
    assert len(leftovers) == (1 if number == signal.SIGKILL else 0)
    (artifact.root / "launchers" / "main.sh").write_text("true\n")
    run_launcher(request(artifact, sandbox=best_sandbox(sandbox)))
    assert list(artifact.root.rglob(f"{STAGING_PREFIX}*")) == []


def kill_when_begun(root: Path, sandbox: str, number: signal.Signals) -> None:
    """Run the launcher in a process of its own, and end that once the launcher has begun."""
    runner = subprocess.Popen(
        [sys.executable, "-u", "-c", RUNNER, str(root), sandbox],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert runner.stdout is not None
    with runner:
        assert select.select([runner.stdout], [], [], 60)[0]
        assert runner.stdout.readline() == b"begun\n"
        children = proctree.descendants(runner.pid)
        runner.send_signal(number)
    for pid in children:
        assert proctree.wait_gone(pid, 60)
