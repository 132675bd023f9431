"""Running a launcher without rra's own executor, for tests of the probe alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from rra.audit.decoy_plan import Question
from rra.audit.hardcoding import probe
from rra.audit.inquiry import Answer
from rra.audit.wanted import Wanted
from rra.errors import SelectError
from rra.values.numbers import ReportedNumber
from rra.values.selectors import select_outcome

if TYPE_CHECKING:
    from rra.artifact import Artifact
    from rra.audit.documents import Finding


class DirectRunner:
    """Runs ``launchers/main.sh`` in a copy of the code and reads every outcome."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, place: Artifact) -> Answer:
        """Run once."""
        self.runs += 1
        with tempfile.TemporaryDirectory() as scratch:
            code, outputs = Path(scratch, "code"), Path(scratch, "outputs")
            shutil.copytree(place.code_root, code)
            outputs.mkdir()
            environment = {
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "RRA_OUTPUT_DIR": str(outputs),
                "RRA_DATA_DIR": str(place.root / "data"),
                "PYTHONDONTWRITEBYTECODE": "1",
            }
            for name, parameter in place.manifest.launchers["main"].parameters.items():
                environment[f"RRA_PARAM_{name.upper()}"] = str(parameter.default)
            entry = place.path("launchers/main.sh")
            done = subprocess.run(
                ["bash", entry], cwd=code, env=environment, capture_output=True, check=False
            )
            if done.returncode:
                return Answer({}, done.stderr.decode()[-300:])
            return Answer({name: _value(place, name, outputs) for name in outcomes(place)})


def outcomes(place: Artifact) -> list[str]:
    """Return the ids of all outcomes."""
    return list(place.manifest.outcomes())


def _value(place: Artifact, name: str, outputs: Path) -> Decimal | None:
    try:
        value = select_outcome([outputs], place.manifest.outcomes()[name]).value
    except SelectError:
        return None
    return value if isinstance(value, Decimal) else None


def ask(place: Artifact, *, excluded: tuple[str, ...] = ()) -> tuple[dict[str, list[Finding]], int]:
    """Run once, probe every outcome, and return findings and the number of trials."""
    runner = DirectRunner()
    first = runner(place)
    assert not first.failed, first.failed
    questions = []
    for name, outcome in place.manifest.outcomes().items():
        value = first.values[name]
        assert isinstance(value, Decimal)
        assert isinstance(outcome.reported, str)
        reported = ReportedNumber.parse(outcome.reported)
        questions.append(Question(Wanted(name, reported, value, excluded)))
    findings = probe(place, "main", questions, runner)
    return findings, runner.runs - 1
