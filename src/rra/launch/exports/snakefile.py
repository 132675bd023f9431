"""A plan as a Snakefile."""

from __future__ import annotations

import math
import re

from rra.launch.exports.steps import Exported, Step
from rra.launch.tasks import Task


def snakefile(exported: Exported) -> str:
    """Return the text: one rule for each task, whose output is its stamp."""
    stamps = _listed([step.stamp for step in exported.steps])
    rules = "\n".join(_rule(exported, step) for step in exported.steps)
    return f"""\
{exported.head}
import os

shell.executable("bash")
os.environ["rra_functions"] = (
{_lines(exported.functions.splitlines(keepends=True))}
)

rule all:
    input:
{stamps}

{rules}"""


def _rule(exported: Exported, step: Step) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "_", step.task.id)
    needs = exported.stamps(step)
    commands = ['eval "$rra_functions"\n', *(f"{line}\n" for line in step.lines)]
    parts = [f"rule run_{step.number}_{name}:"]
    if needs:
        parts += ["    input:", _listed(needs)]
    parts += ["    output:", _listed([step.stamp])]
    parts += [f"    threads: {max(1, math.ceil(step.task.share.cpu))}"]
    requests = _resources(step.task)
    if requests:
        parts += ["    resources:", *(f"        {key}={n}," for key, n in requests.items())]
    parts += ["    shell:", _lines([_braced(line) for line in commands])]
    return "\n".join(parts) + "\n"


def _resources(task: Task) -> dict[str, int]:
    """Return what a task takes, by the names that Snakemake's executors know."""
    share = task.share
    found = {
        "mem_mb": math.ceil(share.memory / 10**6),
        "disk_mb": math.ceil(share.disk / 10**6),
        "gpu": share.gpu,
        "runtime": 0 if task.wall is None else math.ceil(task.wall / 60) + 1,
    }
    return {name: value for name, value in found.items() if value}


def _listed(names: list[str]) -> str:
    return "\n".join(f"        {name!r}," for name in names)


def _lines(lines: list[str]) -> str:
    return "\n".join(f"        {line!r}" for line in lines)


def _braced(line: str) -> str:
    """Keep Snakemake from putting values of its own between braces."""
    return line.replace("{", "{{").replace("}", "}}")
