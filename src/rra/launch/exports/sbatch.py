"""A plan as a script that submits one job of Slurm for each task."""

from __future__ import annotations

import math
import shlex

from rra.launch.exports.steps import Exported, Step
from rra.launch.tasks import Task

_SUBMIT = """\
if [ $# -gt 0 ]; then
  job "$1"
  exit
fi

# submit NUMBER NAME STAMP NUMBERS OPTION...: a job that waits for those of some tasks. What has
# succeeded, and reads nothing that runs again, is not submitted.
declare -a jobs=()
submit() {
  local number=$1 name=$2 stamp=$3 waits= one
  for one in $4; do waits+=${jobs[one]:+:${jobs[one]}}; done
  shift 4
  if [ -z "$waits" ] && [ -e "$stamp" ]; then
    printf 'done before: %s\\n' "$name"
    return
  fi
  if [ -n "$waits" ]; then set -- --dependency="afterok$waits" --kill-on-invalid-dep=yes "$@"; fi
  rm -rf -- "${stamp%/*}"
  jobs[number]=$(sbatch --parsable --job-name="$name" --output=outputs/.logs/%j.log "$@" \\
    "$self" "$number")
  jobs[number]=${jobs[number]%%;*}
  printf 'job %s: %s\\n' "${jobs[number]}" "$name"
}

if [ ! -f rra.yaml ]; then
  printf 'start this in the folder of the artifact, where rra.yaml is\\n' >&2
  exit 1
fi
self=${BASH_SOURCE[0]}
mkdir -p outputs/.logs
"""


def sbatch_script(exported: Exported) -> str:
    """Return the text: started by hand it submits, and each job starts it with a number."""
    cases = "\n".join(_case(step) for step in exported.steps)
    submissions = "\n".join(_submission(step) for step in exported.steps)
    return f"""\
#!/usr/bin/env bash
{exported.head}
{exported.functions}
job() {{
  case $1 in
{cases}
  esac
}}

{_SUBMIT}{submissions}
"""


def _case(step: Step) -> str:
    lines = "\n".join(f"      {line}" for line in step.lines)
    return f"    {step.number})\n{lines}\n      ;;"


def _submission(step: Step) -> str:
    after = " ".join(str(number) for number in step.after)
    words = [str(step.number), step.task.id, step.stamp, after, *_requests(step.task)]
    return shlex.join(["submit", *words])


def _requests(task: Task) -> list[str]:
    """Return the options of sbatch that ask for what a launcher declares, and nothing beside it."""
    share = task.share
    options = ["--nodes=1", "--ntasks=1", f"--cpus-per-task={max(1, math.ceil(share.cpu))}"]
    options += [f"--mem={math.ceil(share.memory / 2**20)}M"] if share.memory else []
    options += [f"--gres=gpu:{share.gpu}"] if share.gpu else []
    options += [f"--tmp={math.ceil(share.disk / 2**20)}M"] if share.disk else []
    options += [f"--time={math.ceil(task.wall / 60) + 1}"] if task.wall is not None else []
    return options
