"""A launcher that nothing isolates ends with the process that runs it, also with ``kill -9``."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rra._base import proctree
from rra.evidence import EvidenceStore
from rra.launch import recover_runs
from tests.support.needs import needs
from tests.support.runs import path_without, write_artifact

ROOT = Path(__file__).resolve().parents[2]
RUNNER = (
    "import sys; from pathlib import Path\n"
    "from rra.artifact import load_artifact\n"
    "from rra.launch import run_launcher\n"
    "from rra.sandbox import best_sandbox\n"
    "from tests.support.runs import request\n"
    "artifact = load_artifact(Path(sys.argv[1]))\n"
    "run_launcher(request(artifact, sandbox=best_sandbox('none'), on_line=print))\n"
)
WAITS = "while :; do read -t 5 < <(:) || sleep 5; done"
SCRIPTS = {
    "it ignores what asks it to end": f"trap '' HUP INT TERM; echo begun; {WAITS}\n",
    "it has children": f"(echo begun; {WAITS}) & (sleep 300) & {WAITS}\n",
    "it left its session": f"setsid bash -c '(sleep 301 &); echo begun; {WAITS}' & {WAITS}\n",
    "it cleared its variables": (
        "env -i setsid /bin/sh -c 'while :; do /bin/sleep 1; done' & echo begun; sleep 302\n"
    ),
}


@contextlib.contextmanager
def running(root: Path, path: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the launcher in a process of its own; go on once it says that it has begun."""
    with subprocess.Popen(
        [sys.executable, "-u", "-c", RUNNER, str(root)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}", "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as runner:
        assert runner.stdout is not None
        assert select.select([runner.stdout], [], [], 60)[0]
        assert runner.stdout.readline() == b"begun\n"
        yield runner


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(what, marks=[needs("control-groups")] if "cleared" in what else [])
        for what in SCRIPTS
    ],
)
def test_it_ends_with_rra(tmp_path: Path, what: str) -> None:
    (tmp_path / "bin").mkdir()
    path = path_without(tmp_path / "bin", "strace")
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": SCRIPTS[what]})
    with running(artifact.root, path) as runner:
        children = proctree.descendants(runner.pid)
        assert len(children) > 1
        runner.send_signal(signal.SIGKILL)
    for pid in children:
        assert proctree.wait_gone(pid, 60)
    store = EvidenceStore(artifact.root / "evidence")
    (one,) = recover_runs(artifact, artifact.root / "outputs", store)
    assert one.stored is not None
    assert one.stored.record.sandbox.level == "none"


def test_a_guard_that_was_killed_costs_nothing(tmp_path: Path) -> None:
    script = 'echo begun; read -t 1 < <(sleep 2); echo 1 > "$RRA_OUTPUT_DIR/metrics.json"\n'
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script})
    with running(artifact.root, os.environ["PATH"]) as runner:
        for pid in proctree.descendants(runner.pid):
            if b"guard" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                os.kill(pid, signal.SIGKILL)
                break
        else:
            pytest.fail("nothing guards it")
    assert runner.returncode == 0
    (stored,) = EvidenceStore(artifact.root / "evidence").records()
    assert stored.record.ok
