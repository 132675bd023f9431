"""A run whose own process is killed leaves nothing half-written, and the next one tidies up."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rra._base import proctree
from rra._base.files import STAGING_PREFIX
from rra.evidence import EvidenceStore, verify_record
from rra.launch import run_launcher
from rra.sandbox import best_sandbox
from tests.support.killing import killer
from tests.support.needs import needs
from tests.support.runs import path_without, request, write_artifact

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
    "run_launcher(request(artifact, seed=7, sandbox=best_sandbox(sys.argv[2]), on_line=print))\n"
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
    ends = {"cancelled"} if said else {"infrastructure"}
    (ended,) = (
        one
        for one in EvidenceStore(artifact.root / "evidence").records()
        if one.record.termination in ends
    )
    assert verify_record(ended) == []
    assert (ended.outputs / "metrics.json").read_text() == "old\n"
    assert (ended.outputs / "stdout.txt").read_text() == "begun\n"
    assert ended.record.seed.declared == 7
    assert (ended.record.exit_code == -255) == (not said)


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


SEEDED = {"seeds": {}, "outputs": ["x"]}
CHAIN = {"first": SEEDED, "second": {"needs": ["first"], **SEEDED}}
SCRIPTS = {
    "launchers/first.sh": 'echo "$RRA_SEED" > "$RRA_OUTPUT_DIR/x"\n',
    "launchers/second.sh": 'sed s/^/2/ "$RRA_OUTPUTS_ROOT/first/x" > "$RRA_OUTPUT_DIR/x"\n',
}
OUTCOME = {
    "type": "number",
    "reported": "23.5",
    "selector": {
        "launcher": "second",
        "file": "x",
        "regex": "(?P<value>[0-9]+)",
        "runs": {"seeds": [3, 4]},
        "aggregate": "mean",
    },
}
MADE = {
    "first/seed=3/x": "3\n",
    "first/seed=4/x": "4\n",
    "second/seed=3/x": "23\n",
    "second/seed=4/x": "24\n",
}
#: How many moments of a run are tried, evenly spread over what it does to files.
MOMENTS = 8


def outputs(root: Path) -> dict[str, str]:
    """Return what the launchers themselves left."""
    return {str(path.relative_to(root)): path.read_text() for path in root.glob("*/*/x")}


def test_a_plan_that_is_killed_is_resumed_to_the_same_outputs(tmp_path: Path) -> None:
    experiments = {"table": {"outcomes": {"mean": OUTCOME}}}
    whole = write_artifact(tmp_path / "a", SCRIPTS, launchers=CHAIN, experiments=experiments).root
    untouched = shutil.copytree(whole, tmp_path / "untouched")
    (tmp_path / "bin").mkdir()
    jobs = 2
    asked: dict[str, Any] = {"sandbox": "none", "seeds": "3,4", "jobs": jobs}
    with killer(PATH=path_without(tmp_path / "bin", "bwrap", "strace")) as verbs:
        done = verbs.call("run", str(whole), options=asked)
        assert done["ok"], done
        assert outputs(whole / "outputs") == MADE
        killed = 0
        for moment in range(1, done["events"], done["events"] // MOMENTS):
            place = shutil.copytree(untouched, tmp_path / f"at-{moment}")
            # How much a run does to files depends on what else runs here, so it may end before.
            killed += verbs.call("run", str(place), options=asked, event=moment)["killed"]
            begun = list((place / "outputs").glob(".rra-runs/*/plan.json"))
            again = {"sandbox": "none", "jobs": jobs, "resume": True} if begun else asked
            resumed = verbs.call("run", str(place), options=again)
            assert resumed["ok"], (moment, resumed)
            assert outputs(place / "outputs") == MADE
            stored = EvidenceStore(place / "evidence").records()
            assert [problem for one in stored for problem in verify_record(one)] == []
            named = [(one.record.launcher.id, one.record.instance) for one in stored]
            assert len(set(named)) == len(MADE)
            assert len(stored) <= len(MADE) + jobs, "what had ended did not run again"
    assert killed > MOMENTS // 2


PARALLEL = (
    "import sys; from pathlib import Path\n"
    "from rra import api\n"
    "done = api.run(Path(sys.argv[1]), seeds='0:2', jobs=2, force=True, sandbox='none')\n"
    "sys.exit(done.exit_code)\n"
)


def test_two_runs_of_one_artifact_at_once_mix_nothing(tmp_path: Path) -> None:
    """Each run leaves its nonce in two files, and what reads both finds the same one twice."""
    files = {
        "launchers/first.sh": 'echo "$RRA_NONCE" | tee "$RRA_OUTPUT_DIR/x" > "$RRA_OUTPUT_DIR/y"\n',
        "launchers/second.sh": 'cat "$RRA_OUTPUTS_ROOT/first/"[xy] > "$RRA_OUTPUT_DIR/x"\n',
    }
    selector = {"launcher": "second", "file": "x", "regex": "(?P<value>.+)", "pick": "first"}
    outcome = {"type": "category", "reported": "x", "selector": selector}
    experiments = {"table": {"outcomes": {"nonce": outcome}}}
    root = write_artifact(tmp_path / "a", files, launchers=CHAIN, experiments=experiments).root
    command = [sys.executable, "-c", PARALLEL, str(root)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}/src:{ROOT}"}
    both = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [one.communicate()[1] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    stored = EvidenceStore(root / "evidence").records()
    assert len(stored) == 8, "every run of both has its record"
    assert [problem for one in stored for problem in verify_record(one)] == []
    for place in (*(one.outputs for one in stored), *root.glob("outputs/[fs]*/*")):
        texts = [path.read_text() for path in place.iterdir() if len(path.name) == 1]
        assert len(set("".join(texts).split())) == 1, place
    assert list(root.rglob(f"{STAGING_PREFIX}*")) == []
