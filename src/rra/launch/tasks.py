"""The plan of `rra run`: every run that was asked for, what it needs, and what decides it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rra._base import canonical
from rra._base.files import atomic_write
from rra.errors import CorruptError
from rra.launch.instances import Seeds
from rra.launch.parameters import Scalar
from rra.launch.request import DEFAULT_INSTANCE

PLAN = "plan.json"
_TYPE = "run-plan/v1"


@dataclasses.dataclass(frozen=True, slots=True)
class Need:
    """Outputs of another task that a task reads.

    Attributes:
        task: Id of the other task.
        place: Where they lie below ``RRA_OUTPUTS_ROOT``: the launcher's id, and below it the
            name of the instance where several of that launcher are read.
    """

    task: str
    place: str


@dataclasses.dataclass(frozen=True, slots=True)
class Share:
    """What of a machine a task takes while it runs.

    Attributes:
        cpu: Processor cores.
        memory: Bytes; 0 where nothing is declared.
        gpu: Devices.
        disk: Bytes; 0 where nothing is declared.
    """

    cpu: float = 1.0
    memory: int = 0
    gpu: int = 0
    disk: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One run of one instance of a launcher.

    Attributes:
        launcher: Id of the launcher.
        instance: Name of the instance.
        parameters: Every parameter that has a value, as the record will hold it.
        seed: The seed.
        needs: Outputs that it reads.
        share: What of a machine it takes.
        hint: Seconds that it took its author.
        wall: Seconds that it may take at most.
        key: Digest of everything that decides what it does.
    """

    launcher: str
    instance: str = DEFAULT_INSTANCE
    parameters: Mapping[str, Scalar] = dataclasses.field(default_factory=dict)
    seed: int | None = None
    needs: tuple[Need, ...] = ()
    share: Share = Share()
    hint: float | None = None
    wall: float | None = None
    key: str

    @property
    def id(self) -> str:
        """The launcher, and the instance if it is named; also the place of the outputs."""
        return task_id(self.launcher, self.instance)

    @property
    def file_stem(self) -> str:
        """Name of files that belong to the task; no two tasks have the same."""
        return self.id.replace("/", "+")

    def to_json(self) -> dict[str, Any]:
        """Return the task as plain JSON."""
        return {**dataclasses.asdict(self), "parameters": dict(self.parameters), "id": self.id}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Task:
        """Return the task that `to_json` wrote."""
        fields = {name: plain[name] for name in plain if name != "id"}
        fields["needs"] = tuple(Need(**one) for one in plain["needs"])
        return cls(**{**fields, "share": Share(**plain["share"])})


def task_id(launcher: str, instance: str) -> str:
    """Return the id of a task: the launcher, and the instance if it is named."""
    return launcher if instance == DEFAULT_INSTANCE else f"{launcher}/{instance}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the caller of `rra run` asked for.

    Attributes:
        launchers: Ids; all by default.
        parameters: Values by name as text, for every launcher that has the parameter.
        seed: Seed given to every launcher.
        seeds: Seeds that each launcher with `seeds` is run with, one instance each.
        matrix: Whether each launcher with a `matrix` is run once for every combination.
        smoke: Whether these are short runs that only show that launchers work.
        reduced: Whether launchers take their reduced parameters.
    """

    launchers: tuple[str, ...] = ()
    parameters: Mapping[str, str] = dataclasses.field(default_factory=dict)
    seed: int | None = None
    seeds: Seeds | None = None
    matrix: bool = False
    smoke: bool = False
    reduced: bool = False

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Asked:
        """Return what `dataclasses.asdict` and JSON made of it."""
        seeds = plain["seeds"]
        made = tuple(seeds) if isinstance(seeds, list) else seeds
        return cls(**{**plain, "launchers": tuple(plain["launchers"]), "seeds": made})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Every run that was asked for; nothing in it changes while it is carried out.

    Attributes:
        artifact: Folder of the artifact.
        core: Its core digest when the plan was made.
        nonce: Drawn for the plan, so that no run of it can be an earlier one.
        sandbox: Word for the isolation that was asked for, where an environment brings none of
            its own; None for the best that works where a task runs.
        backend: Word of the backend.
        asked: What the plan was made from.
        tasks: The tasks, each after those it needs.
        unsupported: Outcomes, or experiments, that its reduced runs say nothing about.
        forced: Ids of tasks that run though they are up to date.
    """

    artifact: Path
    core: str
    nonce: str
    sandbox: str | None
    backend: str
    asked: Asked
    tasks: tuple[Task, ...]
    unsupported: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Task]:
        """Go through the tasks in their order."""
        return iter(self.tasks)

    def task(self, name: str) -> Task:
        """Return the task of an id.

        Raises:
            KeyError: There is none.
        """
        return next(iter(self.select([name])))

    def select(self, names: Sequence[str]) -> list[Task]:
        """Return the tasks of some ids, in the order of the ids.

        Raises:
            KeyError: There is none of that id.
        """
        known = {task.id: task for task in self.tasks}
        return [known[name] for name in names]

    def of_launcher(self, launcher: str) -> list[Task]:
        """Return the tasks of a launcher."""
        return [task for task in self.tasks if task.launcher == launcher]

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON."""
        return {
            "type": _TYPE,
            "artifact": str(self.artifact),
            "core": self.core,
            "nonce": self.nonce,
            "sandbox": self.sandbox,
            "backend": self.backend,
            "asked": dataclasses.asdict(self.asked),
            "tasks": [task.to_json() for task in self.tasks],
            "unsupported": list(self.unsupported),
            "forced": list(self.forced),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Plan:
        """Return the plan that `to_json` wrote.

        Raises:
            ValueError: Another version wrote it.
        """
        if plain["type"] != _TYPE:
            message = f"its type is {plain['type']}, not {_TYPE}"
            raise ValueError(message)
        return cls(
            artifact=Path(plain["artifact"]),
            core=plain["core"],
            nonce=plain["nonce"],
            sandbox=plain["sandbox"],
            backend=plain["backend"],
            asked=Asked.from_json(plain["asked"]),
            tasks=tuple(Task.from_json(task) for task in plain["tasks"]),
            unsupported=tuple(plain["unsupported"]),
            forced=tuple(plain.get("forced", ())),
        )

    def write(self, path: Path) -> None:
        """Write the plan where the process of a task reads it.

        Raises:
            StorageError: The disk is full or refuses.
        """
        atomic_write(path, canonical.dumps(self.to_json()) + b"\n")


def read_plan(path: Path) -> Plan:
    """Read a plan that `Plan.write` wrote.

    Raises:
        CorruptError: It is not there, or is no plan that this version wrote.
    """
    try:
        return Plan.from_json(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{path} is no plan of runs: {error}"
        raise CorruptError(message, hint="make a new one: rra run") from error
