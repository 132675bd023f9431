"""Runs as jobs of a real Slurm: arrays, dependencies, and every way in which a job ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from rra import api
from rra._base import proctree
from rra.artifact import Artifact
from rra.evidence import EvidenceStore, verify_record
from tests.services.slurm import Cluster, running
from tests.support.artifacts import COMPUTES, make_artifact
from tests.support.exports import TASKS, outputs_of, write_study
from tests.support.needs import needs, require
from tests.support.runs import write_artifact

pytestmark = needs("slurm")

SEEDED = {"seeds": {}, "outputs": ["x"]}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    require("slurm")
    with running(tmp_path_factory.mktemp("slurm")) as started:
        yield started


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cluster: Cluster, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster, and one cache for all tests of this file: there is one environment only."""
    monkeypatch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
    monkeypatch.setenv("RRA_CACHE", str(cache))


def artifact(root: Path, scripts: dict[str, str], **launchers: dict[str, Any]) -> Artifact:
    files = {f"launchers/{name}.sh": f"{script}\n" for name, script in scripts.items()}
    declared = {name: launchers.get(name, {"outputs": ["x"]}) for name in scripts}
    first = next(iter(scripts))
    selector = {"launcher": first, "file": "x", "regex": "(?P<value>.+)", "pick": "first"}
    outcome = {"type": "category", "reported": "x", "selector": selector}
    experiments = {"table": {"outcomes": {"line": outcome}}}
    return write_artifact(root, files, launchers=declared, experiments=experiments)


def on_slurm(made: Artifact, **more: Any) -> api.RunSetResult:
    return api.run(made.root, backend="slurm", sandbox="none", **more)


def states(result: api.RunSetResult) -> dict[str, tuple[str, bool]]:
    return {run.task: (run.state, run.ok) for run in result.runs}


def jobs_of(cluster: Cluster, made: Artifact, launcher: str) -> list[str]:
    """Return the numbers of the arrays that hold a launcher's tasks."""
    (plan,) = (made.root / "outputs").glob(".rra-runs/*/plan.json")
    nonce = plan.parent.name.partition("-")[2]
    said = cluster.ask("squeue", "-h", "--states=all", "-o", "%F %j")
    rows = [line.split() for line in said.splitlines()]
    return sorted({number for number, name in rows if nonce in name and name.endswith(launcher)})


def test_seeds_are_one_array_and_each_waits_for_its_own(tmp_path: Path, cluster: Cluster) -> None:
    """Four runs of two launchers write evidence of one artifact, two at a time; all is there."""
    scripts = {
        "first": 'echo "$RRA_SEED" > "$RRA_OUTPUT_DIR/x"',
        "second": 'sed s/^/2/ "$RRA_OUTPUTS_ROOT/first/x" > "$RRA_OUTPUT_DIR/x"',
        "table": 'cat "$RRA_OUTPUTS_ROOT"/second/*/x > "$RRA_OUTPUT_DIR/x"',
    }
    second, table = {"needs": ["first"], **SEEDED}, {"needs": ["second"], "outputs": ["x"]}
    made = artifact(tmp_path, scripts, first=SEEDED, second=second, table=table)
    lines: list[str] = []
    done = on_slurm(made, seeds="3,4", progress=lines.append)
    assert done.ok, done
    assert (made.root / "outputs/second/seed=3/x").read_text() == "23\n"
    assert (made.root / "outputs/table/x").read_text() == "23\n24\n"
    assert [len(jobs_of(cluster, made, name)) for name in scripts] == [1, 1, 1]
    stored = EvidenceStore(made.root / "evidence").records()
    assert [problem for one in stored for problem in verify_record(one)] == []
    assert {one.digest for one in stored} == {run.record for run in done.runs}
    assert len(stored) == 5
    again = on_slurm(made, seeds="3,4")
    assert {run.state for run in again.runs} == {"current"}


