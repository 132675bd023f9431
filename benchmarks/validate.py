"""How long validating takes: one large manifest, one ten times as large, many small artifacts.

``python benchmarks/validate.py`` writes the documents into a temporary folder, has each program
check the same files in a process of its own, and prints CPU and wall seconds, the largest memory,
and ratios. Machines differ, so only the ratios say something; see benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "schemas" / "editor" / "manifest.schema.json"
#: Processes of the command line that stand for one process for each artifact.
SAMPLE = 10

HEAD = """\
rra: "1.0"
name: wine-discriminant
version: 1.0.0
license: MIT
environments: {cpu: {kind: pylock, python: "3.11", lock: environment/cpu/pylock.toml}}
launchers:
  lda: {entry: launchers/lda.sh, environment: cpu, outputs: [metrics.json]}
experiments:
"""
EXPERIMENT = """\
  table-{number}:
    title: Accuracy of run {number}
    outcomes:
      accuracy:
        type: number
        reported: "98.9"
        unit: percent
        selector: {{launcher: lda, file: metrics.json, json: /runs/{number}, unit: fraction}}
"""
#: What is wrong in each experiment of a manifest: a text of `EXPERIMENT`, and what stands for it.
FAULTS = {
    "an unknown key": ("unit: percent", "unitt: percent"),
    "a number for a text": ('"98.9"', "98.9"),
    "no locator": (", json: /runs/{number}", ""),
    "an undefined launcher": ("launcher: lda,", "launcher: ldb-{number},"),
}


@dataclasses.dataclass(frozen=True)
class Used:
    """What a process took: seconds on the wall, seconds of processor, bytes of memory."""

    wall: float
    cpu: float
    memory: int

    def times(self, count: float) -> Used:
        """Return what a number of such processes take one after the other."""
        return Used(self.wall * count, self.cpu * count, self.memory)


def measure(argv: Sequence[str], fine: Sequence[int] = (0,)) -> Used:
    """Run a program, and say what it took; any other end than a fine one ends the benchmark."""
    began = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in fine:
        sys.exit(f"{' '.join(argv[:6])} … ended with {process.returncode}")
    return Used(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def best(argv: Sequence[str], rounds: int) -> Used:
    """Return the quickest of several runs: what disturbs only adds."""
    return min((measure(argv) for _ in range(rounds)), key=lambda used: used.cpu)


# -------------------------------------------------------------------------------- documents


def manifest(experiments: int, fault: str = "") -> str:
    """Return a manifest with so many experiments, each with the same fault when one is named."""
    experiment = EXPERIMENT.replace(*FAULTS[fault]) if fault else EXPERIMENT
    head = HEAD
    if fault:  # near names to look through
        launcher = HEAD.splitlines(keepends=True)[6]
        more = [launcher.replace("lda:", f"lda-{number}:") for number in range(experiments)]
        head = HEAD.replace(launcher, launcher + "".join(more))
    return head + "".join(experiment.format(number=number) for number in range(experiments))


def write_artifacts(folder: Path, count: int) -> list[Path]:
    """Write small artifacts that can be read; return their manifests."""
    manifests = []
    for number in range(count):
        root = folder / f"{number:05}"
        for name, text in {
            "rra.yaml": manifest(1).replace("wine-discriminant", f"wine-{number}"),
            "launchers/lda.sh": "true\n",
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        manifests.append(root / "rra.yaml")
    return manifests


# --------------------------------------------------------------------------------- programs


def inside(what: str, listing: Path) -> None:
    """Check the files of a list in this process, with the Python functions of rra."""
    from rra.artifact import load_artifact
    from rra.artifact.checking import check_bytes

    for line in listing.read_text(encoding="utf-8").splitlines():
        path = Path(line)
        if what == "load":
            load_artifact(path.parent)
            continue
        checked = check_bytes(path.read_bytes(), "manifest", source=line)
        if what != "faults" and not checked.ok:
            sys.exit(str(checked.problems[0]))


def programs(files: Sequence[Path], listing: Path) -> dict[str, list[str]]:
    """Return the command of each program for the same files."""
    listing.write_text("".join(f"{path}\n" for path in files), encoding="utf-8")
    own = [sys.executable, str(Path(__file__).resolve()), "--inside"]
    checker = [sys.executable, "-m", "check_jsonschema", "--schemafile", str(SCHEMA)]
    return {
        "rra: check_bytes": [*own, "check", str(listing)],
        "check-jsonschema": [*checker, *map(str, files)],
    }


# ----------------------------------------------------------------------------------- output


def row(name: str, used: Used, other: Used | None = None) -> str:
    """Return a line of the table, with the ratio of CPU seconds to another program's."""
    ratio = f"{used.cpu / other.cpu:8.2f}" if other is not None else ""
    return f"  {name:<28}{used.cpu:9.2f}{used.wall:9.2f}{used.memory / 2**20:9.0f}{ratio}"


