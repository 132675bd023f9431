"""What Slurm says of jobs that have ended, read from what its commands print.

Three forms are read: ``sacct --json``, ``sacct --parsable2`` with its line of names, and ``scontrol
show job``. What none of them says stays unknown: no time, status or memory is made up.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from rra._base import process
from rra._base.termination import Termination
from rra.errors import UnavailableError, UsageError
from rra.launch.backends.slurm.client import fields_of

_TIMEOUT = 120.0
_LARGEST = 64 << 20
"""Bytes of a file of accounts that are read."""

ENDS: Mapping[str, Termination] = {
    "COMPLETED": "ok",
    "FAILED": "exit",
    "TIMEOUT": "timeout",
    "DEADLINE": "timeout",
    "OUT_OF_MEMORY": "memory",
    "CANCELLED": "cancelled",
    "NODE_FAIL": "infrastructure",
    "BOOT_FAIL": "infrastructure",
    "LAUNCH_FAILED": "infrastructure",
    "PREEMPTED": "infrastructure",
    "REVOKED": "infrastructure",
}
"""States in which a job has ended, each with the word of the execution record for it."""

_FIELDS = (
    "JobID,JobIDRaw,JobName,State,ExitCode,Start,End,ElapsedRaw,Elapsed,TotalCPU,MaxRSS,WorkDir"
)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([KMGTP]?)n?")
_SPAN = re.compile(r"(?:([0-9]+)-)?(?:([0-9]+):)?([0-9]+):([0-9]+(?:\.[0-9]+)?)")
_NUMBERS = re.compile(r"[0-9]{1,10}(\+[0-9]{1,9})?(_[0-9]{1,10}|_\[[0-9,:%-]{1,200}(\.\.\.)?\])?")
_LARGEST_COUNT = 2**53 - 1
_PATTERN = re.compile(r"%([0-9]*)([A-Za-z%])")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SlurmJob:
    """One job, or one element of an array of jobs; None is what is not known.

    Attributes:
        id: As people call it: ``1234``, or ``1230_7`` for an element of an array.
        number: Number of its own.
        array: Number of the array.
        index: Place in the array.
        name: What it was called.
        state: Slurm's word for how it stands, such as ``COMPLETED``.
        status: Exit status of its script.
        signal: Signal that ended it; 0 for none.
        started: When it began; without a zone where Slurm printed the cluster's own time.
        ended: When it ended, likewise.
        wall: Seconds that it took.
        cpu: Seconds of processor.
        max_rss: Bytes of its largest task.
        folder: Its working directory.
        stdout: File of what it printed, with Slurm's patterns.
        stderr: File of its errors.
    """

    id: str
    number: str
    array: str | None = None
    index: int | None = None
    name: str = ""
    state: str = ""
    status: int | None = None
    signal: int = 0
    started: dt.datetime | None = None
    ended: dt.datetime | None = None
    wall: float | None = None
    cpu: float | None = None
    max_rss: int | None = None
    folder: PurePosixPath | None = None
    stdout: str = ""
    stderr: str = ""

    @property
    def usual_stdout(self) -> str:
        """The pattern of the file that Slurm writes where nobody names one."""
        return "slurm-%j.out" if self.array is None else "slurm-%A_%a.out"

    def expanded(self, pattern: str) -> str | None:
        """Return a path with Slurm's patterns filled in; None where one is of what is not known."""
        known = {
            "A": self.array or self.number or None,
            "a": None if self.index is None else str(self.index),
            "j": self.number or None,
            "J": self.number or None,
            "x": self.name or None,
            "%": "%",
        }
        parts, end = [], 0
        for found in _PATTERN.finditer(pattern):
            value = known.get(found[2])
            if value is None:
                return None
            width = int(found[1] or 0) if found[2] in "AajJ" else 0
            parts += [pattern[end : found.start()], value.zfill(min(width, 10))]
            end = found.end()
        return "".join([*parts, pattern[end:]])


def ask_slurm(jobs: tuple[str, ...]) -> list[SlurmJob]:
    """Ask the cluster that this machine belongs to about jobs: its accounts, or the controller.

    Args:
        jobs: Their numbers, as ``1234``, ``1230_7``, or ``1230`` for all elements of an array.

    Raises:
        UsageError: None is named, or one is no number of a job.
        ToolMissingError: Slurm's commands are not here.
        UnavailableError: Slurm does not know them, or does not answer.
    """
    if not jobs or not all(re.fullmatch(r"[0-9]+(_[0-9]+)?", one) for one in jobs):
        message = "which jobs of Slurm are asked for, has to be said by their numbers"
        raise UsageError(message, hint="name each with --run, as 1234 or 1230_7")
    process.require_tool(
        "scontrol",
        why="the jobs are asked from Slurm",
        install="install Slurm's commands (Debian: slurm-client), or save what sacct prints "
        "elsewhere and import that file",
    )
    accounts = ["sacct", "--parsable2", f"--jobs={','.join(jobs)}", f"--format={_FIELDS}"]
    if process.find_tool("sacct") is not None:
        told = process.run(accounts, timeout=_TIMEOUT)
        found = read_jobs(told.stdout) if told.ok and "|" in told.stdout else []
        if found:
            return found
    found = []
    for one in jobs:
        told = process.run(["scontrol", "show", "job", one], timeout=_TIMEOUT)
        if not told.ok:
            message = f"Slurm knows nothing of job {one}: {told.last_error(1) or 'no answer'}"
            hint = "ask sacct on a machine that keeps the accounts, and import what it prints"
            raise UnavailableError(message, hint=hint)
        found += read_jobs(told.stdout)
    return found


