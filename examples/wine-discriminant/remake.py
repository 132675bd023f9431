"""Makes the evidence of the wine example and its references again, by really running it.

``.venv/bin/python examples/wine-discriminant/remake.py``, needed when the code, the environment,
the launcher or the outcomes have changed, because the records name the core that they are of:

- one failed run for each repair that a run can miss, with that repair alone left out, and
- five runs of the finished artifact, whose values become ``references.yaml``.

Tracebacks keep the paths of the machine that they come from, so run it where these name nobody:
a Python outside home directories, ``RRA_CACHE`` and ``TMPDIR`` in places that many machines have.

The digests go into ``guide/repairs.yaml`` as ``before`` and ``after``.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ARTIFACT = HERE / "artifact"
RRA = Path(sys.executable).with_name("rra")
RUNS = 5
#: Repairs whose absence makes the run fail; 0001 makes the locking fail instead.
MISSED_BY_A_RUN = ("0002", "0003", "0004", "0005", "0006")

_HEAD = """\
# Scores of earlier runs, for evaluators: `rra verify artifact --references references.yaml`.
# Made by the authors of the artifact on one machine, so they answer only whether a new run gives
# what earlier runs gave. Written by remake.py from {runs} executions; nothing in it is computed.
"""


def run(place: Path, *, code: int = 0) -> dict[str, Any]:
    """Run the launcher of an artifact and return the result."""
    done = subprocess.run(
        [RRA, "run", "--json"], cwd=place, capture_output=True, text=True, check=False
    )
    if done.returncode != code:
        raise SystemExit(f"exit {done.returncode}, not {code}:\n{done.stdout}\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)["result"]
    return result


def copy_without(number: str, place: Path) -> None:
    """Copy the artifact, with code to which one repair was not applied."""
    shutil.copytree(ARTIFACT, place, ignore=shutil.ignore_patterns("evidence", "outputs"))
    shutil.rmtree(place / "code")
    shutil.copytree(HERE / "upstream", place / "code")
    for patch in sorted((ARTIFACT / "guide" / "repairs").glob("*.patch")):
        if not patch.name.startswith(number):
            subprocess.run(["git", "apply", patch], cwd=place / "code", check=True)


def failed_runs(evidence: Path) -> dict[str, str]:
    """Run once without each repair; return the record's digest by the repair's number."""
    before = {}
    for number in MISSED_BY_A_RUN:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "artifact"
            copy_without(number, place)
            (made,) = run(place, code=1)["runs"]
            shutil.copytree(place / made["evidence"], evidence / Path(made["evidence"]).name)
            before[number] = made["record"]
    return before


def note_records(before: dict[str, str], after: str) -> None:
    """Write the digests of the failed and the working run into the repairs."""
    path = ARTIFACT / "guide" / "repairs.yaml"
    text = re.sub(r"^  (before|after|verified): .*\n", "", path.read_text(), flags=re.MULTILINE)
    blocks = re.split(r"(?m)^(?=[0-9]{4}-)", text)
    noted = [blocks[0]]
    for block in blocks[1:]:
        number = block[:4]
        lines = f"  before: {before[number]}\n" if number in before else ""
        noted.append(f"{block}{lines}  after: {after}\n  verified: true\n")
    path.write_text("".join(noted))


def references(results: list[dict[str, Any]]) -> str:
    """Return the text of the references document."""
    lines = [_HEAD.format(runs=len(results))]
    for index, value in enumerate(results[0]["values"]):
        lines.append(f"{value['outcome']}:\n  self_referenced: true\n  scores:\n")
        for result in results:
            (made,) = result["runs"]
            obtained = result["values"][index]["value"]
            lines.append(f'    - value: "{obtained}"\n      record: {made["record"]}\n')
            lines.append("      environment: cpu\n      operator: the rra authors\n")
    return "".join(lines)


def main() -> None:
    """Make everything again."""
    evidence = ARTIFACT / "evidence"
    shutil.rmtree(evidence, ignore_errors=True)
    subprocess.run([RRA, "lock", ARTIFACT, "--keep"], check=True)
    before = failed_runs(evidence / "table1")
    results = [run(ARTIFACT) for _ in range(RUNS)]
    note_records(before, results[-1]["runs"][0]["record"])
    (HERE / "references.yaml").write_text(references(results))
    subprocess.run([RRA, "guide", ARTIFACT], check=True)
    subprocess.run([RRA, "lock", ARTIFACT, "--keep"], check=True)
    shutil.rmtree(ARTIFACT / "outputs")


if __name__ == "__main__":
    main()
