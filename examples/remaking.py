"""Makes the evidence of an example and its references again, by really running it.

Each example has a ``remake.py`` that calls :func:`remake`. It is needed when the code, the
environment, the launchers or the outcomes have changed, because the records name the core that
they are of:

- one run for each repair that a run can miss, with that repair alone left out, and
- five runs of the finished artifact, each with a seed of its own where the launchers take one,
  whose values become ``references.yaml``.

Tracebacks keep the paths of the machine that they come from, so run it where these name nobody:
a Python outside home directories, ``RRA_CACHE`` and ``TMPDIR`` in places that many machines have.

The digests go into ``guide/repairs.yaml`` as ``before`` and ``after``.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RRA = Path(sys.executable).with_name("rra")
RUNS = 5

_HEAD = """\
# Scores of earlier runs, for evaluators: `rra verify artifact --references references.yaml`.
# Made by the authors of the artifact on one machine, so they answer only whether a new run gives
# what earlier runs gave. Written by remake.py from {runs} executions; nothing in it is computed.
"""


@dataclasses.dataclass(frozen=True)
class LeftOut:
    """A run without one repair.

    Attributes:
        number: The repair, by its four digits.
        launcher: What is run.
        fails: Whether the run fails; one that does not gives another value.
    """

    number: str
    launcher: str
    fails: bool = True


def remake(here: Path, left_out: Iterable[LeftOut], *, seeds: Sequence[int] = ()) -> None:
    """Make the evidence, the references and the tables of one example again.

    Args:
        here: Folder of the example, with ``artifact`` and ``upstream``.
        left_out: The runs that show that repairs are needed.
        seeds: Seeds of the five runs, where the launchers take one.

    Raises:
        SystemExit: A run did not end as it should.
    """
    artifact = here / "artifact"
    evidence = artifact / "evidence"
    shutil.rmtree(evidence, ignore_errors=True)
    subprocess.run([RRA, "lock", artifact, "--keep"], check=True)
    each = list(seeds) or [None] * RUNS
    before = {one.number: _run_without(here, one, evidence, each[0]) for one in left_out}
    results = [_run(artifact, seed=seed) | {"seed": seed} for seed in each]
    _note_records(artifact, before, {made["launcher"]: made["record"] for made in _runs(results)})
    (here / "references.yaml").write_text(_references(artifact, results))
    subprocess.run([RRA, "guide", artifact], check=True)
    subprocess.run([RRA, "lock", artifact, "--keep"], check=True)
    shutil.rmtree(artifact / "outputs")


def _runs(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [made for result in results for made in result["runs"]]


def _run(place: Path, *launchers: str, code: int = 0, seed: int | None = None) -> dict[str, Any]:
    given = [] if seed is None else ["--seed", str(seed)]
    command = [RRA, "run", "--json", *given, *launchers]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise SystemExit(f"exit {done.returncode}, not {code}:\n{done.stdout}\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)["result"]
    return result


def _run_without(here: Path, one: LeftOut, evidence: Path, seed: int | None) -> tuple[str, str]:
    """Run once without a repair, keep the record; return the launcher and the digest."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "artifact"
        ignored = shutil.ignore_patterns("evidence", "outputs")
        shutil.copytree(here / "artifact", place, ignore=ignored)
        shutil.rmtree(place / "code")
        shutil.copytree(here / "upstream", place / "code")
        for patch in sorted((place / "guide" / "repairs").glob("*.patch")):
            if not patch.name.startswith(one.number):
                subprocess.run(["git", "apply", patch], cwd=place / "code", check=True)
        (made,) = _run(place, one.launcher, code=1 if one.fails else 0, seed=seed)["runs"]
        shutil.copytree(place / made["evidence"], evidence.parent / made["evidence"])
        return one.launcher, made["record"]


def _note_records(
    artifact: Path, before: dict[str, tuple[str, str]], after: dict[str, str]
) -> None:
    """Write the digests of the runs without and with each repair into the repairs.

    A repair that no run was made without needs the only launcher.
    """
    path = artifact / "guide" / "repairs.yaml"
    text = re.sub(r"^  (before|after|verified): .*\n", "", path.read_text(), flags=re.MULTILINE)
    head, *blocks = re.split(r"(?m)^(?=[0-9]{4}-)", text)
    noted = [head]
    for block in blocks:
        launcher, record = before.get(block[:4], ("", ""))
        if not record:
            (launcher,) = after
        lines = f"  before: {record}\n" if record else ""
        noted.append(f"{block}{lines}  after: {after[launcher]}\n  verified: true\n")
    path.write_text("".join(noted))


def _references(artifact: Path, results: list[dict[str, Any]]) -> str:
    """Return the text of the references document."""
    lines = [_HEAD.format(runs=len(results))]
    for index, value in enumerate(results[0]["values"]):
        lines.append(f"{value['outcome']}:\n  self_referenced: true\n  scores:\n")
        for result in results:
            lines += _score(artifact, result, result["values"][index])
    return "".join(lines)


def _score(artifact: Path, result: dict[str, Any], value: dict[str, Any]) -> list[str]:
    outcome = _outcome(artifact, value["outcome"])
    (record,) = (
        made["record"] for made in result["runs"] if made["launcher"] == outcome["launcher"]
    )
    return [
        f"    - value: {json.dumps(value['value'], ensure_ascii=False)}\n",
        f"      record: {record}\n",
        f"      environment: {outcome['environment']}\n",
        *([] if result["seed"] is None else [f"      seed: {result['seed']}\n"]),
        "      operator: the rra authors\n",
    ]


def _outcome(artifact: Path, name: str) -> dict[str, str]:
    """Launcher and environment of an outcome, as the manifest says."""
    from rra.artifact import load_artifact

    manifest = load_artifact(artifact).manifest
    launcher = manifest.outcomes()[name].selector.launcher
    return {"launcher": launcher, "environment": manifest.launchers[launcher].environment}
