"""Carrying out one task of a plan, in this process or in one that a backend started elsewhere."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rra._base import canonical
from rra._base.files import atomic_write
from rra.artifact import Artifact, layout
from rra.errors import RraError
from rra.evidence import EvidenceStore
from rra.launch.building import build_environment
from rra.launch.claims import claimed
from rra.launch.live import Growing
from rra.launch.outputs import publish_outputs
from rra.launch.recovery import recover_runs
from rra.launch.request import RunRequest
from rra.launch.run import isolation_of, run_launcher
from rra.launch.standing import Standings
from rra.launch.tasks import PLAN, Plan, Task
from rra.sandbox import Gpu, Sandbox

RESULTS = "results"

Progress = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """What became of one task.

    Attributes:
        task: Its id.
        ok: Whether the run succeeded.
        message: How it ended, with its last lines where it failed.
        termination: The word of its record; empty when there is none.
        seconds: Wall time.
        record: Digest of its record; empty when there is none.
        evidence: Folder of the record, relative to the artifact.
        sandbox: Isolation of the run.
        recorder: What the recorder could see.
        uncollected: Files in its copy of the code that look like results and are not kept.
        failed_cells: Cells of executed notebooks that failed, as the record has them.
        error: Why it could not even be tried: ``slug``, ``message``, ``hint`` and ``exit_code``.
        taken: Whether it is the run of another process, which had begun before this one.
    """

    task: str
    ok: bool
    message: str
    termination: str = ""
    seconds: float = 0.0
    record: str = ""
    evidence: str = ""
    sandbox: str = ""
    recorder: str = ""
    uncollected: tuple[str, ...] = ()
    failed_cells: tuple[Mapping[str, Any], ...] = ()
    error: Mapping[str, Any] | None = None
    taken: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> TaskResult:
        """Return the result that `to_json` wrote."""
        lists = {name: tuple(plain[name]) for name in ("uncollected", "failed_cells")}
        return cls(**{**plain, **lists})


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """Where a task runs.

    Attributes:
        sandbox: Isolation where the environment brings none of its own.
        gpus: Cards that are its own; None for all.
    """

    sandbox: Sandbox
    gpus: Sequence[Gpu] | None = None


def run_task(
    plan: Plan,
    task: Task,
    *,
    artifact: Artifact,
    place: Place,
    progress: Progress,
    on_line: Progress | None = None,
    on_place: Callable[[Growing], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> TaskResult:
    """Carry out one task: build its environment if need be, run it, keep its evidence.

    Args:
        plan: The plan that it belongs to.
        task: The task; what it needs has run.
        artifact: The artifact.
        place: Its isolation and its cards.
        progress: Told about steps that may last.
        on_line: Called from another thread with the newest line that the launcher prints.
        on_place: Told where the run writes, just before it starts.
        cancelled: Asked now and then while it runs; true ends it, and its record says so.

    Raises:
        RraError: The run could not even be tried.
    """
    launcher, sandbox = artifact.manifest.launchers[task.launcher], place.sandbox
    environment = build_environment(
        artifact, launcher.environment, progress=progress, sandbox=sandbox
    )
    if cancelled():
        return not_begun(task)
    progress(f"running {task.id} (sandbox {isolation_of(environment, sandbox).name})")
    done = run_launcher(
        RunRequest(
            artifact=artifact,
            launcher=task.launcher,
            environment=environment,
            outputs_root=artifact.root / layout.OUTPUTS_DIR,
            evidence=EvidenceStore(artifact.root / layout.EVIDENCE_DIR),
            nonce=plan.nonce,
            seed=task.seed,
            parameters=task.parameters,
            smoke=plan.asked.smoke,
            instance=task.instance,
            sandbox=sandbox,
            on_line=on_line,
            on_place=on_place,
            core=plan.core,
            needs={need.place: need.task for need in task.needs},
            key=task.key,
            secrets=os.environ,
            cancelled=cancelled,
            gpus=place.gpus,
        )
    )
    folder = done.evidence_dir
    return TaskResult(
        task=task.id,
        ok=done.ok,
        message=done.message,
        termination=done.record.termination,
        seconds=done.record.resources.wall,
        record=done.record_digest,
        evidence=str(folder.relative_to(artifact.root)) if folder is not None else "",
        sandbox=done.record.sandbox.level,
        recorder=done.record.recorder.level,
        uncollected=done.uncollected,
        failed_cells=tuple(one.to_json() for one in done.record.failed_cells or []),
    )


def run_once(
    plan: Plan,
    task: Task,
    run: Callable[[], TaskResult],
    *,
    artifact: Artifact,
    directory: Path,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> TaskResult:
    """Run a task that no other process runs; where one does, wait for it and take what it made.

    A task that is forced is run whatever others do.

    Args:
        plan: The plan that it belongs to.
        task: The task.
        run: Carries it out (`run_task`).
        artifact: The artifact.
        directory: Folder of the plan.
        progress: Told when there is something to wait for.
        cancelled: Asked while it waits.

    Raises:
        RraError: The run could not even be tried.
    """
    if task.id in plan.forced:
        return run()
    outputs = artifact.root / layout.OUTPUTS_DIR
    claim = claimed(outputs, task, plan=directory / PLAN, progress=progress, cancelled=cancelled)
    with claim as was_held:
        if cancelled():
            return not_begun(task)
        made = _made_meanwhile(plan, task, artifact) if was_held else None
        return made or run()


def _made_meanwhile(plan: Plan, task: Task, artifact: Artifact) -> TaskResult | None:
    """Return the result of a task that another process has run by now, its outputs in place."""
    outputs = artifact.root / layout.OUTPUTS_DIR
    store = EvidenceStore(artifact.root / layout.EVIDENCE_DIR)
    recover_runs(artifact, outputs, store)
    standing = Standings(artifact, plan, outputs).of(task)
    stored = standing.stored
    if standing.state == "due" or stored is None:
        return None
    if standing.state == "kept":
        place, digest = Path(task.id), stored.digest
        publish_outputs(stored.outputs, outputs, place, record=digest, evidence=store)
    record = stored.record
    return TaskResult(
        task=task.id,
        ok=True,
        message=f"{task.id} was run by another rra meanwhile",
        termination=record.termination,
        seconds=record.resources.wall,
        record=stored.digest,
        evidence=str(stored.directory.relative_to(artifact.root)),
        sandbox=record.sandbox.level,
        recorder=record.recorder.level,
        taken=True,
    )


def not_begun(task: Task) -> TaskResult:
    """Return the result of a task that was cancelled before its launcher was started."""
    message = f"{task.id} was cancelled before it began"
    return TaskResult(task=task.id, ok=False, message=message, termination="cancelled")


def result_path(directory: Path, task: Task) -> Path:
    """Return the file of a plan's folder in which the process of a task leaves its result."""
    return directory / RESULTS / f"{task.file_stem}.json"


def refused(task: Task, error: RraError) -> TaskResult:
    """Return the result of a task that could not even be tried."""
    said = {
        "slug": error.slug,
        "message": error.message,
        "hint": error.hint,
        "exit_code": error.exit_code,
    }
    return TaskResult(task=task.id, ok=False, message=error.message, error=said)


def write_result(directory: Path, task: Task, result: TaskResult) -> None:
    """Leave the result of a task in the folder of its plan, whole or not at all.

    Raises:
        StorageError: The disk is full or refuses.
    """
    atomic_write(result_path(directory, task), canonical.dumps(result.to_json()) + b"\n")


def read_result(directory: Path, task: Task) -> TaskResult | None:
    """Return the result that the process of a task left, or None while there is none."""
    path = result_path(directory, task)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    return TaskResult.from_json(json.loads(content))


def has_ended(directory: Path, task: Task) -> bool:
    """Tell whether the process of a task has left a result."""
    return os.path.exists(result_path(directory, task))  # noqa: PTH110 - asked often
