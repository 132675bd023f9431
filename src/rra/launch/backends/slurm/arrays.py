"""Which tasks become one array of jobs, and what each array waits for."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from rra.launch.backends.slurm.client import JobId
from rra.launch.tasks import Task

_MOST_ELEMENTS = 1000
"""Elements of one array; Slurm's own limit, MaxArraySize, is 1001 unless it is set higher."""

_OVERHEAD = 256 << 20
"""Bytes that our own command and its recorder take beside the launcher."""

_PREPARATION = 900
"""Seconds beside the launcher's own: building the environment, copying, keeping the evidence."""

JobOf = Mapping[str, JobId]
"""Jobs by the ids of their tasks."""


@dataclasses.dataclass(frozen=True, slots=True)
class Array:
    """Tasks that are submitted at once.

    Attributes:
        tasks: Tasks by their index in the array.
        waits: Value of ``--dependency``; empty for none.
    """

    tasks: Mapping[int, Task]
    waits: str


def arrays_of(tasks: Sequence[Task], jobs: JobOf) -> list[Array]:
    """Return the tasks of one launcher as few arrays, given the jobs of what they need.

    Where each task needs the same element of other arrays that itself can be in its own, as each
    seed of a second step the same seed of the first, one array waits for those element by element
    (``aftercorr``). Else tasks that wait for the same jobs are one array (``afterok``).

    Args:
        tasks: Tasks of one launcher, none of which needs another of them.
        jobs: Jobs of the tasks that are still waited for; what is not here has succeeded.
    """
    waits = [[jobs[need.task] for need in task.needs if need.task in jobs] for task in tasks]
    numbers = {tuple(sorted({number for number, _ in one})) for one in waits}
    columns = [{index for _, index in one} for one in waits]
    own = [next(iter(column)) for column in columns if len(column) == 1]
    apart = all(len({number for number, _ in one}) == len(one) for one in waits)
    if len(tasks) > 1 and len(numbers) == 1 and apart and len(set(own)) == len(tasks):
        clauses = [f"aftercorr:{number}" for number in next(iter(numbers))]
        return [Array(dict(sorted(zip(own, tasks, strict=True), key=_index)), ",".join(clauses))]
    groups: dict[str, list[Task]] = {}
    for task, one in zip(tasks, waits, strict=True):
        names = sorted({f"{number}_{index}" for number, index in one})
        groups.setdefault(f"afterok:{':'.join(names)}" if names else "", []).append(task)
    return [
        Array(dict(enumerate(group[start : start + _MOST_ELEMENTS])), text)
        for text, group in groups.items()
        for start in range(0, len(group), _MOST_ELEMENTS)
    ]


def _index(pair: tuple[int, Task]) -> int:
    return pair[0]


def limit_of(task: Task) -> int:
    """Return the seconds after which a job is ended by its own script; 0 for none.

    The launcher's own limit is held more exactly by the run itself. This one is for a run that
    does not come to that.
    """
    return 0 if task.wall is None else math.ceil(task.wall) + _PREPARATION


def requests_of(task: Task, given: Mapping[str, str]) -> list[str]:
    """Return the options of sbatch that ask for what a task takes.

    What the caller sets for sbatch in the environment (``SBATCH_TIMELIMIT``,
    ``SBATCH_MEM_PER_NODE``, ``SBATCH_MEM_PER_CPU``) goes first.

    Args:
        task: The task.
        given: Environment of the caller.
    """
    share, limit = task.share, limit_of(task)
    options = ["--nodes=1", "--ntasks=1", f"--cpus-per-task={max(1, math.ceil(share.cpu))}"]
    if share.memory and not {"SBATCH_MEM_PER_NODE", "SBATCH_MEM_PER_CPU"} & given.keys():
        options.append(f"--mem={math.ceil((share.memory + _OVERHEAD) / 2**20)}M")
    if share.gpu:
        options.append(f"--gres=gpu:{share.gpu}")
    if share.disk:
        options.append(f"--tmp={math.ceil(share.disk / 2**20)}M")
    if limit and "SBATCH_TIMELIMIT" not in given:
        options.append(f"--time={math.ceil(limit / 60) + 2}")
    return options