def results(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, dict[str, Used]]]:
    """Yield each group of measurements, in the order in which they are made."""
    lint = [sys.executable, "-m", "rra", "lint", "--document", "manifest"]
    for size in (options.experiments, 10 * options.experiments):
        path = folder / f"{size}.yaml"
        path.write_text(manifest(size), encoding="utf-8")
        commands = programs([path], folder / "list") | {"rra lint FILE": [*lint, str(path)]}
        used = {name: best(argv, options.rounds) for name, argv in commands.items()}
        yield f"one manifest of {size} experiments, {path.stat().st_size} bytes", used
    files = write_artifacts(folder / "artifacts", options.artifacts)
    commands = programs(files, folder / "list")
    commands["rra: load_artifact"] = [
        *commands["rra: check_bytes"][:-2],
        "load",
        str(folder / "list"),
    ]
    used = {name: best(argv, 1) for name, argv in commands.items()}
    one = [sys.executable, "-m", "rra", "lint"]
    # it ends with 1: these artifacts can be read, and lack what a reader would want
    runs = [measure([*one, str(path.parent)], (0, 1)) for path in files[:SAMPLE]]
    quickest = min(runs, key=lambda found: found.cpu)
    used[f"rra lint, × {options.artifacts}"] = quickest.times(options.artifacts)
    yield f"{options.artifacts} small artifacts", used


def growth(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, float]]:
    """Yield each fault with how many times the CPU seconds ten times the experiments take."""
    own = [sys.executable, str(Path(__file__).resolve()), "--inside", "faults"]
    start = best([*own, os.devnull], options.rounds).cpu
    for fault in FAULTS:
        taken = []
        for size in (options.experiments // 2, 5 * options.experiments):
            path = folder / f"fault-{size}.yaml"
            path.write_text(manifest(size, fault), encoding="utf-8")
            (folder / "list").write_text(f"{path}\n", encoding="utf-8")
            taken.append(best([*own, str(folder / "list")], options.rounds).cpu - start)
        yield fault, taken[1] / taken[0]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiments", type=int, default=1000)
    parser.add_argument("--artifacts", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3, help="runs of which the best counts")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there, too")
    parser.add_argument("--inside", nargs=2, metavar=("WHAT", "LIST"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        inside(options.inside[0], Path(options.inside[1]))
        return
    kept: dict[str, dict[str, dict[str, float]]] = {}
    found: list[dict[str, Used]] = []
    print(f"{'':<30}{'CPU s':>9}{'wall s':>9}{'MiB':>9}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as place:
        for title, used in results(options, Path(place)):
            print(title)
            for name, taken in used.items():
                print(row(name, taken, used["check-jsonschema"]), flush=True)
            found.append(used)
            kept[title] = {name: dataclasses.asdict(taken) for name, taken in used.items()}
        print("ten times the experiments take so many times the CPU seconds")
        for name, small in found[0].items():
            print(f"  {name:<28}{found[1][name].cpu / small.cpu:9.1f}")
        print("the same with a fault in each experiment, without the start of the process")
        for fault, times in growth(options, Path(place)):
            print(f"  {fault:<28}{times:9.1f}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
