"""What a backend is: something that takes tasks, runs them somewhere, and says how they ended.

`rra.launch.schedule` drives it: it decides which tasks of a plan are due, gives them to a session
in an order that fits their needs, and asks for the results. A backend knows nothing of keys,
evidence or outcomes. Where it runs a task in a process of its own, that process is
``rra run --task DIRECTORY ID``, which reads the plan in the folder of the campaign and leaves its
result beside it (`rra.launch.execute.run_task_of`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from rra.artifact import Artifact
from rra.launch.execute import TaskResult
from rra.launch.live import Growing
from rra.launch.tasks import Plan, Task


def unheard(task: str, line: str) -> None:
    """Take a line that a launcher printed and drop it."""
    del task, line


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """One plan that is being carried out, and everything that a backend may need for it.

    Attributes:
        artifact: The artifact.
        plan: The plan; it stands as ``plan.json`` in the folder, too.
        directory: Folder of the campaign, on the file system of the outputs. Results lie in
            it; a backend may keep files of its own in a folder of its own name.
        jobs: Most tasks at a time; None leaves that to the backend.
        progress: Told about steps that may last, from any thread.
        on_line: Told a task's id and the newest line that its launcher prints, from any thread.
        watched: Whether somebody looks at what runs, so that its memory is worth asking for.
    """

    artifact: Artifact
    plan: Plan
    directory: Path
    jobs: int | None = None
    progress: Callable[[str], None]
    on_line: Callable[[str, str], None] = unheard
    watched: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A task that has been submitted and has not ended.

    Attributes:
        task: Its id.
        state: ``waiting`` for room, or ``running``.
        seconds: How long it has been running; 0 while it waits.
        memory: Bytes that it has in memory, where that can be seen.
        line: The newest line of its launcher, where that can be seen.
        detail: What the backend calls it, such as a job's number.
        place: Where it writes, where that can be seen.
    """

    task: str
    state: str
    seconds: float = 0.0
    memory: int = 0
    line: str = ""
    detail: str = ""
    place: Growing | None = None


class Session(Protocol):
    """One campaign on a backend."""

    def submit(self, tasks: Sequence[Task]) -> None:
        """Take tasks, each after those of the same call that it needs, and return soon.

        To a backend that is not `ordered`, a task comes only when all that it needs has
        succeeded. An ordered one gets every due task at once, starts each when what it needs has
        succeeded, and collects for one that never starts a result that is not ok.

        Raises:
            UnavailableError: The backend refuses.
        """

    def poll(self, seconds: float) -> Collection[str]:
        """Wait up to some seconds for tasks to end; return the ids of those that did.

        Each id is returned once. The call may be interrupted.
        """

    def collect(self, task: Task) -> TaskResult:
        """Return the result of a task that has ended.

        Raises:
            RraError: Its run could not even be tried.
        """

    def running(self) -> Sequence[Running]:
        """Return what has been submitted and has not ended, in the order of submission."""

    def cancel(self) -> None:
        """Ask every task that has not ended to end; `poll` returns them when they have.

        A task that had not started ends too, with a result that is not ok.
        """

    def close(self) -> None:
        """Give back what the session holds. Tasks of an ordered backend go on without it."""


class Backend(Protocol):
    """A place where tasks run."""

    @property
    def name(self) -> str:
        """Its word on the command line."""

    @property
    def ordered(self) -> bool:
        """Whether it takes tasks whose needs have not run, and keeps their order itself.

        Such a backend goes on when the client dies; `open` on the same folder takes up what is
        still there.
        """

    def open(self, campaign: Campaign) -> Session:
        """Begin, or take up, a campaign.

        Raises:
            UnavailableError: The backend does not work here.
        """
