"""The script that each job of Slurm is: it runs one task and leaves how that ended as a file."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

_SCRIPT = r"""#!/bin/bash
# One task of a plan of runs, as an element of an array of jobs. Arguments: the folder of the
# jobs, and the number of the array among them. Written by rra; the plan is in the folder above.
set -u
here=$1 group=$2 index=$SLURM_ARRAY_TASK_ID
while IFS=$'\t' read -r number limit task; do
  [ "$number" = "$index" ] && break
done < "$here/groups/$group.tsv"

# A file appears whole or not at all: whoever polls may look at any moment.
leave() {
  local place="$here/ends/$group.$index.$1"
  printf '%s\n' "$2" > "$place.part" && mv -f "$place.part" "$place"
}
said() {
  printf '{"job":"%s_%s","node":"%s","status":%s,"late":%s}' \
    "$SLURM_ARRAY_JOB_ID" "$index" "${SLURMD_NODENAME:-}" "$1" "$2"
}

leave begun "$(said null false)"
command=(@COMMAND@ run --task "$(dirname "$here")" "$task")
# Slurm looks at its own limit of time about once a minute.
[ "$limit" -gt 0 ] && command=(timeout --signal=TERM --kill-after=60 "$limit" "${command[@]}")
"${command[@]}" &
child=$!
trap 'kill -TERM "$child" 2>/dev/null' TERM INT HUP
while :; do
  wait "$child"
  status=$?
  kill -0 "$child" 2>/dev/null || break
done
late=false
[ "$limit" -gt 0 ] && [ "$SECONDS" -ge "$limit" ] && late=true
leave json "$(said "$status" "$late")"
exit "$status"
"""


def job_script() -> str:
    """Return the script; it starts the Python and the package that run now."""
    command = [sys.executable, "-P", "-m", "rra"]
    return _SCRIPT.replace("@COMMAND@", shlex.join(command))


def log_pattern(folder: Path, group: int) -> str:
    """Return the value of ``--output``: one file for each element of an array."""
    return f"{str(folder).replace('%', '%%')}/{group}.%a.log"
