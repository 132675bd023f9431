"""Carrying out a plan: what is due is run, in the order of the needs; the rest is left alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Literal

from rra._base import clock
from rra.artifact import layout
from rra.errors import HungUp, LaunchError, RraError, ToolMissingError, UsageError
from rra.evidence import EvidenceStore, StoredRecord
from rra.launch.backends.protocol import Backend, Campaign, Running, Session
from rra.launch.execute import TaskResult, refused
from rra.launch.outputs import publish_outputs
from rra.launch.standing import Standing, Standings
from rra.launch.tasks import Task

_TICK_SECONDS = 0.5
_CANCEL_SECONDS = 20.0
"""How long cancelled tasks may take to end: their grace, and the writing of their records."""

Tick = Callable[[Sequence[Running]], None]
"""Told now and then what is running."""

State = Literal["ran", "current", "kept", "blocked"]


def unseen(running: Sequence[Running]) -> None:
    """Take what is running and drop it."""
    del running


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnd:
    """What became of one task of a plan.

    Attributes:
        task: The task.
        state: ``ran``; ``current`` or ``kept`` when it did not have to; ``blocked`` when a task
            that it needs did not succeed.
        reason: Why it ran, or did not.
        result: Of the run, if it ran.
        stored: The record that stands for it, if it did not have to run.
    """

    task: Task
    state: State
    reason: str
    result: TaskResult | None = None
    stored: StoredRecord | None = None

    @property
    def ok(self) -> bool:
        """Whether the outputs of the task are in place and of its key."""
        return self.state in {"current", "kept"} or (self.result is not None and self.result.ok)


def carry_out(
    campaign: Campaign,
    backend: Backend,
    *,
    forced: Collection[str] = (),
    tick: Tick = unseen,
) -> list[TaskEnd]:
    """Run what is due of a plan, and return what became of each task, in its order.

    A task that fails, or whose launcher is refused, stops only what needs it. An interrupt, or an
    environment or a disk that refuses, cancels everything else first; when only the terminal is
    gone, tasks of a backend that goes on without us do.

    Args:
        campaign: The plan and what belongs to it.
        backend: Where tasks run.
        forced: Ids of tasks that run though they are up to date.
        tick: Told now and then what is running.

    Raises:
        RraError: An environment, the disk or the backend refuses; or nothing of the plan could
            even be tried.
        KeyboardInterrupt: The caller was interrupted.
    """
    session = backend.open(campaign)
    try:
        return _Driver(campaign, session, forced, tick).run(ordered=backend.ordered)
    except BaseException as ending:
        if not (isinstance(ending, HungUp) and backend.ordered):
            _cancel(session)
        raise
    finally:
        session.close()


def _cancel(session: Session) -> None:
    """End what is running, within bounds: the process may be ended next."""
    session.cancel()
    end = clock.monotonic() + _CANCEL_SECONDS
    while session.running() and clock.monotonic() < end:
        session.poll(_TICK_SECONDS)


class _Driver:
    def __init__(
        self,
        campaign: Campaign,
        session: Session,
        forced: Collection[str],
        tick: Tick,
    ) -> None:
        self._campaign = campaign
        self._session = session
        self._forced = forced
        self._tick = tick
        self._outputs = campaign.artifact.root / layout.OUTPUTS_DIR
        self._standings = Standings(campaign.artifact, campaign.plan, self._outputs)
        self._tasks = {task.id: task for task in campaign.plan}
        self._order = {name: number for number, name in enumerate(self._tasks)}
        self._waiting = dict(self._tasks)
        self._reasons: dict[str, str] = {}
        self._ended: dict[str, TaskEnd] = {}
        self._refused: list[RraError] = []

    def run(self, *, ordered: bool) -> list[TaskEnd]:
        if ordered:
            self._submit_all()
        else:
            self._submit_ready()
        while self._reasons.keys() - self._ended.keys():
            self._tick(self._session.running())
            for name in sorted(self._session.poll(_TICK_SECONDS), key=self._order.__getitem__):
                self._collect(self._tasks[name])
            if not ordered:
                self._submit_ready()
        self._tick(())
        if self._refused and all(_came_to_nothing(end) for end in self._ended.values()):
            raise self._refused[0]
        return [self._ended[task.id] for task in self._campaign.plan]

    def _submit_all(self) -> None:
        """Give everything that is due to a backend that keeps the order itself."""
        due = []
        for name, standing in self._standings.static(self._forced).items():
            task = self._waiting.pop(name)
            if standing.state == "due":
                self._reasons[name] = standing.reason
                due.append(task)
            else:
                self._stands(task, standing)
        self._session.submit(due)

    def _submit_ready(self) -> None:
        """Give out what has all that it needs; what turns out to stand makes others ready."""
        for task in list(self._waiting.values()):
            needs = [self._ended.get(need.task) for need in task.needs]
            if any(one is not None and not one.ok for one in needs):
                del self._waiting[task.id]
                self._ended[task.id] = self._blocked(task)
            elif all(one is not None for one in needs):
                del self._waiting[task.id]
                self._begin(task)

    def _begin(self, task: Task) -> None:
        standing = self._standings.of(task)
        if task.id in self._forced:
            standing = Standing("due", "forced", standing.stored)
        if standing.state == "due":
            self._reasons[task.id] = standing.reason
            self._session.submit([task])
        else:
            self._stands(task, standing)

    def _stands(self, task: Task, standing: Standing) -> None:
        stored = standing.stored
        if standing.state == "kept" and stored is not None:
            store = EvidenceStore(self._campaign.artifact.root / layout.EVIDENCE_DIR)
            for spared in publish_outputs(
                stored.outputs,
                self._outputs,
                Path(task.id),
                record=stored.digest,
                evidence=store,
            ):
                self._campaign.progress(f"{task.id}: set aside, since no run had left it: {spared}")
        self._campaign.progress(f"{task.id}: {standing.reason}")
        state: State = "kept" if standing.state == "kept" else "current"
        self._ended[task.id] = TaskEnd(
            task=task, state=state, reason=standing.reason, stored=stored
        )

    def _collect(self, task: Task) -> None:
        result = self._result(task)
        needs = [self._ended.get(need.task) for need in task.needs]
        if not result.ok and not result.record and any(one and not one.ok for one in needs):
            self._ended[task.id] = self._blocked(task)
            return
        if result.ok and result.taken:
            standing = self._standings.of(task)
            if standing.state != "due":
                self._stands(task, standing)
                return
        reason = self._reasons[task.id]
        self._ended[task.id] = TaskEnd(task=task, state="ran", reason=reason, result=result)

    def _result(self, task: Task) -> TaskResult:
        """Return what became of a task; a launcher that is refused says nothing of the others."""
        try:
            return self._session.collect(task)
        except (LaunchError, UsageError, ToolMissingError) as error:
            self._refused.append(error)
            hint = f" ({error.hint})" if error.hint else ""
            return dataclasses.replace(refused(task, error), message=f"{error.message}{hint}")

    def _blocked(self, task: Task) -> TaskEnd:
        ends = {need.task: self._ended.get(need.task) for need in task.needs}
        failed = [name for name, end in ends.items() if end is not None and not end.ok]
        reason = f"{', '.join(failed)} did not succeed"
        return TaskEnd(task=task, state="blocked", reason=reason)


def _came_to_nothing(end: TaskEnd) -> bool:
    """Tell whether a task was refused before its launcher began, or waited for such a one."""
    return end.state == "blocked" or (end.result is not None and end.result.error is not None)
