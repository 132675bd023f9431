"""``rra run``: run launchers, isolated and recorded, and select their values."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra._base.progress import Activity, LiveProgress
from rra.api._result import Progress, VerbResult, silent
from rra.api._run_values import ObtainedValue, obtained_values
from rra.artifact import Artifact, layout, load_artifact
from rra.artifact.left_out import left_out
from rra.errors import Problem, UsageError

if TYPE_CHECKING:
    from rra.launch import Asked, Plan, Standing, Task, TaskEnd
    from rra.launch.backends import Backend, Running
    from rra.launch.execute import TaskResult

_NAMED = 5
"""Most files that one note names."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class LauncherRun:
    """What one run gave, or the earlier run that still stands for it.

    Attributes:
        task: Its id: the launcher, and the instance where it is named.
        state: ``ran``; ``current`` when an earlier run stands; ``kept`` when its outputs were
            put back from the evidence, too.
        reason: Why it ran, or did not.
        ok: Whether it ended with status 0 and left every required output.
        message: What went wrong, or one line that all went well.
        seconds: Wall time.
        record: Digest of the execution record.
        evidence: Folder of the evidence, relative to the artifact.
        sandbox: Isolation of the run.
        recorder: What the recorder could see.
        notes: What the author should know of it, such as files that nothing kept.
        failed_cells: Cells of executed notebooks that failed: ``path``, ``cell``, ``error``.
    """

    launcher: str
    instance: str
    task: str
    seed: int | None
    state: str
    reason: str
    ok: bool
    message: str
    seconds: float
    record: str
    evidence: str
    sandbox: str
    recorder: str
    notes: tuple[str, ...] = ()
    failed_cells: tuple[Mapping[str, Any], ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """One task of a plan that was only shown.

    Attributes:
        task: Its id: the launcher, and the instance where it is named.
        needs: Tasks whose outputs it reads.
        due: Whether it would run.
        reason: Why, or why not.
        seconds: Seconds that it took its author, where that is known.
        key: Digest of everything that decides what it does.
    """

    task: str
    launcher: str
    instance: str
    parameters: Mapping[str, Any]
    seed: int | None
    needs: tuple[str, ...]
    due: bool
    reason: str
    cpu: float
    memory: int
    gpu: int
    disk: int
    seconds: float | None
    key: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExportedPlan:
    """A file that runs the plan without `rra`.

    Attributes:
        file: The file.
        kind: ``make``, ``snakemake`` or ``sbatch``.
        tasks: Ids of the tasks in it, each after those it needs.
        start: Command that starts it in the directory of the artifact.
    """

    file: str
    kind: str
    tasks: tuple[str, ...]
    start: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunSetResult(VerbResult):
    """All runs of the call, and the values they gave; or the plan, where it was only shown."""

    root: Path
    nonce: str
    runs: tuple[LauncherRun, ...]
    values: tuple[ObtainedValue, ...]
    plan: tuple[PlannedRun, ...] | None = None
    exported: ExportedPlan | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        shown: dict[str, Any] = {
            "artifact": str(self.root),
            "nonce": self.nonce,
            "runs": [dataclasses.asdict(run) for run in self.runs],
            "values": [dataclasses.asdict(value) for value in self.values],
        }
        if self.plan is not None:
            shown["plan"] = [dataclasses.asdict(one) for one in self.plan]
        if self.exported is not None:
            shown["exported"] = dataclasses.asdict(self.exported)
        return shown


def run(  # noqa: PLR0913 - one argument for each option of the verb
    path: Path,
    *,
    launchers: Sequence[str] = (),
    parameters: Mapping[str, str] | None = None,
    seed: int | None = None,
    seeds: str | Sequence[int] | None = None,
    matrix: bool = False,
    smoke: bool = False,
    reduced: bool = False,
    jobs: int | None = None,
    resume: bool = False,
    force: bool = False,
    backend: str = "local",
    dry_run: bool = False,
    sandbox: str | None = None,
    export: Path | None = None,
    task: str | None = None,
    progress: Progress = silent,
) -> RunSetResult:
    """Run launchers in the order of their needs and keep the evidence.

    What ran already with the same launcher, parameters, seed, code, data and environment is not
    run again as long as its outputs are as it left them.

    Args:
        path: Directory of the artifact.
        launchers: Ids; all by default.
        parameters: Values of parameters as text, for the launchers that have them.
        seed: Seed given to every launcher.
        seeds: Seeds that each launcher with `seeds` is run with: numbers, or text such as ``0:5``
            or ``declared``.
        matrix: Run each combination of the matrix of launchers that have one.
        smoke: Use the short parameters where a launcher has them.
        reduced: Use the reduced parameters where a launcher has them.
        jobs: Most launchers that run at a time, within what they declare to need; one by default on
            this machine. On a cluster, most of one array of jobs; as many as it lets by default.
        resume: Take up the last call on this artifact; its launchers, parameters and seeds count.
        force: Run the launchers that are named, or all, though they are up to date.
        backend: Where they run: ``local``, ``slurm``, or one that a distribution adds.
        dry_run: Only say what would run, and why.
        sandbox: ``bwrap`` or ``none``; the best that works by default.
        export: Run nothing, and write the plan into this file, which needs no `rra`: for make
            (``Makefile``, ``*.mk``), Snakemake (``Snakefile``, ``*.smk``) or Slurm (``*.sbatch``).
        task: Carry out this task, and nothing else, of the plan in the folder `path`. That is
            what a job that a backend submitted does.
        progress: Called with one line for each step and with the launcher's last lines.

    Raises:
        UsageError: A launcher, parameter or backend is unknown, options do not go together, or
            the environment is not locked.
        EnvironmentBuildError: The environment cannot be built.
        UnavailableError: Data that the artifact does not bring cannot be had.
    """
    from rra.launch import Asked, parse_seeds

    if task is not None:
        return _one_task(path, task, progress)
    given = parse_seeds(seeds) if isinstance(seeds, str) else seeds
    asked = Asked(
        launchers=tuple(launchers),
        parameters=dict(parameters or {}),
        seed=seed,
        seeds=given if given is None or isinstance(given, str) else tuple(given),
        matrix=matrix,
        smoke=smoke,
        reduced=reduced,
    )
    how = _How(jobs, resume, force, backend, dry_run, sandbox, progress)
    if export is not None:
        return _exported(load_artifact(path), asked, export, how)
    return _planned_and_run(load_artifact(path), asked, how)


@dataclasses.dataclass(frozen=True, slots=True)
class _How:
    """How what was asked for is carried out; see `run`."""

    jobs: int | None
    resume: bool
    force: bool
    backend: str
    dry_run: bool
    sandbox: str | None
    progress: Progress


def _planned_and_run(artifact: Artifact, asked: Asked, how: _How) -> RunSetResult:
    from rra.launch import fetch_data, find_backend, make_plan, order_launchers
    from rra.sandbox import best_sandbox

    if how.jobs is not None and how.jobs < 1:
        message = f"--jobs {how.jobs}: at least one"
        raise UsageError(message, hint="leave it out to run one at a time")
    last = _last(artifact, asked) if how.resume else None
    name = how.backend
    if last is not None:
        asked, name = last[1].asked, last[1].backend
    if not how.dry_run:
        best_sandbox(how.sandbox)
    backend = find_backend(name)
    if not how.dry_run:
        order = order_launchers(artifact.manifest, asked.launchers or None)
        fetch_data(artifact, order, progress=how.progress)
    plan = make_plan(artifact, asked, sandbox=how.sandbox, backend=name)
    problems = (*artifact.warnings, *left_out(artifact.document, _ids(plan), matrix=asked.matrix))
    if how.dry_run:
        return _shown(artifact, plan, _forced(artifact, plan, last, force=how.force), problems)
    return _carried_out(artifact, plan, backend, last, problems, how)


def _exported(artifact: Artifact, asked: Asked, file: Path, how: _How) -> RunSetResult:
    """Write the plan as a file of another tool, and touch nothing else."""
    from rra.launch import export_plan, make_plan

    idle = {
        "--jobs": how.jobs is not None,
        "--resume": how.resume,
        "--force": how.force,
        "--backend": how.backend != "local",
        "--dry-run": how.dry_run,
        "--sandbox": how.sandbox is not None,
    }
    for option, given in idle.items():
        if given:
            message = f"--export writes what is run elsewhere, to which {option} says nothing"
            raise UsageError(message, hint=f"leave out {option}")
    plan = make_plan(artifact, asked)
    made = export_plan(artifact, plan, file)
    return RunSetResult(
        root=artifact.root,
        nonce=plan.nonce,
        runs=(),
        values=(),
        exported=ExportedPlan(
            file=str(made.path), kind=made.kind, tasks=made.tasks, start=made.start
        ),
        problems=(
            *artifact.warnings,
            *left_out(artifact.document, _ids(plan), matrix=asked.matrix),
            *_needing_copy(artifact, plan),
        ),
    )


def _needing_copy(artifact: Artifact, plan: Plan) -> list[Problem]:
    """Warn of launchers that need a copy of the code, which an exported file does not make."""
    from rra.launch.exports.export import without_code_dir

    return [
        artifact.document.problem(
            ("launchers", name, "entry"),
            f"{name} uses RRA_CODE_DIR, which is not set where the file is started",
            hint='let it fall back to the code itself: "${RRA_CODE_DIR:-DIRECTORY}"',
            severity="warning",
        )
        for name in without_code_dir(artifact, plan)
    ]


def _one_task(directory: Path, name: str, progress: Progress) -> RunSetResult:
    """Carry out one task of the plan in a folder; its result is left there, too."""
    from rra.launch import TaskEnd, read_plan, run_task_of
    from rra.launch.tasks import PLAN

    plan = read_plan(directory / PLAN)
    watched = _Watched(plan, progress)
    result = run_task_of(directory, name, progress=progress, on_line=watched.line)
    end = TaskEnd(task=plan.task(name), state="ran", reason="it was asked for", result=result)
    return RunSetResult(
        root=plan.artifact,
        nonce=plan.nonce,
        runs=(_summary(plan.artifact, end),),
        values=(),
        exit_code=0 if result.ok else int((result.error or {}).get("exit_code", 1)),
    )


def _last(artifact: Artifact, asked: Asked) -> tuple[Path, Plan]:
    """Return the campaign that is resumed, of which the caller may ask nothing else."""
    from rra.launch import Asked, latest_campaign

    if asked != Asked():
        message = "--resume takes up the last run as it was asked for"
        raise UsageError(message, hint="leave out launchers, parameters and seeds")
    last = latest_campaign(artifact.root / layout.OUTPUTS_DIR)
    if last is None:
        raise UsageError("there is no run to resume", hint="begin one: rra run")
    return last


def _ids(plan: Plan) -> list[str]:
    return list(dict.fromkeys(task.launcher for task in plan))


def _forced(
    artifact: Artifact, plan: Plan, last: tuple[Path, Plan] | None, *, force: bool
) -> set[str]:
    """Return the tasks of the launchers that were named, not those of what they need.

    What the call that is taken up had forced and not made is forced still.
    """
    from rra.launch.standing import still_forced

    named = plan.asked.launchers
    earlier = still_forced(artifact, last[1]) if last is not None else set()
    return {
        task.id
        for task in plan
        if (force and (not named or task.launcher in named)) or task.id in earlier
    }


def _carried_out(
    artifact: Artifact,
    plan: Plan,
    place: Backend,
    last: tuple[Path, Plan] | None,
    problems: tuple[Problem, ...],
    how: _How,
) -> RunSetResult:
    from rra.api._evidence import record_cut_off
    from rra.launch import Campaign, campaign_folder, carry_out

    problems = (*problems, *record_cut_off(artifact, how.progress))
    taken_up = None
    if last is not None and place.ordered and last[1].tasks == plan.tasks:
        taken_up, plan = last
    forced = _forced(artifact, plan, last, force=how.force)
    plan = dataclasses.replace(plan, forced=tuple(sorted(forced)))
    watched = _Watched(plan, how.progress, artifact)
    with (
        contextlib.closing(watched),
        campaign_folder(artifact.root / layout.OUTPUTS_DIR, plan, taken_up=taken_up) as directory,
    ):
        ends = carry_out(
            Campaign(
                artifact=artifact,
                plan=plan,
                directory=directory,
                jobs=how.jobs,
                progress=how.progress,
                on_line=watched.line,
                watched=watched.live,
            ),
            place,
            forced=forced,
            tick=watched.tick,
        )
    by_task = {end.task.id: end for end in ends}
    values = tuple(obtained_values(artifact, plan, by_task))
    failed = not all(end.ok for end in ends)
    lacking = not plan.asked.smoke and any(value.error for value in values)
    return RunSetResult(
        root=artifact.root,
        nonce=plan.nonce,
        runs=tuple(_summary(artifact.root, end) for end in ends if end.state != "blocked"),
        values=values,
        exit_code=1 if failed or lacking else 0,
        problems=(*problems, *_blocked(artifact, ends)),
    )


class _Watched:
    """Shows what runs: live where that is wanted, else each launcher's newest line by its name."""

    def __init__(self, plan: Plan, progress: Progress, artifact: Artifact | None = None) -> None:
        from rra.launch.live import LiveMetrics

        self._tasks = {task.id: task for task in plan}
        self._progress = progress
        self.live = isinstance(progress, LiveProgress)
        self._metrics = LiveMetrics(artifact) if artifact is not None and self.live else None

    def line(self, task: str, line: str) -> None:
        if not self.live:
            self._progress(f"{task}: {line}")

    def tick(self, running: Sequence[Running]) -> None:
        if isinstance(self._progress, LiveProgress):
            self._progress.watch([self._activity(one) for one in running])

    def close(self) -> None:
        """Look at nothing any more."""
        if self._metrics is not None:
            self._metrics.close()

    def _activity(self, one: Running) -> Activity:
        task = self._tasks[one.task]
        return Activity(
            name=one.task,
            seconds=one.seconds if one.state == "running" else None,
            expected=task.hint,
            memory=one.memory,
            memory_declared=task.share.memory,
            line=one.line or one.detail,
            metrics=self._metrics.of(one.task, task.launcher, one.place) if self._metrics else (),
        )


def _summary(root: Path, end: TaskEnd) -> LauncherRun:
    task, result, stored = end.task, end.result, end.stored
    facts: dict[str, Any] = {}
    if result is not None:
        facts = {
            "ok": result.ok,
            "message": result.message,
            "seconds": result.seconds,
            "record": result.record,
            "evidence": result.evidence,
            "sandbox": result.sandbox,
            "recorder": result.recorder,
            "notes": (*_left_out(result), *_lost(result.uncollected)),
            "failed_cells": result.failed_cells,
        }
    elif stored is not None:
        facts = {
            "ok": True,
            "message": f"{task.id} is {end.reason}",
            "seconds": stored.record.resources.wall,
            "record": stored.digest,
            "evidence": str(stored.directory.relative_to(root)),
            "sandbox": stored.record.sandbox.level,
            "recorder": stored.record.recorder.level,
        }
    return LauncherRun(
        launcher=task.launcher,
        instance=task.instance,
        task=task.id,
        seed=task.seed,
        state=end.state,
        reason=end.reason,
        **facts,
    )


def _shown(
    artifact: Artifact, plan: Plan, forced: set[str], problems: tuple[Problem, ...]
) -> RunSetResult:
    """Return the plan with what each task would do, and touch nothing."""
    from rra.launch import Standings

    standings = Standings(artifact, plan, artifact.root / layout.OUTPUTS_DIR).static(forced)
    return RunSetResult(
        root=artifact.root,
        nonce=plan.nonce,
        runs=(),
        values=(),
        plan=tuple(_planned(task, standings[task.id]) for task in plan),
        problems=problems,
    )


def _planned(task: Task, standing: Standing) -> PlannedRun:
    return PlannedRun(
        task=task.id,
        launcher=task.launcher,
        instance=task.instance,
        parameters=dict(task.parameters),
        seed=task.seed,
        needs=tuple(need.task for need in task.needs),
        due=standing.state == "due",
        reason=standing.reason,
        **dataclasses.asdict(task.share),
        seconds=task.hint,
        key=task.key,
    )


def _left_out(result: TaskResult) -> tuple[str, ...]:
    """Return what a run that went well left and nothing kept; others say it in their message."""
    lines = result.message.splitlines()[1:] if result.ok else []
    return tuple(
        line for line in lines if line.startswith(("left out of the outputs", "set aside"))
    )


def _lost(files: Sequence[str]) -> tuple[str, ...]:
    """Say which files of a run went with its copy of the code."""
    if not files:
        return ()
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    names = ", ".join(files[:_NAMED]) + more
    return (f"the run wrote {names} in its copy of the code, which no collect takes",)


def _blocked(artifact: Artifact, ends: Sequence[TaskEnd]) -> list[Problem]:
    return [
        artifact.document.problem(
            ("launchers", end.task.launcher),
            f"{end.task.id} did not run: a launcher it needs failed",
            clause="launch/needs",
            hint="mend the failing launcher first",
        )
        for end in ends
        if end.state == "blocked"
    ]
