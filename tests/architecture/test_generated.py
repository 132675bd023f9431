"""Everything that is made from the code is what the code says now."""

from __future__ import annotations

import subprocess
import sys

from tests.support.source import ROOT


def test_generated_files_are_up_to_date() -> None:
    command = [sys.executable, "tools/gen.py", "--check"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
