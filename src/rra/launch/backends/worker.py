"""One task of a plan in a process of its own, as a job on a cluster runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rra.artifact import load_artifact
from rra.errors import RraError, UsageError
from rra.launch.backends.local import LocalBackend
from rra.launch.backends.protocol import Campaign, unheard
from rra.launch.execute import TaskResult, refused, write_result
from rra.launch.tasks import PLAN, Plan, Task, read_plan

_SECONDS = 3600.0


def run_task_of(
    directory: Path,
    task_id: str,
    *,
    progress: Callable[[str], None],
    on_line: Callable[[str, str], None] = unheard,
) -> TaskResult:
    """Carry out one task of the plan in a folder, and leave its result there.

    The result appears whole or not at all, also for a run that could not even be tried, and for
    one that an interrupt ends: it is cancelled, and its record says so.

    Args:
        directory: Folder with ``plan.json``.
        task_id: Id of the task; what it needs has run.
        progress: Told about steps that may last.
        on_line: Told the task's id and the newest line that its launcher prints.

    Raises:
        CorruptError: There is no plan.
        UsageError: The plan has no such task.
    """
    plan = read_plan(directory / PLAN)
    try:
        task = plan.task(task_id)
    except KeyError as error:
        message = f"{directory / PLAN} has no task {task_id!r}"
        known = ", ".join(one.id for one in plan.tasks[:5])
        raise UsageError(message, hint=f"its first tasks are: {known}") from error
    try:
        result = _run(plan, task, directory, progress, on_line)
    except RraError as error:
        result = refused(task, error)
    write_result(directory, task, result)
    return result


def _run(
    plan: Plan,
    task: Task,
    directory: Path,
    progress: Callable[[str], None],
    on_line: Callable[[str, str], None],
) -> TaskResult:
    campaign = Campaign(
        artifact=load_artifact(plan.artifact),
        plan=plan,
        directory=directory,
        progress=progress,
        on_line=on_line,
    )
    session = LocalBackend().open(campaign)
    session.submit([task])
    try:
        while not session.poll(_SECONDS):
            pass
    except KeyboardInterrupt:
        session.cancel()
        while not session.poll(_SECONDS):
            pass
        write_result(directory, task, session.collect(task))
        raise
    return session.collect(task)