def read_jobs(text: str, source: str = "Slurm") -> list[SlurmJob]:
    """Return the jobs in what a command of Slurm printed, in its order.

    Args:
        text: What ``sacct --json``, ``sacct --parsable2`` or ``scontrol show job`` printed.
        source: Where it is from, for errors.

    Raises:
        UsageError: It is none of them, is cut short, or too large.
    """
    if len(text) > _LARGEST:
        raise UsageError(f"{source} is too large", hint="ask sacct for the jobs themselves: --jobs")
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith("{"):
        return _possible(_json_jobs(start, source), source)
    if start.startswith("JobId="):
        return _possible([_shown_job(_facts(block)) for block in _blocks(start)], source)
    if "|" in start.partition("\n")[0]:
        return _possible(_table_jobs(start, source), source)
    message = f"{source} is nothing that Slurm prints of jobs"
    hint = "save what sacct --json or sacct --parsable2 prints, its first line with the names too"
    raise UsageError(message, hint=hint)


def _possible(jobs: list[SlurmJob], source: str) -> list[SlurmJob]:
    """Return jobs without what cannot be: such values are as good as not told.

    Raises:
        UsageError: One has no number, which names its files too.
    """
    for job in jobs:
        if not _NUMBERS.fullmatch(job.id) or not _NUMBERS.fullmatch(job.number or job.id):
            message = f"{source} has a job whose number is {job.id[:40]!r}"
            raise UsageError(message, hint="save what Slurm prints as it is")
    return [
        dataclasses.replace(
            job,
            name="" if "/" in job.name or "\0" in job.name else job.name,
            status=job.status if job.status is not None and 0 <= job.status < 256 else None,
            signal=job.signal if 0 <= job.signal < 256 else 0,
            started=_since_1970(job.started),
            ended=_since_1970(job.ended),
            wall=_positive(job.wall),
            cpu=_positive(job.cpu),
            max_rss=None if job.max_rss is None or job.max_rss > _LARGEST_COUNT else job.max_rss,
        )
        for job in jobs
    ]


def _since_1970(moment: dt.datetime | None) -> dt.datetime | None:
    return moment if moment is not None and 1970 <= moment.year < 9999 else None


def _positive(seconds: float | None) -> float | None:
    return seconds if seconds is not None and 0 <= seconds < _LARGEST_COUNT else None


def _blocks(text: str) -> Iterator[list[str]]:
    """Yield the lines of each job that ``scontrol show job`` printed."""
    block: list[str] = []
    for line in text.splitlines():
        if line.startswith("JobId=") and block:
            yield block
            block = []
        block.append(line.strip())
    yield block


def _facts(block: list[str]) -> dict[str, str]:
    """Return the fields of a job; names and paths with blanks are whole where they end a line."""
    facts = dict(fields_of(" ".join(block)))
    for line in block:
        for name in ("JobName", "WorkDir", "StdOut", "StdErr"):
            before, found, value = line.partition(f"{name}=")
            if found and (not before or before.endswith(" ")) and len(block) > 1:
                facts[name] = value
    return facts


def _shown_job(facts: Mapping[str, str]) -> SlurmJob:
    array, index = facts.get("ArrayJobId"), facts.get("ArrayTaskId", "")
    number = facts["JobId"]
    status, signal = _exit_code(facts.get("ExitCode", ""))
    return SlurmJob(
        id=f"{array}_{index}" if array else number,
        number=number,
        array=array,
        index=int(index) if index.isdigit() else None,
        name=facts.get("JobName", ""),
        state=facts.get("JobState", ""),
        status=status,
        signal=signal,
        started=_moment(facts.get("StartTime", "")),
        ended=_moment(facts.get("EndTime", "")),
        wall=_seconds(facts.get("RunTime", "")),
        folder=PurePosixPath(facts["WorkDir"]) if facts.get("WorkDir") else None,
        stdout=facts.get("StdOut", ""),
        stderr=facts.get("StdErr", ""),
    )


# ------------------------------------------------------------------------------ sacct --parsable2


def _table_jobs(text: str, source: str) -> list[SlurmJob]:
    lines = [line for line in text.splitlines() if line.strip()]
    names = lines[0].rstrip("|").split("|")
    if not {"JobID", "State"} <= set(names):
        message = f"the first line of {source} does not name JobID and State"
        raise UsageError(message, hint=f"sacct --parsable2 --format={_FIELDS} prints what is read")
    jobs: list[tuple[dict[str, str], list[int]]] = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("|")
        if len(cells) < len(names):
            message = f"line {number} of {source} has {len(cells)} of {len(names)} fields"
            raise UsageError(message, hint="the file is cut short: save it again")
        facts = dict(zip(names, cells, strict=False))
        job, _, step = facts["JobID"].partition(".")
        if not step:
            jobs.append((facts, []))
        elif jobs and jobs[-1][0]["JobID"] == job:
            size = _size(facts.get("MaxRSS", ""))
            jobs[-1][1].extend([] if size is None else [size])
    return [_listed_job(facts, sizes) for facts, sizes in jobs]


