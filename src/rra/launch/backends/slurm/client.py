"""Slurm as its commands have it: submit, look, ask, cancel.

Everything here is a command that ends soon. One that fails because the controller is away says so
by `UnavailableError`; whoever watches jobs then goes on with what files say.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property

from rra._base import process
from rra.errors import UnavailableError

_TIMEOUT = 120.0
"""Seconds; the commands themselves try again for a while when the controller is away."""

_INSTALL = "install Slurm's commands (Debian: slurm-client), or run on a login node of the cluster"

ENDED = {
    "BOOT_FAIL": "infrastructure",
    "CANCELLED": "cancelled",
    "COMPLETED": "infrastructure",
    "DEADLINE": "timeout",
    "FAILED": "infrastructure",
    "NODE_FAIL": "infrastructure",
    "OUT_OF_MEMORY": "memory",
    "PREEMPTED": "infrastructure",
    "REVOKED": "infrastructure",
    "TIMEOUT": "timeout",
}
"""States in which a job has ended, each with the word for a task that left no result of its own.

A job that failed, or even completed, and left no result was not ended by its launcher, which
always leaves one.
"""

LOST = frozenset({"BOOT_FAIL", "NODE_FAIL", "PREEMPTED", "REVOKED"})
"""States of a job that the cluster ended for reasons of its own."""

NEVER = "DependencyNeverSatisfied"
"""Reason of a job that waits for one that has failed."""


STUCK = frozenset(
    {
        "BadConstraints",
        "InvalidAccount",
        "InvalidQOS",
        "JobHeldAdmin",
        "JobHeldUser",
        "NodeDown",
        "PartitionDown",
        "PartitionInactive",
        "PartitionNodeLimit",
        "PartitionTimeLimit",
        "ReqNodeNotAvail",
    }
)
"""Reasons of a job that waits for what somebody has to change, not for its turn."""


@dataclasses.dataclass(frozen=True, slots=True)
class JobState:
    """What Slurm says of one element of an array.

    Attributes:
        state: Its word, such as ``RUNNING``.
        reason: Why it waits, or has ended; ``None`` for no reason.
    """

    state: str
    reason: str

    @property
    def live(self) -> bool:
        """Whether the job has not ended."""
        return self.state not in ENDED


JobId = tuple[str, int]
"""Number of an array of jobs, and the index in it."""


class Slurm:
    """The commands of the cluster that this machine belongs to."""

    def check(self) -> None:
        """Make sure that Slurm is here and answers.

        Raises:
            ToolMissingError: A command is not installed.
            UnavailableError: The controller does not answer.
        """
        for name in ("sbatch", "squeue", "scontrol", "scancel"):
            process.require_tool(name, why="the backend slurm needs it", install=_INSTALL)
        self._run("squeue", "--noheader", "--me", "--format=%A")

    def submit(self, options: Sequence[str], script: Sequence[str]) -> str:
        """Submit a script with its arguments; return the number of the job.

        Raises:
            UnavailableError: Slurm refuses, or does not answer.
        """
        said = self._run("sbatch", "--parsable", *options, *script)
        return said.strip().partition(";")[0]

    def states(self, names: Sequence[str]) -> dict[JobId, JobState]:
        """Return what the controller knows of the jobs of some names, ended ones for minutes.

        Raises:
            UnavailableError: It does not answer.
        """
        found = {}
        for number, index, state, reason, _ in self._rows(names):
            found[number, index] = JobState(state, reason)
        return found

    def numbers(self, names: Sequence[str]) -> dict[str, str]:
        """Return the numbers of the jobs of some names by their comments.

        Raises:
            UnavailableError: The controller does not answer.
        """
        return {comment: number for number, _, _, _, comment in self._rows(names)}

    def _rows(self, names: Sequence[str]) -> list[tuple[str, int, str, str, str]]:
        if not names:
            return []
        said = self._run(
            "squeue",
            "--noheader",
            "--array",
            "--states=all",
            f"--name={','.join(names)}",
            "--format=%F|%K|%T|%r|%k",
        )
        rows = [line.strip().split("|", 4) for line in said.splitlines() if line.strip()]
        return [
            (number, int(index), state, reason, comment)
            for number, index, state, reason, comment in rows
            if index.isdigit()
        ]

    def recall(self, job: JobId) -> JobState | None:
        """Return how a job ended that the queue knows no more: from the controller, or accounts.

        Raises:
            UnavailableError: Slurm does not answer.
        """
        name = f"{job[0]}_{job[1]}"
        told = process.run(["scontrol", "--oneliner", "show", "job", name], timeout=_TIMEOUT)
        if told.ok:
            facts = fields_of(told.stdout)
            if facts.get("ArrayTaskId") == str(job[1]):
                return JobState(facts.get("JobState", ""), facts.get("Reason", "None"))
        if not self._accounts:
            return None
        said = self._run(
            "sacct", "--noheader", "--parsable2", "--allocations", "-j", name, "--format=State"
        )
        word = said.strip().partition("\n")[0].partition(" ")[0]
        return JobState(word, "None") if word else None

    @cached_property
    def _accounts(self) -> bool:
        """Whether the cluster keeps accounts of jobs that have ended."""
        said = self._run("scontrol", "show", "config")
        kinds = [line for line in said.splitlines() if line.startswith("AccountingStorageType")]
        kept = any(not line.rstrip().endswith("none") for line in kinds)
        return kept and process.find_tool("sacct") is not None

    def interrupt(self, jobs: Sequence[JobId]) -> None:
        """Ask the scripts of running jobs to end what they started.

        Raises:
            UnavailableError: Slurm does not answer.
        """
        for chunk in _chunks(jobs):
            self._run("scancel", "--quiet", "--batch", "--signal=TERM", *chunk)

    def cancel(self, jobs: Sequence[JobId]) -> None:
        """Cancel jobs.

        Raises:
            UnavailableError: Slurm does not answer.
        """
        for chunk in _chunks(jobs):
            self._run("scancel", "--quiet", *chunk)

    def _run(self, *argv: str) -> str:
        done = process.run(argv, timeout=_TIMEOUT)
        if not done.ok:
            message = f"{argv[0]} failed: {done.last_error(3) or f'exit status {done.returncode}'}"
            hint = "see what Slurm says with sinfo and squeue; then rra run --resume"
            raise UnavailableError(message, hint=hint)
        return done.stdout


def fields_of(line: str) -> Mapping[str, str]:
    """Return the words ``Name=value`` of a line that scontrol prints."""
    pairs = (word.partition("=") for word in line.split())
    return {name: value for name, found, value in pairs if found}


def _chunks(jobs: Sequence[JobId]) -> list[list[str]]:
    names = [f"{number}_{index}" for number, index in jobs]
    return [names[start : start + 500] for start in range(0, len(names), 500)]
