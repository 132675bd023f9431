"""An artifact whose plan is exported, and what a run of it has to leave."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from rra.artifact import Artifact
from tests.support.runs import write_artifact

#: What a value may hold that a shell, make, Snakemake or Slurm gives a meaning.
ODD = "a $(touch p) ${HOME} $$ `touch p` 'q' \"d\" # % {x} {{y}} \\ é; touch p\\"

_TRAIN = """\
mkdir -p "$RRA_OUTPUT_DIR/deep"
printf '%s|%s|%s' "$RRA_SEED" "$RRA_PARAM_EQ" "$MODE" >"$RRA_OUTPUT_DIR/deep/x.txt"
cp "$RRA_PARAMETERS" "$RRA_OUTPUT_DIR/parameters.json"
echo "said $RRA_SEED"
echo "warned $RRA_SEED" >&2
"""
_SCORE = """\
cat "$RRA_OUTPUTS_ROOT/train/deep/x.txt" >"$RRA_OUTPUT_DIR/y"
[ -n "$RRA_NONCE" ] && [ -d "$RRA_DATA_DIR" ] && [ ! -e "$RRA_OUTPUTS_ROOT/train/seed=1" ]
"""
_TABLE = 'cd "$RRA_OUTPUTS_ROOT/score" && tail -n +1 */y >"$RRA_OUTPUT_DIR/z"\n'

SEEDED = {"seeds": {"values": [1, 2]}}
TASKS = ("train/seed=1", "train/seed=2", "score/seed=1", "score/seed=2", "table")


def write_study(root: Path, *, train: str = _TRAIN) -> Artifact:
    """Write two launchers with seeds, of which one reads the other, and one that reads all."""
    scripts = {"train": train, "score": _SCORE, "table": _TABLE}
    return write_artifact(
        root,
        {
            **{f"launchers/{name}.sh": text for name, text in scripts.items()},
            "data/d": "1",
        },
        launchers={
            "train": {
                "outputs": ["**/[!a-w]*.txt", "parameters.json"],
                "parameters": {"eq": {"default": ODD}},
                "variables": {"MODE": "it's $MODE"},
                "resources": {"cpu": 1, "memory": "200 MiB"},
                "limits": {"wall": 300},
                **SEEDED,
            },
            "score": {"outputs": ["y"], "needs": ["train"], **SEEDED},
            "table": {"outputs": ["z"], "needs": ["score"]},
        },
        experiments={"t": {"outcomes": {"x": _OUTCOME}}},
    )


_OUTCOME = {
    "type": "category",
    "reported": "1",
    "selector": {
        "launcher": "table",
        "file": "z",
        "regex": r"(?P<value>\d)\|",
        "pick": "first",
    },
}


def outputs_of(root: Path) -> dict[str, bytes]:
    """Return what runs left below ``outputs/``, without what only says who wrote it."""
    files = (root / "outputs").rglob("*")
    names = {path.relative_to(root / "outputs"): path for path in files if path.is_file()}
    return {
        str(name): path.read_bytes()
        for name, path in names.items()
        if name.name != ".rra-instance" and not name.parts[0].startswith(".")
    }


def call(*argv: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command and return what it printed; a make around the tests is none of its business."""
    around = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")
    env = {name: text for name, text in os.environ.items() if name not in around} | variables
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False)