def test_a_failure_stops_what_needs_it_and_nothing_else(tmp_path: Path, cluster: Cluster) -> None:
    scripts = {
        "first": 'echo "$RRA_SEED" > "$RRA_OUTPUT_DIR/x"; [ "$RRA_SEED" = 3 ] || exit 7',
        "second": 'cp "$RRA_OUTPUTS_ROOT/first/x" "$RRA_OUTPUT_DIR/x"',
    }
    made = artifact(tmp_path, scripts, first=SEEDED, second={"needs": ["first"], **SEEDED})
    done = on_slurm(made, seeds="3,4")
    assert done.exit_code == 1
    assert states(done) == {
        "first/seed=3": ("ran", True),
        "first/seed=4": ("ran", False),
        "second/seed=3": ("ran", True),
    }
    assert [problem.message for problem in done.problems][-1:] == [
        "second/seed=4 did not run: a launcher it needs failed"
    ]
    (failed,) = (run for run in done.runs if not run.ok)
    assert "ended with exit status 7" in failed.message
    assert failed.record.startswith("sha256:")


#: Says that it has begun and waits for a file, each beside the artifact.
WAITS = (
    'touch "{0}/begun-$RRA_SEED"; n=0\n'
    'while [ ! -e "{0}/go" ] && [ $((n += 1)) -lt 1200 ]; do sleep 0.1; done\n'
    'echo "$RRA_SEED" > "$RRA_OUTPUT_DIR/x"'
)
READS = 'sed s/^/2/ "$RRA_OUTPUTS_ROOT/first/x" > "$RRA_OUTPUT_DIR/x"'


