"""The main job of `rra` on the wine example: from a messy repository to a judged artifact.

Run it by ``make demo``. It works in a new temporary directory, with an empty cache and without
any shipped evidence, shows each command as a person would type it, and ends with an error as
soon as something is not as it says.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent

#: What each repair cures: words of the error that is there before it and gone after it.
CURES = {
    "0002": "module 'numpy' has no attribute 'float'",
    "0003": "No such file or directory: '/home/agnes/work/wine/wine.npz'",
    "0004": "No module named 'sklearn.cross_validation'",
    "0005": "Missing parentheses in call to 'print'",
    "0006": "results/metrics.json: No such file or directory",
}
#: What comes out, by name. The deviation is documented; it is not a success of the paper's number.
EXPECTED = {
    "table1/lda": "reproduced",
    "table1/qda": "reproduced",
    "table1/1nn": "deviates_as_documented",
}
#: What the author writes into the draft; the code, the locks and the evidence are made here.
AUTHORS_TEXTS = (
    *("rra.yaml", "README.md", "LICENSE", "AGENTS.md", "CLAUDE.md", "GEMINI.md"),
    *(".agents", "guide", "launchers"),
)


class Demo:
    """Commands, one after the other, in a place of their own.

    Attributes:
        place: Temporary directory of this demonstration.
        env: Variables of every command.
    """

    def __init__(self, place: Path) -> None:
        """Start the clock."""
        self.place = place
        self._started = time.monotonic()
        self._bold = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        self.env = {
            **os.environ,
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "RRA_CACHE": str(place / "cache"),
            "RRA_STATE": str(place / "state"),
            "OMP_NUM_THREADS": "1",
        }

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def title(self, text: str) -> None:
        """Print a heading with the seconds since the start."""
        bold, plain = ("\033[1m", "\033[0m") if self._bold else ("", "")
        print(f"\n{bold}== {text}{plain}  [{self.seconds:.0f} s]", flush=True)

    def call(
        self, *argv: str | Path, cwd: Path, code: int | None = 0, lines: int = 8
    ) -> subprocess.CompletedProcess[str]:
        """Show a command, run it, print the end of what it says, and check its exit code.

        Args:
            argv: The command.
            cwd: Where it runs.
            code: The exit code it must have; None takes any.
            lines: How many of its last lines are shown.

        Raises:
            SystemExit: It ended with another exit code.
        """
        words = [str(word) for word in argv]
        shown = shlex.join(words).replace(f"{self.place}/", "")
        print(f"$ {shown}", flush=True)
        done = subprocess.run(
            words,
            cwd=cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
        )
        wrong = code is not None and done.returncode != code
        said = (done.stderr + done.stdout).rstrip().splitlines()
        for line in said if wrong else said[-lines:] if lines else []:
            print(f"    {line}", flush=True)
        if wrong:
            fail(f"{shown} ended with {done.returncode}, not {code}")
        return done

    def ask(self, *argv: str | Path, cwd: Path, code: int = 0) -> dict[str, Any]:
        """Call a verb with ``--json`` and return its result."""
        done = self.call(*argv, "--json", cwd=cwd, code=code, lines=0)
        result = json.loads(done.stdout)["result"]
        if not isinstance(result, dict):
            fail(f"{argv[1]} --json gave no result")
        return result


def fail(reason: str) -> None:
    """End the demonstration with an error.

    Raises:
        SystemExit: always.
    """
    print(f"\ndemo: {reason}", file=sys.stderr, flush=True)
    raise SystemExit(1)


def check(*, that: bool, otherwise: str) -> None:
    """End with an error when something is not as this demonstration says."""
    if not that:
        fail(otherwise)


def messy(demo: Demo) -> Path:
    """Try the repository as it is: the locked environment is there, the command fails."""
    demo.title("1. The repository as it was found")
    code = demo.place / "upstream"
    shutil.copytree(HERE / "upstream", code)
    demo.call("ls", "-R", cwd=code, lines=20)
    demo.title("   its environment, from the shipped lock with plain hashes")
    venv = demo.place / "by-hand"
    lock = HERE / "artifact" / "environment" / "cpu" / "requirements.txt"
    demo.call("uv", "venv", "--quiet", "--python", "3.11", venv, cwd=code)
    install = ("uv", "pip", "install", "--quiet", "--python", venv, "--require-hashes")
    demo.call(*install, "--requirement", lock, cwd=code)
    demo.title("   the commands of its README")
    python = venv / "bin" / "python"
    for script in ("classify.py", "prepare.py"):
        failed = demo.call(python, script, cwd=code, code=None, lines=3)
        check(that=failed.returncode != 0, otherwise=f"{script} of the messy copy did not fail")
    return code


def repair(demo: Demo, code: Path) -> None:
    """Apply each shipped repair to the copy and show the error that it cures."""
    demo.title("2. The shipped repairs, one after the other")
    python = demo.place / "by-hand" / "bin" / "python"
    patches = sorted((HERE / "artifact" / "guide" / "repairs").glob("*.patch"))
    for patch in patches:
        number = patch.name[:4]
        wanted = CURES.get(number)
        if wanted:
            before = attempt(demo, python, code)
            check(that=wanted in before, otherwise=f"repair {number} cures another error: {before}")
            print(f"    error: {before}")
        demo.call("git", "apply", patch, cwd=code)
        if wanted:
            check(that=wanted not in attempt(demo, python, code), otherwise=f"{number} cures nothing")
    print("    no error is left")
    clean(code)
    demo.call("rra", "repair", HERE / "artifact", cwd=demo.place)


def attempt(demo: Demo, python: Path, code: Path) -> str:
    """Run both scripts in the right order in a fresh copy; return the last line of the error."""
    copy = demo.place / "attempt"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(code, copy)
    script = f"{shlex.quote(str(python))} prepare.py && {shlex.quote(str(python))} classify.py"
    script += " && cat results/metrics.json"
    done = subprocess.run(
        ["bash", "-c", script], cwd=copy, env=demo.env, capture_output=True, text=True, check=False
    )
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    named = [line for line in lines if "Error: " in line or "No such file" in line]
    return (named or lines or [""])[-1] if done.returncode else ""
