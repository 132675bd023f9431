"""What each task of an exported plan does, as lines of bash that every kind of file holds."""

from __future__ import annotations

import dataclasses
import json
import math
import shlex
import unicodedata
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import PurePosixPath

from rra._base import canonical
from rra.artifact import Artifact, layout
from rra.errors import UsageError
from rra.launch.exports.expressions import expression
from rra.launch.parameters import settle
from rra.launch.tasks import Plan, Task
from rra.model import Launcher

_STAMPS = f"{layout.OUTPUTS_DIR}/.done"
_KEY = 16
"""Characters of a key that tell two plans of one task apart."""


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One task as it is exported.

    Attributes:
        task: The task.
        number: Its position in the plan.
        stamp: File that is there once it has succeeded, relative to the artifact; letters,
            digits and ``/._+,@-`` alone.
        after: Positions of the tasks it needs.
        lines: Commands of bash, each one line, that do it.
        environment: Id of its environment.
        programs: Variable that may name the folder of that environment's programs.
    """

    task: Task
    number: int
    stamp: str
    after: tuple[int, ...]
    lines: tuple[str, ...]
    environment: str
    programs: str


@dataclasses.dataclass(frozen=True, slots=True)
class Exported:
    """What a writer of one kind of file gets.

    Attributes:
        head: Comment at the top.
        functions: Functions of bash that the lines of the steps call.
        steps: The steps, each after those it needs.
    """

    head: str
    functions: str
    steps: tuple[Step, ...]

    def stamps(self, step: Step) -> list[str]:
        """Return the stamps of what a step needs."""
        return [self.steps[number].stamp for number in step.after]


def functions(steps: tuple[Step, ...]) -> str:
    """Return the functions that the lines of some steps call."""
    here = resources.files("rra.launch")
    text = (here / "exports/functions.sh").read_text("utf-8")
    if any(_is_notebook(step) for step in steps):
        runner = (here / "notebook_runner.py").read_text("utf-8")
        text += (here / "exports/notebook.sh").read_text(
            "utf-8"
        ) + f"runner={shlex.quote(runner)}\n"
    return text


def _is_notebook(step: Step) -> bool:
    return any(line.startswith("copy_code ") for line in step.lines)


def steps_of(artifact: Artifact, plan: Plan) -> tuple[Step, ...]:
    """Return the tasks of a plan as steps.

    Raises:
        UsageError: A launcher cannot be run without `rra`, or a value holds a control character.
    """
    numbers = {task.id: number for number, task in enumerate(plan)}
    return tuple(_step(artifact, plan, task, numbers) for task in plan)


def _step(artifact: Artifact, plan: Plan, task: Task, numbers: Mapping[str, int]) -> Step:
    launcher = artifact.manifest.launchers[task.launcher]
    programs = "RRA_BIN_" + launcher.environment.upper().replace("-", "_")
    stem = task.file_stem.replace("=", "@")
    stamp = f"{_STAMPS}/{stem}/{task.key.removeprefix('sha256:')[:_KEY]}"
    lines = [
        _call("begin", task.id, stamp, programs),
        *(_call("give", *pair) for pair in _given(artifact, plan, task).items()),
        *(_call("secret", one.env) for one in launcher.secrets or [] if not one.optional),
        _call("contract", canonical.dumps(dict(task.parameters)).decode()),
        *(_call("need", need.place, need.task) for need in task.needs),
        *_start(artifact, launcher, task),
        *(_call("left", one, expression(one)) for one in _required(launcher)),
        "finish",
    ]
    _refuse_control(task, lines)
    return Step(
        task=task,
        number=numbers[task.id],
        stamp=stamp,
        after=tuple(numbers[need.task] for need in task.needs),
        lines=tuple(lines),
        environment=launcher.environment,
        programs=programs,
    )


def _given(artifact: Artifact, plan: Plan, task: Task) -> dict[str, str]:
    """Return the variables of a task that are known before it runs."""
    launcher = artifact.manifest.launchers[task.launcher]
    environment = artifact.manifest.environments[launcher.environment]
    settings = settle(launcher, task.parameters, seed=task.seed, smoke=plan.asked.smoke)
    smoke = {"RRA_SMOKE": "1"} if plan.asked.smoke else {}
    declared = {**(environment.variables or {}), **(launcher.variables or {})}
    return {**declared, **settings.variables, **smoke}


def _start(artifact: Artifact, launcher: Launcher, task: Task) -> Iterator[str]:
    limit = str(0 if task.wall is None else math.ceil(task.wall))
    entry = PurePosixPath(launcher.entry)
    if entry.suffix != ".ipynb":
        # The ./ keeps a name that begins with a hyphen from being an option.
        program = "python" if entry.suffix == ".py" else "bash"
        yield _call("start", limit, program, f"./{entry}")
        return
    if launcher.collect:
        message = f"{task.launcher} is a notebook whose results are collected from its code"
        hint = "let it write into RRA_OUTPUT_DIR, or start it from a .sh launcher"
        raise UsageError(f"{message}, which only rra does", hint=hint)
    skipped = [".git"]
    if artifact.manifest.code.root == ".":
        skipped += [*layout.OWNED_DIRS, *sorted(layout.SKIPPED_DIRS - {".git"})]
        skipped += [name for name in layout.OWNED_FILES if "/" not in name]
    yield _call("copy_code", artifact.manifest.code.root, *skipped)
    command = _call("start", limit, "env", "JUPYTER_PREFER_ENV_PATH=1", "python")
    yield f'{command} "$work/run_notebook.py" "$root"/{shlex.quote(str(entry))}'


def _required(launcher: Launcher) -> list[str]:
    return [one.name for one in launcher.output_specs if one.required]


def _call(name: str, *words: str) -> str:
    return " ".join([name, *(shlex.quote(word) for word in words)])


def _refuse_control(task: Task, lines: list[str]) -> None:
    """Refuse what one line of a file cannot hold."""
    for line in lines:
        found = next((one for one in line if one != "\t" and _is_control(one)), None)
        if found is not None:
            message = f"{task.id}: a value holds the character {json.dumps(found)}"
            hint = f"no line of an exported file can hold it: {line.partition(found)[0]}…"
            raise UsageError(message, hint=hint)


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Zl", "Zp"}
