"""What the benchmarks share: measuring a command, medians, and tables of ratios."""

from __future__ import annotations

import dataclasses
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

MIB = 1 << 20
BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
"""Programs in Python keep what they compile, as they do where they are installed.

The first run of each, which compiles, does not count (`median`)."""


@dataclasses.dataclass(frozen=True)
class Used:
    """What a command took: seconds on the wall, seconds of processor, bytes of memory."""

    wall: float
    cpu: float
    memory: int


def median(runs: Sequence[Used]) -> Used:
    """Return the medians of several runs, each number for itself, and the largest memory.

    The first run does not count, unless it is the only one.
    """
    runs = runs[1:] or runs
    return Used(
        statistics.median(run.wall for run in runs),
        statistics.median(run.cpu for run in runs),
        max(run.memory for run in runs),
    )


def measure(argv: Sequence[str], environment: Mapping[str, str]) -> Used:
    """Run a command, and say what it and its children took; one that fails ends the benchmark."""
    began = time.perf_counter()
    process = subprocess.Popen(
        argv,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, **BYTECODE, **environment},
    )
    assert process.stderr is not None  # noqa: S101 - a pipe was asked for
    said = process.stderr.read()
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        tail = said.decode(errors="replace")[-1500:]
        sys.exit(f"{' '.join(argv[:8])} … ended with {process.returncode}\n{tail}")
    return Used(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def remove(place: Path) -> None:
    """Remove a file or folder, if there is one."""
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)


def table(found: Mapping[str, Used], reference: str) -> Iterator[str]:
    """Yield the lines of one comparison, with ratios to the reference."""
    other = found[reference]
    for name, used in found.items():
        yield (
            f"  {name:<30}{used.cpu:8.2f}{used.wall:8.2f}{used.memory / MIB:8.0f}"
            f"{used.cpu / other.cpu:8.2f}{used.wall / other.wall:8.2f}"
        )


HEADER = f"{'':<32}{'CPU s':>8}{'wall s':>8}{'MiB':>8}{'CPU':>8}{'wall':>8}  (ratios)"


def gate(what: str, value: float, most: float, unit: str = "") -> str:
    """Return the line that says whether a gate is met."""
    verdict = "met" if value <= most else "NOT MET"
    return f"  {verdict:<8}{what}: {value:.2f}{unit}, at most {most:g}{unit}"
