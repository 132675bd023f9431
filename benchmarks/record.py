"""What recording a run costs: plain strace, reprozip and the recorder of `rra` beside nothing.

    .venv/bin/python benchmarks/record.py            # half an hour at most
    .venv/bin/python benchmarks/record.py --rounds 1 --quick

Two programs are run under each: a training run (logistic regression in NumPy, one thread) and one
that opens 40,000 small files. CPU seconds are those of the program, of what watches it, and of
what reads the trace; the start of `rra` itself and the writing of the record are left out. Of each
the least of all rounds counts.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from measuring import Used, gate, remove

if TYPE_CHECKING:
    from rra.launch.recorder import Recorder

NOTHING = "no recorder"
OURS = "rra: strace"
HOOK = "rra: audit hook"
STRACE = "strace -f"
REPROZIP = "reprozip trace"
WAYS = (NOTHING, OURS, HOOK, STRACE, REPROZIP)
MOST_TRAINING = 1.03
_SUBREAPER = 36
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

TRAIN = """\
import sys
import numpy as np
rows, epochs = int(sys.argv[1]), int(sys.argv[2])
random = np.random.default_rng(7)
truth = random.normal(size=200)
x = random.normal(size=(rows, 200))
y = (x @ truth + random.normal(size=rows) > 0).astype(float)
w = np.zeros(200)
for epoch in range(epochs):
    for start in range(0, rows, 500):
        part, wanted = x[start:start + 500], y[start:start + 500]
        w -= 0.1 * part.T @ (1 / (1 + np.exp(-part @ w)) - wanted) / len(part)
    np.savez(f"checkpoint-{epoch}.npz", w=w)
with open("metrics.json", "w") as file:
    file.write(f'{{"accuracy": {((x @ w > 0) == y).mean()}}}')
"""
OPENS = """\
import os, sys
total = 0
for folder in sorted(os.listdir(sys.argv[1])):
    for name in os.listdir(os.path.join(sys.argv[1], folder)):
        with open(os.path.join(sys.argv[1], folder, name), "rb") as file:
            total += len(file.read())
