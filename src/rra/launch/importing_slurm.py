"""Jobs of Slurm as runs that can be imported: how each ended, what it printed and left."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from rra._base.files import walk_files
from rra._base.termination import Termination
from rra.errors import Problem, UsageError
from rra.launch.importing import NO_TIME, FoundRun
from rra.launch.request import DEFAULT_INSTANCE
from rra.launch.slurm_jobs import ENDS, SlurmJob, ask_slurm, read_jobs

CLUSTER = Path("slurm")
"""The word that stands for the cluster itself, where no file of that name is there."""

_LARGEST = 64 << 20
_LIVE = "has not ended"
_GOES_ON = frozenset(
    {"PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "REQUEUED", "STOPPED"}
)


@dataclasses.dataclass(frozen=True, slots=True)
class FilesOfJobs:
    """Where the files of jobs are: paths with the patterns of Slurm's file names.

    Attributes:
        outputs: Folder of the outputs of a job, such as ``results/%a``.
        stdout: File of what it printed; by default what Slurm names, which is looked for beside
            a saved file of accounts.
    """

    outputs: str | None = None
    stdout: str | None = None


def is_jobs(source: Path) -> bool:
    """Tell whether jobs of Slurm are meant: a file, or the word for the cluster."""
    return source.is_file() or (source == CLUSTER and not source.exists())


def find_jobs(
    source: Path, files: FilesOfJobs, names: Sequence[str] = ()
) -> tuple[list[FoundRun], list[Problem]]:
    """Return the jobs in a saved file, or of the cluster, that have ended; and why others are not.

    Args:
        source: File with what ``sacct --json``, ``sacct --parsable2`` or ``scontrol show job``
            printed; or `CLUSTER`.
        files: Where their files are.
        names: Numbers of jobs; all by default. One of an array stands for its elements.

    Raises:
        UsageError: The file is none of these, a job is not there or has not ended, or two would
            have the same files.
        ToolMissingError: The cluster is asked, and Slurm's commands are not here.
        UnavailableError: The cluster knows nothing of them.
    """
    beside = None
    if source == CLUSTER and not source.exists():
        jobs = ask_slurm(tuple(names))
    else:
        beside = source.parent
        jobs = read_jobs(_text(source), str(source))
    chosen = [job for job in jobs if not names or _called(job) & set(names)]
    missing = [name for name in names if not any(name in _called(job) for job in chosen)]
    if missing or not chosen:
        known = ", ".join(job.id for job in jobs[:20]) or "none"
        message = f"{source} has no job {' or '.join(missing)}" if missing else "there is no job"
        raise UsageError(message, hint=f"jobs there: {known}")
    ended = [job for job in chosen if job.state in ENDS]
    left = [
        Problem(
            f"job {job.id} is not imported: {_why_not(job.state)}",
            str(source),
            severity="warning",
            hint="import it when it has ended"
            if job.state in _GOES_ON
            else f"states that say how a job ended: {', '.join(ENDS)}",
        )
        for job in chosen
        if job.state not in ENDS
    ]
    if not ended:
        raise UsageError(left[0].message, hint=left[0].hint)
    _apart(ended, files.outputs, "--outputs")
    _apart(ended, files.stdout, "--stdout")
    runs = [_run(job, files, beside) for job in ended]
    if files.outputs is not None and all(run.files is None for run in runs):
        message = f"--outputs {files.outputs} is a folder of none of the jobs"
        raise UsageError(message, hint="%j, %A, %a and %x stand for number, array, index and name")
    return runs, left


def _text(source: Path) -> str:
    try:
        with source.open("rb") as file:
            return file.read(_LARGEST + 1).decode("utf-8", "replace")
    except OSError as error:
        message = f"{source} cannot be read: {error.strerror}"
        raise UsageError(message, hint="name a file that sacct printed into") from error


def _called(job: SlurmJob) -> set[str]:
    return {job.id, job.number, job.array or job.number} - {""}


def _why_not(state: str) -> str:
    if state in _GOES_ON:
        return f"it {_LIVE} ({state})"
    return f"its state {state or 'is not told'} is none that says how it ended"


def _apart(jobs: Sequence[SlurmJob], pattern: str | None, option: str) -> None:
    """Insist that a pattern gives each job a path of its own."""
    if pattern is None:
        return
    owners: dict[str, str] = {}
    for job in jobs:
        path = job.expanded(pattern)
        if path is None:
            continue
        if path in owners and owners[path] != job.id:
            message = f"{option} {pattern} is {path} for job {owners[path]} and for job {job.id}"
            hint = "let %j, %A_%a or %a tell them apart, or choose one with --run"
            raise UsageError(message, hint=hint)
        owners[path] = job.id


def _run(job: SlurmJob, files: FilesOfJobs, beside: Path | None) -> FoundRun:
    """Return a job as a run.

    Args:
        job: The job.
        files: Where its files are.
        beside: Folder of the file that told of it. Somebody else may have written that file, so
            what it names is looked for there, by its last name, and nowhere else.
    """
    end, notes = _end(job)
    notes = [f"job {job.id} of Slurm: {job.state}", *notes]
    if files.stdout is not None:
        printed, errors = _given(job, files.stdout), None
    else:
        printed = _named(job, job.stdout or job.usual_stdout, beside)
        errors = _named(job, job.stderr, beside)
    if printed is None or not _is_plain(printed):
        printed = None
        notes.append("what it printed was not found")
    outputs = _given(job, files.outputs)
    if outputs is None or not outputs.is_dir() or not any(True for _ in walk_files(outputs)):
        outputs = None
        notes.append(
            "its outputs were not named" if files.outputs is None else "its outputs were not found"
        )
    notes += _unknown(job)
    return FoundRun(
        name=job.id,
        files=outputs,
        started=job.started,
        ended=job.ended,
        ok=end == ("ok", 0),
        printed=printed,
        errors=errors if errors != printed and errors is not None and _is_plain(errors) else None,
        instance=DEFAULT_INSTANCE if job.index is None else f"array={job.index}",
        end=end,
        seconds=job.wall,
        cpu=job.cpu or 0.0,
        max_rss=job.max_rss or 0,
        notes=tuple(notes),
    )


def _end(job: SlurmJob) -> tuple[tuple[Termination, int], list[str]]:
    """Return word and status of the end of a job, and what of it is not known."""
    word, status = ENDS[job.state], job.status or 0
    if word == "ok" and not status and not job.signal:
        return ("ok", 0), []
    if word in {"ok", "exit"}:
        if job.signal:
            return ("signal", -min(job.signal, 255)), []
        if status:
            return ("exit", min(status, 255)), []
        return ("exit", 1), ["its exit status is not known; 1 stands for it"]
    return (word, -min(job.signal, 255) if job.signal else min(status, 255)), []


def _unknown(job: SlurmJob) -> list[str]:
    notes = []
    moments = [moment for moment in (job.started, job.ended) if moment is not None]
    if not moments:
        notes.append(NO_TIME)
    elif any(moment.tzinfo is None for moment in moments):
        notes.append("its times are those of the cluster's clock, whose zone is not known")
    if job.cpu is None:
        notes.append("the processor time that it used is not known")
    if job.max_rss is None:
        notes.append("the memory that it used is not known")
    return notes


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _given(job: SlurmJob, pattern: str | None) -> Path | None:
    """Return the path that a caller's pattern gives a job."""
    path = job.expanded(pattern) if pattern else None
    return Path(path) if path else None


def _named(job: SlurmJob, pattern: str, beside: Path | None) -> Path | None:
    """Return the path that Slurm names for a job."""
    path = job.expanded(pattern) if pattern else None
    if not path or not Path(path).name:
        return None
    if beside is not None:
        return beside / Path(path).name
    return Path(job.folder or "/") / path
