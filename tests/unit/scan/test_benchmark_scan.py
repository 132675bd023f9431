"""The benchmark of `rra scan` counts as one would by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "scan.py"

PLAIN = """\
==> README.md <==
    python fit.py --rate 0.1
    python absent.py

==> fit.py <==
import numpy
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, default=0.5)
print(numpy.zeros(3) * parser.parse_args().rate)

==> LICENSE <==
Apache License
Version 2.0, January 2004
"""
PLAIN_LABELS = """\
entry_points:
  - script: fit.py
    parameters:
      - {flag: --rate, type: float, default: "0.5"}
      - {flag: --steps, type: int, default: "3"}
commands:
  - {text: "python fit.py --rate 0.1", script: fit.py, kind: run}
  - {text: "python absent.py", script: null, absent: absent.py, kind: run}
  - {text: "python nowhere.py", script: nowhere.py, kind: run}
imports: {numpy: numpy}
licence: MIT
"""
SMALL = "==> README.md <==\n`python go.py`\n\n==> go.py 0755 crlf <==\nprint(1)\n"
SMALL_LABELS = "commands: [{text: python go.py, script: go.py, kind: run}]\nlicence: null\n"


def test_shares_are_those_that_one_counts_by_hand(tmp_path: Path) -> None:
    for name, archive, labels in (("a", PLAIN, PLAIN_LABELS), ("b", SMALL, SMALL_LABELS)):
        folder = tmp_path / "blind" / name
        folder.mkdir(parents=True)
        (folder / "repository.txt").write_text(archive)
        (folder / "labels.yaml").write_text(labels)
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "some+clone.yaml").write_text("licence: MIT\n")
    command = [sys.executable, str(SCRIPT), "--labels", str(tmp_path), "--misses"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "### blind: 2 repositories" in lines
    assert "absent, left out: some+clone" in lines
    # --steps is no flag of fit.py: one of two found, and what was found is right.
    assert "| parameters | 2 | 1 | 100.0 % | 50.0 % |" in lines
    # Three of the four commands stand in a README.
    assert "| commands | 4 | 3 | 100.0 % | 75.0 % |" in lines
    assert "| command scripts | 4 | 3 | 100.0 % | 75.0 % |" in lines
    # The licence is another one than the label says.
    assert "| licence | 1 | 1 | 0.0 % | 0.0 % |" in lines
    assert "  - a: python nowhere.py | nowhere.py" in lines
    assert "  + a: Apache-2.0" in lines
    assert lines[-1].endswith("commands resolved: blind 3/4 (75.0 %)")
