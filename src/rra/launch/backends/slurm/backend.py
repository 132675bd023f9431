"""The backend ``slurm``: a campaign whose tasks are jobs, and which goes on without its client."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Iterable, Sequence

from rra._base import clock
from rra.artifact import layout
from rra.errors import UnavailableError
from rra.evidence import EvidenceStore
from rra.launch.backends.protocol import Campaign, Running
from rra.launch.backends.slurm.arrays import Array, arrays_of, requests_of
from rra.launch.backends.slurm.client import ENDED, LOST, NEVER, STUCK, JobId, JobState, Slurm
from rra.launch.backends.slurm.journal import Group, Journal
from rra.launch.backends.slurm.script import log_pattern
from rra.launch.building import build_environment
from rra.launch.execute import (
    TaskResult,
    not_begun,
    read_result,
    result_path,
    write_result,
)
from rra.launch.recovery import recover_runs
from rra.launch.tasks import Task
from rra.sandbox import best_sandbox

_PAUSE = 0.2
"""Seconds between two looks at the files, which cost little."""

_FIRST_ASK, _LAST_ASK = 1.0, 30.0
"""Seconds between two questions to the controller, which serves a whole cluster."""

_SETTLES = 10.0
"""Seconds in which Slurm has to say how a job ended whose script has left its file."""

_PATIENCE = 2
"""How often the controller has to say that a job is gone before its missing file counts: a shared
file system may show a file seconds after it was written."""


class SlurmBackend:
    """Runs tasks as jobs of the Slurm cluster that this machine belongs to."""

    name = "slurm"
    ordered = True

    def open(self, campaign: Campaign) -> SlurmSession:
        """Begin, or take up, a campaign.

        Raises:
            UnavailableError: Slurm is not installed, or does not answer.
        """
        slurm = Slurm()
        slurm.check()
        return SlurmSession(campaign, slurm)


@dataclasses.dataclass(slots=True)
class _Job:
    """One element of an array that is watched; `told` is the reason that was said of it."""

    task: Task
    group: Group
    index: int
    state: JobState | None = None
    begun: float | None = None
    missed: int = 0
    told: str = ""

    @property
    def id(self) -> JobId:
        return self.group.job, self.index

    @property
    def place(self) -> tuple[int, int]:
        return self.group.number, self.index

    def __str__(self) -> str:
        return f"{self.group.job}_{self.index}"


class SlurmSession:
    """One campaign on Slurm."""

    def __init__(self, campaign: Campaign, slurm: Slurm) -> None:
        """Take up what an earlier client of this campaign has submitted.

        Args:
            campaign: What is carried out.
            slurm: The commands of the cluster.

        Raises:
            UnavailableError: Slurm does not answer.
        """
        self._campaign = campaign
        self._slurm = slurm
        self._journal = Journal(campaign.directory)
        self._groups = self._with_numbers(self._journal.groups())
        self._earlier = self._taken_up()
        self._watched: dict[str, _Job] = {}
        self._over: dict[str, _Job] = {}
        self._ask_after = clock.monotonic() + _FIRST_ASK
        self._pause = _FIRST_ASK
        self._away = False
        self._cancelled = False

    def _with_numbers(self, groups: list[Group]) -> list[Group]:
        """Find the numbers of arrays whose client died before it had written them down."""
        unknown = [group for group in groups if not group.job]
        found = self._slurm.numbers(sorted({group.name for group in unknown}))
        known = []
        for group in groups:
            whole = dataclasses.replace(group, job=group.job or found.get(str(group.number), ""))
            if whole != group:
                self._journal.write(whole)
            known.append(whole)
        return known

    def _taken_up(self) -> dict[str, _Job]:
        """Return what was submitted and is still to be watched or collected, by task."""
        done, ended = self._journal.done(), self._journal.ended()
        states = self._slurm.states(sorted({group.name for group in self._groups}))
        tasks = {task.id: task for task in self._campaign.plan}
        found = {}
        for group in self._groups:
            for index, name in group.tasks.items():
                place, state = (group.number, index), states.get((group.job, index))
                there = state is not None or place in ended
                if name in tasks and group.job and there and place not in done:
                    found[name] = _Job(tasks[name], group, index, state)
        return found

    def submit(self, tasks: Sequence[Task]) -> None:
        """Submit tasks, each after those of the same call that it needs; go on with earlier ones.

        Raises:
            EnvironmentBuildError: An environment of theirs cannot be built.
            UnavailableError: Slurm refuses.
        """
        for task in tasks:
            if task.id in self._earlier:
                self._watched[task.id] = self._earlier.pop(task.id)
        new = [task for task in tasks if task.id not in self._watched]
        if self._watched:
            self._campaign.progress(f"{len(self._watched)} jobs of the earlier client go on")
        self._build({task.launcher for task in new})
        for launcher in dict.fromkeys(task.launcher for task in new):
            mine = [task for task in new if task.launcher == launcher]
            jobs = {name: job.id for name, job in self._watched.items()}
            for array in arrays_of(mine, jobs):
                self._submit(launcher, array)

    def _build(self, launchers: Iterable[str]) -> None:
        """Build environments here, once: nodes often have no network."""
        artifact = self._campaign.artifact
        declared = artifact.manifest.launchers
        for name in sorted({declared[launcher].environment for launcher in launchers}):
            build_environment(
                artifact,
                name,
                progress=self._campaign.progress,
                sandbox=best_sandbox(self._campaign.plan.sandbox),
            )

    def _submit(self, launcher: str, array: Array) -> None:
        number = self._groups[-1].number + 1 if self._groups else 1
        name = f"rra-{self._campaign.plan.nonce[:12]}-{launcher}"
        group = self._journal.plan(number, name, array)
        self._groups.append(group)
        for task in array.tasks.values():
            result_path(self._campaign.directory, task).unlink(missing_ok=True)
        options = [
            f"--job-name={name}",
            f"--comment={number}",
            f"--array={_indices(array.tasks)}{self._throttle()}",
            f"--output={log_pattern(self._journal.logs, number)}",
            f"--chdir={self._journal.root}",
            "--no-requeue",
            *requests_of(next(iter(array.tasks.values())), os.environ),
        ]
        if array.waits:
            options += [f"--dependency={array.waits}", "--kill-on-invalid-dep=yes"]
        script = [str(self._journal.script), str(self._journal.root), str(number)]
        group = dataclasses.replace(group, job=self._slurm.submit(options, script))
        self._groups[-1] = group
        self._journal.write(group)
        many = f" ({len(array.tasks)} jobs)" if len(array.tasks) > 1 else ""
        self._campaign.progress(f"{launcher}: submitted as job {group.job} of Slurm{many}")
        for index, task in array.tasks.items():
            self._watched[task.id] = _Job(task, group, index)

    def _throttle(self) -> str:
        return f"%{self._campaign.jobs}" if self._campaign.jobs is not None else ""

    def poll(self, seconds: float) -> Collection[str]:
        """Wait up to some seconds for tasks to end; return the ids of those that did.

        Files are looked at first and often; the controller is asked now and then, for jobs that
        ended without leaving one. While it does not answer, the files go on to count.
        """
        end = clock.monotonic() + seconds
        while True:
            found = self._look()
            left = end - clock.monotonic()
            if found or left <= 0:
                return found
            clock.sleep(min(_PAUSE, left))

    def _look(self) -> list[str]:
        ended = self._journal.ended()
        found = [name for name, job in self._watched.items() if job.place in ended]
        if not found and clock.monotonic() >= self._ask_after:
            found = self._ask()
            self._pause = _FIRST_ASK if found else min(self._pause * 2, _LAST_ASK)
            self._ask_after = clock.monotonic() + self._pause
        for name in found:
            self._over[name] = self._watched.pop(name)
        return found

    def _ask(self) -> list[str]:
        """Ask the controller about jobs that left no file; return those that have ended."""
        begun = self._journal.begun()
        try:
            states = self._slurm.states(sorted({job.group.name for job in self._watched.values()}))
            found = [n for n, job in self._watched.items() if self._is_gone(job, states, begun)]
            never = [job.id for job in self._watched.values() if job.state and _hopeless(job.state)]
            self._slurm.cancel(never)
        except UnavailableError as error:
            if not self._away:
                self._campaign.progress(f"Slurm does not answer ({error.message}); jobs go on")
            self._away = True
            return []
        if self._away:
            self._campaign.progress("Slurm answers again")
        self._away = False
        self._tell_stuck()
        return found

    def _tell_stuck(self) -> None:
        """Say once of a job that it waits for more than its turn: nothing else shows why."""
        for name, job in self._watched.items():
            reason = "" if job.state is None else job.state.reason.partition(",")[0]
            if job.state is None or not job.state.live or reason not in STUCK or job.told == reason:
                continue
            job.told = reason
            self._campaign.progress(
                f"{name}: job {job} of Slurm does not begin ({reason}); what it asks for and where "
                f"is seen with: scontrol show job {job}"
            )

    def _is_gone(
        self, job: _Job, states: dict[JobId, JobState], begun: Collection[tuple[int, int]]
    ) -> bool:
        state = states.get(job.id)
        if state is None and job.missed:
            state = self._slurm.recall(job.id)
        job.state = state or job.state
        if job.begun is None and job.place in begun:
            job.begun = clock.monotonic()
        if state is not None and state.live:
            job.missed = 0
            return False
        job.missed += 1
        return job.missed >= _PATIENCE or (state is not None and job.place not in begun)

    def collect(self, task: Task) -> TaskResult:
        """Return the result of a task that has ended, its own or the one that Slurm gave it."""
        job = self._over.pop(task.id)
        result = read_result(self._campaign.directory, task)
        if result is not None:
            made = self._completed(job, result)
        else:
            made = self._ended_by_slurm(job)
            write_result(self._campaign.directory, task, made)
        self._journal.settle(*job.place)
        return made

    def _completed(self, job: _Job, result: TaskResult) -> TaskResult:
        """Say of a run that was asked to end why that was, where the script or Slurm knows."""
        if result.termination not in {"cancelled", "signal"} or self._cancelled:
            return self._named(result)
        word = self._word(job)
        lost = job.state is not None and job.state.state in LOST
        if word == result.termination or (word == "infrastructure" and not lost):
            return result
        why = {
            "timeout": "it reached a limit of time of its job",
            "memory": "its job took more memory than it was given",
            "cancelled": "it was cancelled",
            "infrastructure": "its job was lost, which is no fault of the launcher",
        }[word]
        message = f"{result.message}\n{why} ({job} of Slurm{_told(job.state)})"
        return dataclasses.replace(result, termination=word, message=message)

    def _named(self, result: TaskResult) -> TaskResult:
        """Give a run that could not even be tried its word; what failed there is no launcher's."""
        if result.error is None:
            return result
        hint = result.error.get("hint", "")
        message = f"{result.message} ({hint})" if hint else result.message
        return dataclasses.replace(result, termination="infrastructure", message=message)

    def _word(self, job: _Job) -> str:
        """Return the word for the end of a job that left no result of its own."""
        end = self._journal.end(*job.place)
        if end is not None and end.late:
            return "timeout"
        if self._journal.was_too_large(*job.place):
            return "memory"
        state = self._settled_state(job)
        return ENDED.get(state.state, "infrastructure") if state is not None else "infrastructure"

    def _settled_state(self, job: _Job) -> JobState | None:
        """Return the last state of a job: while its processes end, Slurm names no reason."""
        end = clock.monotonic() + _SETTLES
        while (state := self._state_now(job)) is not None and state.live:
            if clock.monotonic() >= end:
                break
            clock.sleep(_PAUSE)
        return state

    def _state_now(self, job: _Job) -> JobState | None:
        try:
            job.state = self._slurm.recall(job.id) or job.state
        except UnavailableError:
            return job.state
        return job.state

    def _ended_by_slurm(self, job: _Job) -> TaskResult:
        word = self._word(job)
        end, state = self._journal.end(*job.place), job.state
        if self._cancelled and word == "cancelled" and end is None:
            return not_begun(job.task)
        why = {
            "timeout": "had not ended at the limit of time of its job",
            "memory": "was ended for want of memory: its job took more than it was given",
            "cancelled": "was cancelled",
            "infrastructure": "ended without a result; that is no fault of the launcher",
        }[word]
        said = [f"{job.task.id} {why} (job {job} of Slurm{_told(state)})"]
        if end is not None:
            said[0] += f"; its command ended with exit status {end.status} on {end.node}"
        said += filter(None, [self._journal.last_lines(*job.place)])
        made = TaskResult(task=job.task.id, ok=False, message="\n".join(said), termination=word)
        return self._with_record(job, made)

    def _with_record(self, job: _Job, result: TaskResult) -> TaskResult:
        """Record what is known of a run whose job has ended in the middle of it."""
        artifact, jobs = self._campaign.artifact, frozenset({str(job)})
        store = EvidenceStore(artifact.root / layout.EVIDENCE_DIR)
        outputs = artifact.root / layout.OUTPUTS_DIR
        for one in recover_runs(artifact, outputs, store, ended_jobs=jobs):
            if one.job in jobs and one.stored is not None:
                record = one.stored.record
                return dataclasses.replace(
                    result,
                    message=f"{result.message}\n{one}",
                    seconds=record.resources.wall,
                    record=one.stored.digest,
                    evidence=str(one.stored.directory.relative_to(artifact.root)),
                    sandbox=record.sandbox.level,
                    recorder=record.recorder.level,
                )
        return result

    def running(self) -> Sequence[Running]:
        """Return what has been submitted and has not ended."""
        now = clock.monotonic()
        return [
            Running(
                task=name,
                state="waiting" if job.begun is None else "running",
                seconds=0.0 if job.begun is None else now - job.begun,
                detail=f"job {job}{_told(job.state)}",
            )
            for name, job in self._watched.items()
        ]

    def cancel(self) -> None:
        """Ask every job to end: what runs keeps its record, what waits never begins."""
        self._cancelled = True
        jobs = [*self._watched.values(), *self._earlier.values()]
        begun = self._journal.begun()
        self._ask_after = clock.monotonic()
        self._pause = _FIRST_ASK
        try:
            self._slurm.cancel([job.id for job in jobs if job.place not in begun])
            self._slurm.interrupt([job.id for job in jobs if job.place in begun])
        except UnavailableError as error:
            self._campaign.progress(f"jobs may go on: {error.message}")
            return
        for job in [*jobs, *self._over.values()]:
            self._journal.settle(*job.place)
            if job.place not in begun:
                write_result(self._campaign.directory, job.task, not_begun(job.task))

    def close(self) -> None:
        """Let go; jobs go on without us."""


def _hopeless(state: JobState) -> bool:
    return state.live and state.reason == NEVER


def _told(state: JobState | None) -> str:
    if state is None:
        return ""
    reason = "" if state.reason in {"None", ""} else f", {state.reason}"
    return f": {state.state}{reason}"


def _indices(numbers: Iterable[int]) -> str:
    """Write indices as Slurm reads them: ``0-4,7``."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
