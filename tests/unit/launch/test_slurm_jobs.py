"""Jobs of Slurm as its commands print them, and the runs that they become."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rra.errors import UsageError
from rra.launch.importing_slurm import FilesOfJobs, find_jobs
from rra.launch.slurm_jobs import SlurmJob, read_jobs

#: What ``sacct --parsable2`` prints of a job, an array and its steps.
TABLE = """\
JobID|JobIDRaw|JobName|State|ExitCode|Start|End|Elapsed|TotalCPU|MaxRSS|WorkDir|StdOut
1230_7|1237|train|COMPLETED|0:0|2024-05-06T07:00:00|2024-05-07T08:02:03|1-01:02:03|2-02:04:06||/home/a/s|log-%A_%4a.txt
1230_7.batch|1237.batch|batch|COMPLETED|0:0|2024-05-06T07:00:00|2024-05-07T08:02:03|1-01:02:03|2-02:04:06|2000K||
1230_7.extern|1237.extern|extern|COMPLETED|0:0|2024-05-06T07:00:00|2024-05-07T08:02:03|1-01:02:03|00:00.001|1.5M||
1230_8|1230|train|FAILED|3:0|2024-05-06T07:00:00|2024-05-06T07:00:10|00:00:10|00:09.500||/home/a/s|
1230_[9-12]|1230|train|PENDING|0:0|Unknown|Unknown|00:00:00|00:00:00||/home/a/s|
1240|1240|eval|CANCELLED by 1000|0:0|None|2024-05-06T07:00:00|00:00:00|00:00:00||/home/a/s|
"""

#: The same of ``sacct --json``, as Slurm 23.11 and later write it.
JOB = {
    "job_id": 1237,
    "array": {"job_id": 1230, "task_id": {"set": True, "infinite": False, "number": 7}},
    "name": "train",
    "state": {"current": ["COMPLETED"], "reason": "None"},
    "exit_code": {
        "status": ["SUCCESS"],
        "return_code": {"set": True, "infinite": False, "number": 0},
        "signal": {"id": {"set": False, "infinite": False, "number": 0}, "name": ""},
    },
    "time": {
        "elapsed": 90123,
        "start": 1714978800,
        "end": 1715068923,
        "total": {"seconds": 180246, "microseconds": 500000},
    },
    "working_directory": "/home/a/s",
    "stdout": "log-%A_%4a.txt",
    "steps": [
        {
            "tres": {
                "requested": {"max": [{"type": "cpu", "count": 1}, {"type": "mem", "count": 7}]}
            }
        },
        {"tres": {"requested": {"max": [{"type": "mem", "count": 2048000}]}}},
    ],
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["current", "start", "set", "number", "id"]), inner)
    ),
    max_leaves=6,
)

SHOWN = """\
JobId=1237 ArrayJobId=1230 ArrayTaskId=7 JobName=train it
   UserId=a(1000) GroupId=a(1000) MCS_label=N/A
   JobState=TIMEOUT Reason=TimeLimit Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:15
   RunTime=00:01:30 TimeLimit=00:01:00 TimeMin=N/A
   StartTime=2024-05-06T07:00:00 EndTime=2024-05-06T07:01:30 Deadline=N/A
   WorkDir=/home/a b/s
   StdErr=/home/a b/s/e.txt
   StdOut=/home/a b/s/o.txt

JobId=1238 JobName=x
   JobState=RUNNING Reason=None ExitCode=0:0 RunTime=00:01:30