def client(made: Artifact, *options: str) -> subprocess.Popen[str]:
    """Start ``rra run`` on the cluster in a process of its own."""
    argv = [sys.executable, "-m", "rra", "run", "-C", str(made.root), "--backend", "slurm"]
    return subprocess.Popen(
        # As from a terminal, also where these tests are started to outlive one.
        ["env", "--default-signal=HUP", *argv, "--sandbox", "none", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def wait_for(path: Path) -> None:
    for _ in range(1200):
        if path.exists():
            return
        time.sleep(0.1)
    raise AssertionError(f"{path} did not appear")


def test_jobs_outlive_client_and_controller_and_are_taken_up(
    tmp_path: Path, cluster: Cluster
) -> None:
    scripts = {"first": WAITS.format(tmp_path), "second": READS}
    second = {"needs": ["first"], **SEEDED}
    made = artifact(tmp_path / "a", scripts, first=SEEDED, second=second)
    with client(made, "--seeds", "3,4") as dead:
        wait_for(tmp_path / "begun-3")
        wait_for(tmp_path / "begun-4")
        dead.kill()
    cluster.end_controller()
    (tmp_path / "go").touch()
    cluster.start_controller()
    cluster.wait_up()
    done = on_slurm(made, resume=True)
    assert done.ok, done
    assert (made.root / "outputs/second/seed=4/x").read_text() == "24\n"
    assert len(EvidenceStore(made.root / "evidence").records()) == 4, "nothing ran twice"
    assert [len(jobs_of(cluster, made, name)) for name in scripts] == [1, 1]


def test_jobs_go_on_when_only_the_terminal_is_gone(tmp_path: Path, cluster: Cluster) -> None:
    made = artifact(tmp_path / "a", {"first": WAITS.format(tmp_path)}, first=SEEDED)
    with client(made, "--seeds", "3") as gone:
        wait_for(tmp_path / "begun-3")
        gone.send_signal(signal.SIGHUP)
        assert gone.wait(60) == 130
    (tmp_path / "go").touch()
    done = on_slurm(made, resume=True)
    assert done.ok, done
    assert len(EvidenceStore(made.root / "evidence").records()) == 1
    assert len(jobs_of(cluster, made, "first")) == 1, "nothing was submitted again"


def test_an_interrupt_ends_jobs_with_records_that_say_so(tmp_path: Path, cluster: Cluster) -> None:
    scripts = {"first": WAITS.format(tmp_path), "second": READS}
    made = artifact(tmp_path / "a", scripts, first=SEEDED, second={"needs": ["first"], **SEEDED})
    with client(made, "--seeds", "3") as running_client:
        wait_for(tmp_path / "begun-3")
        running_client.send_signal(signal.SIGINT)
        assert running_client.wait(60) == 130
    (stored,) = EvidenceStore(made.root / "evidence").records()
    assert (stored.record.termination, stored.record.launcher.id) == ("cancelled", "first")
    (tmp_path / "go").touch()
    assert on_slurm(made, resume=True).ok, "what was cancelled is submitted again"


def test_a_job_that_others_cancel_was_cancelled(tmp_path: Path, cluster: Cluster) -> None:
    made = artifact(tmp_path / "a", {"first": WAITS.format(tmp_path)}, first=SEEDED)
    with client(made, "--seeds", "3") as watching:
        wait_for(tmp_path / "begun-3")
        cluster.ask("scancel", *jobs_of(cluster, made, "first"))
        said, _ = watching.communicate(timeout=120)
    assert watching.returncode == 1
    assert "cancelled" in said
    (stored,) = EvidenceStore(made.root / "evidence").records()
    assert stored.record.termination == "cancelled"


def test_a_job_that_takes_too_much_memory_says_so(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SBATCH_MEM_PER_NODE", "300")
    script = 'python3 -c "import time; kept = bytearray(700 << 20); time.sleep(60)"'
    made = artifact(tmp_path, {"first": script})
    done = on_slurm(made)
    assert done.exit_code == 1
    assert "for want of memory" in done.runs[0].message


def test_a_job_is_ended_at_its_own_limit_of_time(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rra.launch.backends.slurm.arrays._PREPARATION", 0)
    limited = {"outputs": ["x"], "limits": {"wall": 1}}
    done = on_slurm(artifact(tmp_path, {"first": "sleep 60"}, first=limited))
    assert done.exit_code == 1
    assert "limit of time of its job" in done.runs[0].message


def asked(cluster: Cluster, made: Artifact) -> set[tuple[str, ...]]:
    """Return limit of time and partition of the jobs of a plan's launcher ``first``."""
    shown = [cluster.ask("scontrol", "show", "job", n) for n in jobs_of(cluster, made, "first")]
    names = ("Partition=", "TimeLimit=")
    return {tuple(word for word in one.split() if word.startswith(names)) for one in shown}


def wait_for_line(stream: IO[str] | None, text: str) -> str:
    """Return what a client said up to a line that holds a text."""
    assert stream is not None
    said = ""
    for line in stream:
        said += line
        if text in line:
            return said
    raise AssertionError(said)


def test_a_job_that_does_not_begin_says_what_it_waits_for(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks for more time than its partition gives; somebody asks for less, and it runs."""
    monkeypatch.setenv("SBATCH_PARTITION", "short")
    limited = {"outputs": ["x"], "limits": {"wall": 600}}
    made = artifact(tmp_path, {"first": 'echo 7 > "$RRA_OUTPUT_DIR/x"'}, first=limited)
    with client(made) as waiting:
        said = wait_for_line(waiting.stdout, "PartitionTimeLimit")
        assert f"first: job {jobs_of(cluster, made, 'first')[0]}_0 of Slurm does not begin" in said
        for job in jobs_of(cluster, made, "first"):
            cluster.ask("scontrol", "update", f"JobId={job}", "TimeLimit=1")
        rest, _ = waiting.communicate(timeout=120)
    assert waiting.returncode == 0, rest
    assert rest.count("does not begin") == 0, "once is enough"
    assert asked(cluster, made) == {("TimeLimit=00:01:00", "Partition=short")}


def test_the_time_that_the_caller_sets_goes_first(
    tmp_path: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited = {"outputs": ["x"], "limits": {"wall": 600}}
    script = 'echo 7 > "$RRA_OUTPUT_DIR/x"'
    made = artifact(tmp_path / "a", {"first": script}, first=limited)
    assert on_slurm(made).ok
    assert asked(cluster, made) == {("TimeLimit=00:27:00", "Partition=main")}
    monkeypatch.setenv("SBATCH_TIMELIMIT", "5")
    other = artifact(tmp_path / "b", {"first": script}, first=limited)
    assert on_slurm(other).ok
    assert asked(cluster, other) == {("TimeLimit=00:05:00", "Partition=main")}


def test_a_node_that_fails_is_no_fault_of_the_launcher(tmp_path: Path, cluster: Cluster) -> None:
    """Its jobs are lost, not run again behind our back; to resume runs them on the node again."""
    scripts = {"first": WAITS.format(tmp_path), "second": READS}
    made = artifact(tmp_path / "a", scripts, first=SEEDED, second={"needs": ["first"], **SEEDED})
    node = cluster.ask("sinfo", "-h", "-N", "-o", "%N").split()[0]
    with client(made, "--seeds", "3") as watching:
        wait_for(tmp_path / "begun-3")
        cluster.ask("scontrol", "update", f"nodename={node}", "state=down", "reason=broken")
        said, _ = watching.communicate(timeout=120)
    cluster.ask("scontrol", "update", f"nodename={node}", "state=resume")
    assert watching.returncode == 1, said
    assert "NODE_FAIL" in said
    assert "its job was lost, which is no fault of the launcher" in said
    (tmp_path / "go").touch()
    cluster.wait_idle()
    done = on_slurm(made, resume=True)
    assert done.ok, done
    assert (made.root / "outputs/second/seed=3/x").read_text() == "23\n"
    stored = EvidenceStore(made.root / "evidence").records()
    assert [problem for one in stored for problem in verify_record(one)] == []
    assert sum(one.record.ok for one in stored) == 2, "nothing succeeded twice"


def test_a_job_that_is_killed_whole_is_recorded(tmp_path: Path, cluster: Cluster) -> None:
    """``kill -9`` of everything in a job: rra, its launcher, the script around both."""
    scripts = {"first": f'echo half > "$RRA_OUTPUT_DIR/half"; {WAITS.format(tmp_path)}'}
    made = artifact(tmp_path / "a", scripts, first=SEEDED)
    with client(made, "--seeds", "3") as watching:
        wait_for(tmp_path / "begun-3")
        (number,) = jobs_of(cluster, made, "first")
        script = proctree.marked(f"SLURM_ARRAY_JOB_ID={number}")
        proctree.end_all(script.union(*map(proctree.descendants, script)))
        said, _ = watching.communicate(timeout=120)
    assert watching.returncode == 1, said
    (stored,) = EvidenceStore(made.root / "evidence").records()
    assert verify_record(stored) == []
    assert (stored.record.termination, stored.record.exit_code) == ("infrastructure", -255)
    assert (stored.outputs / "half").read_text() == "half\n"
    assert stored.digest in said
    (tmp_path / "go").touch()
    done = on_slurm(made, resume=True)
    assert done.ok, done
    assert (made.root / "outputs/first/seed=3/x").read_text() == "3\n"


def test_a_controller_that_dies_as_jobs_are_submitted_loses_no_evidence(
    tmp_path: Path, cluster: Cluster
) -> None:
    """What it had not saved is lost to it; to resume does what the client could not."""
    scripts = {"first": 'echo "$RRA_SEED" > "$RRA_OUTPUT_DIR/x"', "second": READS}
    made = artifact(tmp_path / "a", scripts, first=SEEDED, second={"needs": ["first"], **SEEDED})
    with client(made, "--seeds", "3,4") as watching:
        wait_for_line(watching.stdout, "first: submitted as job")
        cluster.kill_controller()
        cluster.start_controller()
        cluster.wait_up()
        said, _ = watching.communicate(timeout=300)
    assert watching.returncode in {0, 1, 3}, said
    done = on_slurm(made, resume=True)
    assert done.ok, (said, done)
    for seed in "34":
        assert (made.root / f"outputs/second/seed={seed}/x").read_text() == f"2{seed}\n"
    stored = EvidenceStore(made.root / "evidence").records()
    assert [problem for one in stored for problem in verify_record(one)] == []
    good = [(one.record.launcher.id, one.record.instance) for one in stored if one.record.ok]
    assert sorted(good) == sorted(set(good)), "nothing succeeded twice"
    # Ends that the node told while no controller listened may be told again much later.
    cluster.ask("scancel", "--user=root")
    for _ in range(300):
        if not cluster.ask("squeue", "-h"):
            return
        time.sleep(0.1)
    raise AssertionError(cluster.ask("squeue"))


def test_jobs_of_others_are_imported_from_the_controller(tmp_path: Path, cluster: Cluster) -> None:
    """An array that knew nothing of us: one element ends well, one fails, one is cancelled."""
    made = make_artifact(tmp_path / "a", {"main.py": COMPUTES})
    script = "#!/bin/bash\n[ $SLURM_ARRAY_TASK_ID = 3 ] && sleep 60\n"
    script += "echo ran $SLURM_ARRAY_TASK_ID; echo 7 > $SLURM_ARRAY_TASK_ID/x\n"
    script += "exit $SLURM_ARRAY_TASK_ID"
    (tmp_path / "job.sh").write_text(script)
    for index in "023":
        (tmp_path / index).mkdir()
    options = ["--parsable", f"--chdir={tmp_path}", "--array=0,2,3"]
    job = cluster.ask("sbatch", *options, str(tmp_path / "job.sh")).strip()
    assert job.isdigit()
    asking = ["squeue", "-h", "--array", "-t", "all", "-j", job, "-o", "%T"]
    for _ in range(600):
        states = cluster.ask(*asking).split()
        if states.count("RUNNING") == 1 and {"COMPLETED", "FAILED"} <= set(states):
            break
        time.sleep(0.1)
    cluster.ask("scancel", f"{job}_3")
    for _ in range(600):
        if "CANCELLED" in cluster.ask("scontrol", "show", "job", f"{job}_3"):
            break
        time.sleep(0.1)
    done = api.evidence_import(
        Path("slurm"), made.root, launcher="main", names=(job,), outputs=f"{tmp_path}/%a"
    )
    found = {one.name: one for one in done.runs}
    assert {name: one.termination for name, one in found.items()} == {
        f"{job}_0": "ok",
        f"{job}_2": "exit",
        f"{job}_3": "cancelled",
    }
    stored = {one.record.instance: one for one in EvidenceStore(made.root / "evidence").records()}
    assert [problem for one in stored.values() for problem in verify_record(one)] == []
    assert (stored["array=0"].directory / "stdout.txt").read_text() == "ran 0\n"
    assert stored["array=2"].record.exit_code == 2
    assert {one.path for one in stored["array=2"].record.outputs} >= {"x"}
    assert stored["array=2"].record.recorder.level == "imported"


def submitted(root: Path, cluster: Cluster) -> str:
    """Submit an exported script, wait for its jobs, and return what it printed."""
    done = subprocess.run(
        ["bash", "runs.sbatch"],
        cwd=root,
        env=cluster.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    for _ in range(600):
        if not cluster.ask("squeue", "-h"):
            return done.stdout
        time.sleep(0.1)
    raise AssertionError(cluster.ask("squeue"))


def test_b29_an_exported_script_leaves_what_a_run_leaves_and_submits_nothing_twice(
    tmp_path: Path, cluster: Cluster
) -> None:
    own, root = write_study(tmp_path / "own").root, write_study(tmp_path / "with space").root
    assert api.run(own, seeds="declared", sandbox="none").ok
    api.run(root, seeds="declared", export=root / "runs.sbatch")
    first = submitted(root, cluster)
    assert [line.partition(": ")[2] for line in first.splitlines()] == list(TASKS)
    assert outputs_of(root) == outputs_of(own)
    assert not list(root.rglob("p"))
    assert submitted(root, cluster).splitlines() == [f"done before: {task}" for task in TASKS]


def test_jobs_of_an_exported_script_ask_for_what_is_declared_and_end_with_what_they_need(
    tmp_path: Path, cluster: Cluster
) -> None:
    script = 'echo "$SLURM_MEM_PER_NODE $SLURM_JOB_NAME"; exit 7\n'
    root = write_study(tmp_path, train=script).root
    api.run(root, seeds="1", export=root / "runs.sbatch")
    submitted(root, cluster)
    (log,) = (root / "outputs/.logs").glob("*.log")
    said = log.read_text()
    assert "200 train/seed=1" in said
    assert "train/seed=1: it ended with status 7" in said
    assert outputs_of(root) == {}