print(total)
"""


# ------------------------------------------------------------------ one run, in its own process


def run_one(way: str, place: Path, command: list[str], reprozip: Path | None) -> Used:
    """Run a command under one recorder and say what all processes took together.

    strace is started detached and would be nobody's child; as a subreaper this process inherits
    it, so that what it took is counted.
    """
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    os.chdir(place)
    if way in {OURS, HOOK}:
        return _ours(way, command)
    log = ["-f", "-o", str(place / "log")]
    if way == STRACE:
        command = ["strace", *log, *command]
    elif way == REPROZIP:
        folder = ["-d", str(place / "trace"), "--dont-identify-packages", "--overwrite"]
        command = [str(reprozip), "trace", *folder, *command]
    return _measured(command)


def _ours(way: str, command: list[str]) -> Used:
    from rra.launch.recorder import Recorder
    from rra.launch.workspace import workspace
    from rra.sandbox import View, best_sandbox

    path = os.environ["PATH"]
    if way == HOOK:
        os.environ["PATH"] = "/nonexistent"
    box = best_sandbox("none")
    with tempfile.TemporaryDirectory() as name, workspace(Path(name)) as space:
        readable = [Path(part) for part in command if part.startswith("/")]
        recorder = Recorder.start(space, box, readable=readable, python=sys.version.split()[0])
        _reap()
        environment = {"PATH": path, "PYTHONPATH": str(recorder.python_path), **ONE_THREAD}
        view = View(temporary=space.temporary, cwd=Path(), env=environment)
        return _measured(recorder.wrap(box.wrap(command, view)), recorder)


def _measured(command: list[str], recorder: Recorder | None = None) -> Used:
    own, children = time.process_time(), _children()
    began = time.perf_counter()
    done = subprocess.run(
        command,
        env={**os.environ, **ONE_THREAD},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if recorder is not None:
        seen, level = recorder.finish()
        expected = "audit-hook" if "audit" in sys.argv[2] else "strace"
        if level != expected or not seen.writes | seen.reads:
            sys.exit(f"the level is {level}, {len(seen.reads)} reads: {seen.gaps}")
    wall = time.perf_counter() - began
    _reap()
    if done.returncode:
        sys.exit(done.stderr.decode(errors="replace")[-1500:])
    return Used(wall, time.process_time() - own + _children() - children, 1)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _reap() -> None:
    """Wait for what was left to this process, so that it counts."""
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


# ------------------------------------------------------------------------------ the comparison


def install_reprozip(place: Path) -> Path | None:
    """Install reprozip into an environment of its own; None where that cannot be done."""
    environment = place / "reprozip"
    install = [environment / "bin" / "python", "-m", "pip", "install", "-q"]
    steps = [[sys.executable, "-m", "venv", environment], [*install, "reprozip==1.3.2"]]
    for step in steps:
        done = subprocess.run(list(map(str, step)), capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"reprozip is left out: {done.stderr.strip().splitlines()[-1:]}")
            return None
    program = environment / "bin" / "reprozip"
    subprocess.run([program, "usage_report", "--disable"], capture_output=True, check=False)
    return program


def write_files(place: Path, count: int) -> Path:
    """Write that many small files into folders of a thousand."""
    root = place / "files"
    for number in range(count):
        folder = root / f"{number // 1000:03}"
        if number % 1000 == 0:
            folder.mkdir(parents=True)
        (folder / f"{number:05}").write_bytes(b"7" * 64)
    return root


def least(runs: Sequence[Used]) -> Used:
    """Return the least of several runs, each number for itself: what else runs can only add."""
    return Used(min(run.wall for run in runs), min(run.cpu for run in runs), 1)


def compare(
    what: str, command: list[str], place: Path, rounds: int, reprozip: Path | None
) -> dict[str, Used]:
    """Run a command in each way in turn, once to warm up; return the least of each."""
    ways = [way for way in WAYS if way != REPROZIP or reprozip is not None]
    runs: dict[str, list[Used]] = {way: [] for way in ways}
    for _ in range(rounds + 1):
        for way in ways:
            folder = place / "run"
            remove(folder)
            folder.mkdir()
            call = [sys.executable, __file__, "--one", way, str(folder), str(reprozip or "")]
            done = subprocess.run([*call, *command], stdout=subprocess.PIPE, text=True, check=True)
            wall, cpu = json.loads(done.stdout)
            runs[way].append(Used(wall, cpu, 1))
    found = {way: least(one[1:]) for way, one in runs.items()}
    print(f"\n{what}\n{'':<20}{'CPU s':>8}{'wall s':>8}{'CPU':>8}{'wall':>8}  (ratios)")
    other = found[NOTHING]
    for way, used in found.items():
        ratios = f"{used.cpu / other.cpu:8.3f}{used.wall / other.wall:8.3f}"
        print(f"  {way:<18}{used.cpu:8.2f}{used.wall:8.2f}{ratios}", flush=True)
    return found


def lines(
    training: dict[str, Used], opens: dict[str, Used], fewer: dict[str, Used]
) -> Iterator[str]:
    """Yield what the figures come to."""
    yield "\ngrowth of CPU seconds with four times the files (4 is in proportion):"
    for way, used in opens.items():
        yield f"  {way:<18}{used.cpu / fewer[way].cpu:8.2f}"
    yield "\ngates:"
    share = training[OURS].cpu / training[NOTHING].cpu
    yield gate("training, CPU of rra beside no recorder", share, MOST_TRAINING)
    if REPROZIP in opens:
        yield gate("40,000 opens, CPU beside reprozip", opens[OURS].cpu / opens[REPROZIP].cpu, 1)
    yield gate("40,000 opens, CPU beside strace -f", opens[OURS].cpu / opens[STRACE].cpu, 1)


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--one"]:
        way, folder, reprozip, *command = sys.argv[2:]
        program = Path(reprozip) if reprozip else None
        used = run_one(way, Path(folder), command, program)
        print(json.dumps([used.wall, used.cpu]))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10, help="of training; a third for opens")
    parser.add_argument("--quick", action="store_true", help="small programs: does all of it run?")
    asked = parser.parse_args()
    rows, epochs, count = ("4000", "2", 2000) if asked.quick else ("40000", "60", 40_000)
    fewer = max(1, asked.rounds // 3)
    with tempfile.TemporaryDirectory(prefix="rra-record-") as name:
        place = Path(name)
        (place / "train.py").write_text(TRAIN)
        (place / "opens.py").write_text(OPENS)
        installed = install_reprozip(place)
        python = sys.executable
        train = [python, str(place / "train.py"), rows, epochs]
        training = compare("a training run", train, place, asked.rounds, installed)
        many, few = write_files(place, count), write_files(place / "few", count // 4)
        runs = [
            compare(f"{number} small files opened", [python, str(place / "opens.py"), str(files)],
                    place, fewer, installed)
            for number, files in ((count, many), (count // 4, few))
        ]  # fmt: skip
        print("\n".join(lines(training, *runs)))


if __name__ == "__main__":
    main()
