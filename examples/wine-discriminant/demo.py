"""The main job of `rra` on the wine example: from a messy repository to a judged artifact.

Run it by ``make demo``. It works in a new temporary directory, with an empty cache and without
any shipped evidence, shows each command as a person would type it, and ends with an error as
soon as something is not as it says.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent

#: What each repair cures: words of the error that is there before it and gone after it.
CURES = {
    "0001": "has no usable wheels",
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
        shown = shlex.join(words).replace(f"{self.place}/", "").replace(f"{HERE}/", "…/")
        print(f"$ {shown}", flush=True)
        done = subprocess.run(
            words,
            cwd=cwd,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
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
        result: dict[str, Any] = json.loads(done.stdout)["result"]
        return result


def fail(reason: str) -> NoReturn:
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
    """Try the repository as it was found; return the copy."""
    demo.title("1. An old research repository, with the environment that is locked for it")
    code = demo.place / "upstream"
    shutil.copytree(HERE / "upstream", code)
    demo.call("ls", cwd=code)
    lock = HERE / "artifact" / "environment" / "cpu" / "requirements.txt"
    venv = demo.place / "by-hand"
    demo.call("uv", "venv", "--quiet", "--python", "3.11", venv, cwd=code)
    install = ("uv", "pip", "install", "--quiet", "--python", venv, "--require-hashes")
    demo.call(*install, "--requirement", lock, cwd=code)
    print("The commands of its README, in its order:")
    for script in ("classify.py", "prepare.py"):
        tried = demo.call(venv / "bin" / "python", script, cwd=code, code=None, lines=3)
        check(that=tried.returncode != 0, otherwise=f"{script} of the messy copy did not fail")
    shutil.rmtree(code)
    shutil.copytree(HERE / "upstream", code)
    return code


def attempt(demo: Demo, code: Path) -> str:
    """Install as the README says, run both scripts in the right order, look for the result.

    Everything happens in a copy.

    Returns:
        The line that names the first error, or nothing.
    """
    copy = demo.place / "attempt"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(code, copy)
    venv = shlex.quote(str(demo.place / "by-hand"))
    script = f"""
        uv pip install --quiet --dry-run --only-binary :all: --python {venv} -r requirements.txt &&
        {venv}/bin/python prepare.py && {venv}/bin/python classify.py && cat results/metrics.json
    """
    done = subprocess.run(
        ["bash", "-c", script], cwd=copy, env=demo.env, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return ""
    said = [" ".join(line.split()) for line in done.stderr.splitlines() if line.strip()]
    named = [line for line in said if line.startswith("Because") or "cause: Because" in line]
    named += [line for line in said if "Error: " in line or "No such file" in line]
    return (named or said or ["no message"])[-1]


def repair(demo: Demo, code: Path) -> None:
    """Apply each shipped repair to the copy, and show which error it cures."""
    demo.title("2. The shipped repairs, one after the other")
    print("Before each: install, prepare.py, classify.py, and a look for results/metrics.json.")
    error = attempt(demo, code)
    for patch in sorted((HERE / "artifact" / "guide" / "repairs").glob("*.patch")):
        cured = CURES[patch.name[:4]]
        check(that=cured in error, otherwise=f"{patch.name} meets another error: {error}")
        print(f"  {error}")
        demo.call("git", "apply", patch, cwd=code, lines=0)
        error = attempt(demo, code)
        check(that=cured not in error, otherwise=f"{patch.name} cures nothing")
    check(that=not error, otherwise=f"an error is left: {error}")
    print("  no error is left")
    again = demo.place / "upstream-again"
    shutil.copytree(HERE / "upstream", again)
    demo.call("rra", "repair", HERE / "artifact", "--apply-to", again, cwd=demo.place, lines=2)
    demo.call("diff", "-r", again, code, cwd=demo.place)
    demo.call("diff", "-r", code, HERE / "artifact" / "code", cwd=demo.place)
    print("    no difference: upstream + patches = code")


def draft(demo: Demo, code: Path) -> Path:
    """Draft an artifact from the repaired repository, and complete it as its author does."""
    demo.title("3. The draft of an artifact, and what its author adds")
    artifact = demo.place / "wine-discriminant"
    code.rename(artifact)
    drafted = demo.ask("rra", "init", artifact, "--nested", "--no-input", cwd=demo.place)
    blanks = len(drafted["blanks"])
    check(that=blanks > 0, otherwise="init left no blank: what only the author knows was invented")
    print(f"    {blanks} blanks are left for the author; the outcomes that it found:")
    for outcome in drafted["outcomes"]:
        print(f"    {outcome['outcome']}: {outcome['reported']}")
    shipped = HERE / "artifact"
    for name in AUTHORS_TEXTS:
        if (shipped / name).is_dir():
            shutil.rmtree(artifact / name, ignore_errors=True)
            shutil.copytree(shipped / name, artifact / name)
        else:
            shutil.copy(shipped / name, artifact / name)
    for launcher in (artifact / "launchers").iterdir():
        check(
            that=(shipped / "launchers" / launcher.name).exists(), otherwise=f"{launcher} is left"
        )
    print(f"    completed with the shipped texts: {', '.join(AUTHORS_TEXTS)}")
    check(that=not (artifact / "evidence").exists(), otherwise="there is evidence before any run")
    return artifact


def judge(demo: Demo, artifact: Path) -> str:
    """Lock, run, check, re-run as a stranger, audit and report; return the nonce."""
    demo.title("4. Lock, run, guide, lint")
    demo.call("rra", "lock", cwd=artifact)
    demo.call("rra", "run", cwd=artifact, lines=12)
    demo.call("rra", "guide", cwd=artifact)
    demo.call("rra", "lint", cwd=artifact, lines=2)
    demo.title("5. Verify as a stranger: a fresh place, a new environment, a nonce, a plan first")
    references = demo.place / "references.yaml"
    shutil.copy(HERE / "references.yaml", references)
    result = demo.ask(
        *("rra", "verify", "--references", references, "--accept-documented"), cwd=artifact
    )
    reproduction = result["reproduction"]
    obtained = {o["outcome"]: o["verdict"] for o in reproduction["outcomes"]}
    for outcome in reproduction["outcomes"]:
        print(f"    {outcome['outcome']}: {outcome['label']}: {outcome['reason']}")
    check(that=obtained == EXPECTED, otherwise=f"expected {EXPECTED}, obtained {obtained}")
    demo.title("6. Audit: from each number to its file, record, launcher and script; then report")
    demo.call("rra", "audit", "--accept-documented", cwd=artifact, lines=7)
    demo.call("rra", "trace", "table1/lda", cwd=artifact, lines=10)
    report = demo.place / "report.html"
    demo.call("rra", "report", "--output", report, cwd=artifact, lines=2)
    nonce = reproduction["plan"]["nonce"]
    check(that=nonce in report.read_text("utf-8"), otherwise="the report lacks this run's nonce")
    return nonce


def travel(demo: Demo, artifact: Path) -> None:
    """Pack the artifact, send it away, fetch it by its reference and verify what came."""
    demo.title("7. The artifact travels: pack, push, pull, verify what was pulled")
    packed = demo.ask("rra", "pack", artifact, "oci-layout:bundles:1.0.0", cwd=demo.place)
    print(f"    {packed['digest']}")
    with registry(demo.place / "registry") as host:
        if host:
            away = f"{host}/wine-discriminant:1.0.0"
            demo.call("rra", "push", "oci-layout:bundles:1.0.0", away, cwd=demo.place, lines=2)
        else:
            print("    docker-registry is not installed: a single file stands in for a registry")
            away = "oci-archive:wine.oci.tar:1.0.0"
            demo.call("rra", "copy", "oci-layout:bundles:1.0.0", away, cwd=demo.place, lines=2)
        fetch = ("rra", "pull", away, "pulled") if host else ("rra", "unpack", away, "pulled")
        fetched = demo.ask(*fetch, cwd=demo.place)
    check(that=fetched["digest"] == packed["digest"], otherwise="another bundle came back")
    again = demo.ask(
        *("rra", "verify", "pulled", "--references", "references.yaml", "--accept-documented"),
        cwd=demo.place,
    )
    obtained = {o["outcome"]: o["label"] for o in again["reproduction"]["outcomes"]}
    check(that=obtained == EXPECTED, otherwise=f"the pulled copy gives {obtained}")
    print(f"    the pulled copy gives the same: {', '.join(obtained.values())}")


@contextlib.contextmanager
def registry(folder: Path) -> Iterator[str]:
    """Run docker-registry on loopback while the block runs; yield nothing where it is missing."""
    program = shutil.which("docker-registry")
    if program is None:
        yield ""
        return
    folder.mkdir()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{probe.getsockname()[1]}"
    config = folder / "config.yml"
    config.write_text(
        f"version: 0.1\nlog: {{level: error}}\nhttp: {{addr: '{host}'}}\n"
        f"storage: {{filesystem: {{rootdirectory: {folder}/storage}}}}\n"
    )
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([program, "serve", config], **quiet)
    try:
        deadline = time.monotonic() + 20
        while not answers(host):
            check(that=time.monotonic() < deadline, otherwise="docker-registry does not start")
            time.sleep(0.05)
        yield host
    finally:
        server.terminate()
        server.wait()


def answers(host: str) -> bool:
    """Tell whether somebody listens at a host and port."""
    name, _, port = host.partition(":")
    with contextlib.suppress(OSError), socket.create_connection((name, int(port)), timeout=1):
        return True
    return False


def summary(demo: Demo, nonce: str) -> None:
    """Print the verdict of each outcome, the nonce and the report."""
    demo.title("Done")
    for name, verdict in EXPECTED.items():
        print(f"{name:12} {verdict}")
    print(f"{'nonce':12} {nonce}")
    print(f"{'report':12} {demo.place / 'report.html'}")


def main() -> None:
    """Show it all, in a directory that stays, so that the report can be read."""
    place = Path(tempfile.mkdtemp(prefix="rra-demo-")).resolve()
    demo = Demo(place)
    print(f"Working in {place}; nothing outside it is changed.")
    code = messy(demo)
    repair(demo, code)
    artifact = draft(demo, code)
    nonce = judge(demo, artifact)
    travel(demo, artifact)
    summary(demo, nonce)


if __name__ == "__main__":
    main()
