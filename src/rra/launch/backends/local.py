"""Tasks on this machine: as many at a time as were asked for and as its resources allow."""

from __future__ import annotations

import dataclasses
import os
import queue
import threading
from collections.abc import Callable, Collection, Iterator, Sequence

from rra._base import clock, proctree
from rra.launch.backends.protocol import Campaign, Running
from rra.launch.execute import Place, TaskResult, not_begun, run_once, run_task
from rra.launch.live import Growing
from rra.launch.tasks import Share, Task
from rra.sandbox import Gpu, best_sandbox, gpus


def capacity() -> Share:
    """Return what this machine has: cores that we may use, memory, GPUs."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return Share(cpu=len(os.sched_getaffinity(0)), memory=pages * size, gpu=len(gpus()))


def fits(wanted: Share, taken: Sequence[Share], whole: Share) -> bool:
    """Tell whether a task has room beside others; one that asks for too much runs alone."""
    return not taken or all(
        getattr(wanted, name) + sum(getattr(one, name) for one in taken) <= getattr(whole, name)
        for name in ("cpu", "memory", "gpu")
        if getattr(wanted, name)
    )


def free_gpus(
    wanted: int, every: Sequence[Gpu], taken: Sequence[Sequence[Gpu] | None]
) -> list[Gpu] | None:
    """Return cards for a task that declares some, none of which another one has.

    Args:
        wanted: How many it declares.
        every: The cards of this machine.
        taken: Those of the tasks that run.

    Returns:
        The cards; None where it declares none, or the machine has none: it sees what there is.
    """
    if not wanted or not every:
        return None
    used = {card for cards in taken for card in cards or ()}
    return [card for card in every if card not in used][:wanted]


class LocalBackend:
    """Runs tasks on this machine, each in a thread of this process that watches its launcher."""

    name = "local"
    ordered = False

    def open(self, campaign: Campaign) -> LocalSession:
        """Begin a campaign."""
        return LocalSession(campaign, capacity())


@dataclasses.dataclass(slots=True)
class _Job:
    task: Task
    thread: threading.Thread | None = None
    gpus: list[Gpu] | None = None
    started: float = 0.0
    line: str = ""
    place: Growing | None = None
    result: TaskResult | None = None
    raised: BaseException | None = None


class LocalSession:
    """One campaign on this machine."""

    def __init__(self, campaign: Campaign, whole: Share) -> None:
        """Prepare; nothing runs yet.

        Args:
            campaign: What is carried out.
            whole: What this machine has.
        """
        self._campaign = campaign
        self._whole = whole
        self._cancelled = threading.Event()
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._jobs: dict[str, _Job] = {}

    def submit(self, tasks: Sequence[Task]) -> None:
        """Take tasks whose needs have run; they start as soon as there is room."""
        for task in tasks:
            self._jobs[task.id] = _Job(task)
        self._start()

    def poll(self, seconds: float) -> Collection[str]:
        """Wait up to some seconds for a task to end; return the ids of those that did."""
        self._start()
        found = list(self._take(seconds))
        for name in found:
            thread = self._jobs[name].thread
            if thread is not None:
                thread.join()
        self._start()
        return found

    def _take(self, seconds: float) -> Iterator[str]:
        try:
            yield self._ended.get(timeout=seconds)
            while True:
                yield self._ended.get_nowait()
        except queue.Empty:
            return

    def collect(self, task: Task) -> TaskResult:
        """Return the result of a task that has ended.

        Raises:
            RraError: Its run could not even be tried.
        """
        job = self._jobs.pop(task.id)
        if job.raised is not None:
            raise job.raised
        return job.result or not_begun(task)

    def running(self) -> Sequence[Running]:
        """Return what has been submitted and has not ended."""
        now, memory = clock.monotonic(), self._memory()
        return [
            Running(
                task=name,
                state="running" if job.thread is not None else "waiting",
                seconds=now - job.started if job.thread is not None else 0.0,
                memory=memory.get(name, 0),
                line=job.line,
                place=job.place,
            )
            for name, job in self._jobs.items()
            if job.result is None and job.raised is None
        ]

    def _memory(self) -> dict[str, int]:
        """Return what each task has in memory, where somebody looks at it."""
        if not self._campaign.watched:
            return {}
        marker = f"RRA_NONCE={self._campaign.plan.nonce}"
        found = proctree.resident(marker, "RRA_OUTPUT_DIR")
        names = {name: f"/{name}" for name in self._jobs}
        return {
            name: sum(size for place, size in found.items() if place.endswith(f"/outputs{end}"))
            for name, end in names.items()
        }

    def cancel(self) -> None:
        """Let every run end, and none begin."""
        self._cancelled.set()
        for name, job in self._jobs.items():
            if job.thread is None:
                self._ended.put(name)

    def close(self) -> None:
        """Wait for the threads, which have nothing to do any more."""
        for job in self._jobs.values():
            if job.thread is not None:
                job.thread.join()

    def _start(self) -> None:
        """Start what has room, in the order of submission."""
        for job in self._jobs.values():
            if self._cancelled.is_set():
                return
            if job.thread is not None:
                continue
            live = [one for one in self._jobs.values() if one.thread and one.thread.is_alive()]
            room = fits(job.task.share, [one.task.share for one in live], self._whole)
            if len(live) >= (self._campaign.jobs or 1) or not room:
                return
            job.gpus = free_gpus(job.task.share.gpu, gpus(), [one.gpus for one in live])
            job.started = clock.monotonic()
            job.thread = threading.Thread(target=self._work, args=(job,), name=job.task.id)
            job.thread.start()

    def _work(self, job: _Job) -> None:
        campaign, task = self._campaign, job.task
        try:
            job.result = run_once(
                campaign.plan,
                task,
                lambda: self._run(job),
                artifact=campaign.artifact,
                directory=campaign.directory,
                progress=campaign.progress,
                cancelled=self._cancelled.is_set,
            )
        except BaseException as error:  # noqa: BLE001 - raised again by whoever collects it
            job.raised = error
        finally:
            self._ended.put(task.id)

    def _run(self, job: _Job) -> TaskResult:
        campaign = self._campaign
        return run_task(
            campaign.plan,
            job.task,
            artifact=campaign.artifact,
            place=Place(best_sandbox(campaign.plan.sandbox), job.gpus),
            progress=campaign.progress,
            on_line=self._noting(job),
            on_place=self._placing(job) if campaign.watched else None,
            cancelled=self._cancelled.is_set,
        )

    def _placing(self, job: _Job) -> Callable[[Growing], None]:
        def place(growing: Growing) -> None:
            job.place = growing

        return place

    def _noting(self, job: _Job) -> Callable[[str], None]:
        def note(line: str) -> None:
            job.line = line
            self._campaign.on_line(job.task.id, line)

        return note