def _listed_job(facts: Mapping[str, str], sizes: list[int]) -> SlurmJob:
    array, _, index = facts["JobID"].partition("_")
    status, signal = _exit_code(facts.get("ExitCode", ""))
    own = _size(facts.get("MaxRSS", ""))
    sizes = sizes if own is None else [*sizes, own]
    raw = facts.get("ElapsedRaw", "")
    return SlurmJob(
        id=facts["JobID"],
        # The number of an element of an array is not told by its name.
        number=facts.get("JobIDRaw") or (facts["JobID"] if not index else ""),
        array=array if index else None,
        index=int(index) if index.isdigit() else None,
        name=facts.get("JobName", ""),
        state=facts["State"].partition(" ")[0],
        status=status,
        signal=signal,
        started=_moment(facts.get("Start", "")),
        ended=_moment(facts.get("End", "")),
        wall=float(raw) if raw.isdigit() else _seconds(facts.get("Elapsed", "")),
        cpu=_seconds(facts.get("TotalCPU", "")),
        max_rss=max(sizes, default=None),
        folder=PurePosixPath(facts["WorkDir"]) if facts.get("WorkDir") else None,
        stdout=facts.get("StdOut", ""),
        stderr=facts.get("StdErr", ""),
    )


def _exit_code(text: str) -> tuple[int | None, int]:
    """Read ``status:signal``."""
    found = re.fullmatch(r"([0-9]+):([0-9]+)", text)
    return (int(found[1]), int(found[2])) if found else (None, 0)


def _moment(text: str) -> dt.datetime | None:
    with contextlib.suppress(ValueError):
        return dt.datetime.fromisoformat(text)
    return None


def _seconds(text: str) -> float | None:
    """Read ``[days-[hours:]]minutes:seconds``."""
    found = _SPAN.fullmatch(text)
    if found is None:
        return None
    days, hours, minutes = (int(part or 0) for part in found.groups()[:3])
    return days * 86400 + hours * 3600 + minutes * 60 + float(found[4])


def _size(text: str) -> int | None:
    """Read an amount of memory; Slurm counts in units of 1024."""
    found = _SIZE.fullmatch(text)
    return int(float(found[1]) * _UNITS[found[2]]) if found else None


# ----------------------------------------------------------------------------------- sacct --json


def _json_jobs(text: str, source: str) -> list[SlurmJob]:
    try:
        document = json.loads(text)
        jobs = document["jobs"]
        return [_told_job(one) for one in jobs]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        message = f"{source} is not what sacct --json prints: {error}"
        raise UsageError(message, hint="save it again, whole") from error


def _told_job(job: Mapping[str, Any]) -> SlurmJob:
    array, index = job.get("array") or {}, None
    parent = _number(array.get("job_id")) or None
    if parent is not None:
        index = _number(array.get("task_id"))
    state = (job.get("state") or {}).get("current") or ""
    code, time = job.get("exit_code") or {}, job.get("time") or {}
    number = str(job["job_id"])
    total = time.get("total") or {}
    seconds = _number(total.get("seconds"))
    return SlurmJob(
        id=number if index is None else f"{parent}_{index}",
        number=number,
        array=None if index is None else str(parent),
        index=index,
        name=str(job.get("name") or ""),
        state=str(state[0] if isinstance(state, list) and state else state or ""),
        status=_number(code.get("return_code")),
        signal=_number((code.get("signal") or {}).get("id")) or 0,
        started=_epoch(time.get("start")),
        ended=_epoch(time.get("end")),
        wall=_number(time.get("elapsed")),
        cpu=None if seconds is None else seconds + (_number(total.get("microseconds")) or 0) / 1e6,
        max_rss=max(_step_sizes(job.get("steps") or []), default=None),
        folder=PurePosixPath(str(job["working_directory"]))
        if job.get("working_directory")
        else None,
        stdout=str(job.get("stdout_expanded") or job.get("stdout") or ""),
        stderr=str(job.get("stderr_expanded") or job.get("stderr") or ""),
    )


def _number(value: Any) -> int | None:
    """Read a number as all versions of Slurm write it: plain, or as an object that has it."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _epoch(value: Any) -> dt.datetime | None:
    seconds = _number(value)
    if not seconds:
        return None
    with contextlib.suppress(ValueError, OverflowError, OSError):
        return dt.datetime.fromtimestamp(seconds, dt.UTC)
    return None


def _step_sizes(steps: list[Any]) -> Iterator[int]:
    """Yield the memory of the largest task of each step."""
    for step in steps:
        most = (((step.get("tres") or {}).get("requested") or {}).get("max")) or []
        for one in most:
            size = _number(one.get("count"))
            if one.get("type") == "mem" and size is not None and size >= 0:
                yield size