"""


def test_a_table_of_accounts() -> None:
    first, second, waiting, cancelled = read_jobs(TABLE)
    assert (first.id, first.number, first.array, first.index) == ("1230_7", "1237", "1230", 7)
    assert (first.state, first.status, first.signal) == ("COMPLETED", 0, 0)
    assert first.started == dt.datetime.fromisoformat("2024-05-06T07:00:00")
    assert (first.wall, first.cpu) == (90123.0, 180246.0)
    assert first.max_rss == 2000 * 1024
    assert first.expanded(first.stdout) == "log-1230_0007.txt"
    assert first.expanded(first.usual_stdout) == "slurm-1230_7.out"
    assert (second.status, second.cpu, second.max_rss) == (3, 9.5, None)
    assert (waiting.state, waiting.index, waiting.started) == ("PENDING", None, None)
    assert (cancelled.state, cancelled.started) == ("CANCELLED", None)
    assert cancelled.expanded("%x-%j%%") == "eval-1240%"
    assert cancelled.expanded("%a") is None
    assert cancelled.expanded("%N.out") is None, "nobody told the node"


@pytest.mark.parametrize(
    "older",
    [
        {},
        {
            "array": {"job_id": 1230, "task_id": 7},
            "state": {"current": "COMPLETED"},
            "exit_code": {"status": "SUCCESS", "return_code": 0},
        },
    ],
)
def test_accounts_as_json_of_new_and_old_versions(older: dict[str, Any]) -> None:
    (job,) = read_jobs(json.dumps({"jobs": [{**JOB, **older}], "meta": {}}))
    assert (job.id, job.number, job.index, job.state) == ("1230_7", "1237", 7, "COMPLETED")
    assert (job.status, job.signal, job.max_rss) == (0, 0, 2048000)
    assert (job.wall, job.cpu) == (90123, 180246.5)
    assert job.started == dt.datetime(2024, 5, 6, 7, tzinfo=dt.UTC)
    assert job.expanded(job.stdout) == "log-1230_0007.txt"


def test_jobs_as_the_controller_shows_them() -> None:
    job, live = read_jobs(SHOWN)
    assert (job.id, job.state, job.status, job.signal, job.wall) == (
        *("1230_7", "TIMEOUT", 0, 15),
        90,
    )
    assert (job.name, str(job.folder)) == ("train it", "/home/a b/s")
    assert job.stdout == "/home/a b/s/o.txt"
    assert (live.id, live.state) == ("1238", "RUNNING")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing that Slurm prints"),
        ("hello\n", "nothing that Slurm prints"),
        ("a|b\n1|2\n", "does not name JobID and State"),
        ("JobID|State|Start\n1|COMPLETED|x\n2|COMP", "line 3 of Slurm has 2 of 3 fields"),
        ('{"jobs": [', "is not what sacct --json prints"),
        ('{"jobs": [7]}', "is not what sacct --json prints"),
        ('{"jobs": [{"name": "x"}]}', "is not what sacct --json prints"),
        ('{"jobs": [{"job_id": "../../x"}]}', "a job whose number is '../../x'"),
        ("JobID|State\n/x|COMPLETED\n", "a job whose number is"),
        ('{"other": 1}', "is not what sacct --json prints"),
    ],
)
def test_what_is_none_of_them_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_jobs(text)


@given(st.lists(st.dictionaries(st.sampled_from([*JOB, "x"]), json_values), max_size=2))
def test_accounts_of_any_shape_are_read_or_refused(jobs: list[dict[str, Any]]) -> None:
    with contextlib.suppress(UsageError):
        for job in read_jobs(json.dumps({"jobs": [{**JOB, **one} for one in jobs]})):
            assert job.id
            assert 0 <= job.signal < 256


def saved(folder: Path, *jobs: SlurmJob | tuple[str, str, str], text: str | None = None) -> Path:
    rows = "".join(f"{one[0]}|{one[1]}|{one[2]}\n" for one in jobs if not isinstance(one, SlurmJob))
    (folder / "jobs.txt").write_text(text or f"JobID|State|ExitCode\n{rows}")
    return folder / "jobs.txt"


@pytest.mark.parametrize(
    ("state", "code", "end"),
    [
        ("COMPLETED", "0:0", ("ok", 0)),
        ("FAILED", "3:0", ("exit", 3)),
        ("FAILED", "0:9", ("signal", -9)),
        ("FAILED", "0:0", ("exit", 1)),
        ("COMPLETED", "2:0", ("exit", 2)),
        ("TIMEOUT", "0:0", ("timeout", 0)),
        ("DEADLINE", "0:15", ("timeout", -15)),
        ("OUT_OF_MEMORY", "0:125", ("memory", -125)),
        ("CANCELLED by 1000", "0:15", ("cancelled", -15)),
        ("NODE_FAIL", "1:0", ("infrastructure", 1)),
        ("PREEMPTED", "0:0", ("infrastructure", 0)),
    ],
)
def test_every_state_in_which_a_job_ends_has_its_word(
    tmp_path: Path, state: str, code: str, end: tuple[str, int]
) -> None:
    (run,), problems = find_jobs(saved(tmp_path, ("12", state, code)), FilesOfJobs())
    assert run.end == end
    assert run.ok == (end == ("ok", 0))
    assert problems == []
    assert f"job 12 of Slurm: {state.split(maxsplit=1)[0]}" in run.notes
    assert {"when it ran is not known", "the memory that it used is not known"} <= set(run.notes)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("RUNNING", r"it has not ended \(RUNNING\)"),
        ("SOMETHING_NEW", "its state SOMETHING_NEW is none that says how it ended"),
        ("", "its state is not told is none"),
    ],
)
def test_what_has_not_ended_or_is_unknown_is_left_out_and_named(
    tmp_path: Path, state: str, said: str
) -> None:
    source = saved(tmp_path, ("12", "COMPLETED", "0:0"), ("13", state, "0:0"))
    (run,), (problem,) = find_jobs(source, FilesOfJobs())
    assert run.name == "12"
    assert problem.severity == "warning"
    with pytest.raises(UsageError, match=said):
        find_jobs(source, FilesOfJobs(), ["13"])


def test_files_of_jobs_by_the_patterns_of_slurm(tmp_path: Path) -> None:
    for index in (7, 8):
        (tmp_path / f"results/{index}").mkdir(parents=True)
        (tmp_path / f"results/{index}/x").write_text(str(index))
    (tmp_path / "log-1230_0007.txt").write_text("seven")
    source, place = saved(tmp_path, text=TABLE), FilesOfJobs(f"{tmp_path}/results/%a")
    seven, eight, cancelled = find_jobs(source, place)[0]
    assert (seven.files, seven.instance) == (tmp_path / "results/7", "array=7")
    assert seven.printed == tmp_path / "log-1230_0007.txt"
    assert "the zone is not known" not in seven.notes
    assert "its times are those of the cluster's clock, whose zone is not known" in seven.notes
    assert (eight.printed, eight.files) == (None, tmp_path / "results/8")
    assert "what it printed was not found" in eight.notes
    assert (cancelled.files, cancelled.instance) == (None, "default")
    assert [run.name for run in find_jobs(source, place, ["1230"])[0]] == ["1230_7", "1230_8"]
    with pytest.raises(UsageError, match="has no job 99"):
        find_jobs(source, place, ["99"])
    with pytest.raises(UsageError, match="for job 1230_7 and for job 1230_8"):
        find_jobs(source, FilesOfJobs(f"{tmp_path}/results/7"))
    with pytest.raises(UsageError, match="is a folder of none of the jobs"):
        find_jobs(source, FilesOfJobs("nowhere/%j"))


def test_a_saved_file_cannot_name_files_elsewhere(tmp_path: Path) -> None:
    """Whoever wrote it would else choose what of this machine is copied into the evidence."""
    (tmp_path / "secret").write_text("x")
    (tmp_path / "here").mkdir()
    text = f"JobID|State|StdOut|WorkDir\n1|COMPLETED|{tmp_path}/secret|/\n"
    (run,), _ = find_jobs(saved(tmp_path / "here", text=text), FilesOfJobs())
    assert run.printed is None
    (tmp_path / "here/secret").write_text("what the job printed")
    (run,), _ = find_jobs(saved(tmp_path / "here", text=text), FilesOfJobs())
    assert run.printed == tmp_path / "here/secret"
