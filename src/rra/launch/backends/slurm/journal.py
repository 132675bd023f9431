"""What a campaign has submitted, on disk, so that another client can take it up.

``slurm/groups/<n>.json`` says which tasks an array holds; it is there before the array is
submitted, and again with its number afterwards. ``slurm/ends/<n>.<index>.json`` appears when the
job's script ends; ``.begun`` when it begins; ``.done`` when a client has made of it what it says.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rra._base import canonical
from rra._base.files import atomic_write, storage_errors
from rra.launch.backends.slurm.arrays import Array, limit_of
from rra.launch.backends.slurm.script import job_script

FOLDER = "slurm"
_SCRIPT = "job.sh"


@dataclasses.dataclass(frozen=True, slots=True)
class Group:
    """One array of jobs.

    Attributes:
        number: Its number in the campaign.
        name: Name of the jobs in Slurm.
        tasks: Ids of the tasks by index.
        job: Number of the array in Slurm; empty while that is not known.
    """

    number: int
    name: str
    tasks: Mapping[int, str]
    job: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the group as plain JSON."""
        tasks = {str(index): task for index, task in self.tasks.items()}
        return {"number": self.number, "name": self.name, "tasks": tasks, "job": self.job}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Group:
        """Return the group that `to_json` wrote."""
        tasks = {int(index): task for index, task in plain["tasks"].items()}
        return cls(plain["number"], plain["name"], tasks, plain["job"])


@dataclasses.dataclass(frozen=True, slots=True)
class End:
    """How the script of a job ended.

    Attributes:
        status: Exit status of our command.
        late: Whether the job's own limit of time had passed.
        node: Name of the machine.
    """

    status: int
    late: bool
    node: str


class Journal:
    """The files of one campaign on Slurm."""

    def __init__(self, directory: Path) -> None:
        """Take up what is there, or begin.

        Args:
            directory: Folder of the campaign.

        Raises:
            StorageError: The disk is full or refuses.
        """
        self.root = directory.absolute() / FOLDER
        self.script = self.root / _SCRIPT
        self.logs = self.root / "logs"
        self._ends = self.root / "ends"
        self._groups = self.root / "groups"
        with storage_errors(self.root):
            for folder in (self.logs, self._ends, self._groups):
                folder.mkdir(parents=True, exist_ok=True)
        atomic_write(self.script, job_script(), mode=0o755)

    def groups(self) -> list[Group]:
        """Return every array of the campaign, the oldest first."""
        paths = sorted(self._groups.glob("*.json"), key=lambda path: int(path.stem))
        return [Group.from_json(json.loads(path.read_bytes())) for path in paths]

    def plan(self, number: int, name: str, array: Array) -> Group:
        """Write down an array that is submitted next; return it."""
        group = Group(number, name, {index: task.id for index, task in array.tasks.items()})
        lines = [f"{i}\t{limit_of(task)}\t{task.id}\n" for i, task in array.tasks.items()]
        atomic_write(self._groups / f"{number}.tsv", "".join(lines))
        self.write(group)
        return group

    def write(self, group: Group) -> None:
        """Write down what is known of an array."""
        path = self._groups / f"{group.number}.json"
        atomic_write(path, canonical.dumps(group.to_json()) + b"\n")

    def ended(self) -> set[tuple[int, int]]:
        """Return group and index of each job whose script has ended."""
        return set(self._marks("json"))

    def begun(self) -> set[tuple[int, int]]:
        """Return group and index of each job whose script has begun."""
        return set(self._marks("begun"))

    def done(self) -> set[tuple[int, int]]:
        """Return group and index of each job that a client is done with."""
        return set(self._marks("done"))

    def end(self, group: int, index: int) -> End | None:
        """Return how the script of a job ended, or None when it did not come to that."""
        try:
            plain = json.loads((self._ends / f"{group}.{index}.json").read_bytes())
        except FileNotFoundError:
            return None
        return End(plain["status"], plain["late"], plain["node"])

    def settle(self, group: int, index: int) -> None:
        """Note that a client is done with a job: it will not be taken up again."""
        with storage_errors(self._ends):
            (self._ends / f"{group}.{index}.done").touch()

    def last_lines(self, group: int, index: int, *, lines: int = 8) -> str:
        """Return the end of what a job printed; empty where it printed nothing."""
        try:
            with (self.logs / f"{group}.{index}.log").open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - 4096))
                text = file.read().decode("utf-8", "replace").strip()
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def was_too_large(self, group: int, index: int) -> bool:
        """Tell whether the node says in the job's log that it ended it for its memory.

        Where the accounting of a node, not the kernel, holds jobs to their memory, the controller
        only knows that the job failed (seen in 22.05).
        """
        lines = self.last_lines(group, index).splitlines()
        return any(
            line.startswith("slurmstepd") and re.search(r"memory limit|oom.kill", line)
            for line in lines
        )

    def _marks(self, kind: str) -> Iterator[tuple[int, int]]:
        with os.scandir(self._ends) as entries:
            for entry in entries:
                parts = entry.name.split(".")
                if len(parts) == 3 and parts[2] == kind:
                    yield int(parts[0]), int(parts[1])
