"""What ``rra registry check`` and ``list`` cost for 1,000 and for 10,000 bundles.

``python benchmarks/registry_check.py`` writes small bundles with contents of their own into a
temporary folder, gives a file of references to each command in a process of its own, and prints
seconds, the largest memory, and how both grow from one size to the next. Machines differ, so only
the growth says something; see benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: Different bundles; references beyond them name one of these again in another folder.
DIFFERENT = 50


@dataclasses.dataclass(frozen=True)
class Used:
    """What a command took: seconds on the wall, seconds of processor, bytes of memory."""

    wall: float
    cpu: float
    memory: int


def run(command: list[str]) -> Used:
    """Run a command; it may say that not everything passes, but not fail otherwise."""
    started = time.monotonic()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tempfile.gettempdir()
    )
    _, status, used = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    process.returncode = code
    if code not in {0, 1}:
        raise SystemExit(f"{' '.join(command)} ended with {code}")
    wall = time.monotonic() - started
    return Used(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def template(place: Path) -> Path:
    """Write a locked artifact and return the layout that it was packed into."""
    from rra.api import lock, pack

    root = place / "artifact"
    files = {
        "rra.yaml": MANIFEST,
        "code/main.py": "print('value: 1.0')\n",
        "environment/cpu/pylock.toml": PYLOCK,
        "environment/cpu/requirements.txt": "",
        "environment/cpu/README.md": "Python 3.11, no packages.\n",
        "guide/GUIDE.md": "# Guide\n\nRun `bash launchers/main.sh`.\n",
        "launchers/main.sh": "#!/bin/sh\ntrue\n",
        "LICENSE": "MIT License\n\nPermission is hereby granted, free of charge, to any person.\n",
        "README.md": "# One of many\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "launchers/main.sh").chmod(0o755)
    lock(root, keep=True)
    made = pack(root, f"oci-layout:{place}/template")
    if not made.ok:
        raise SystemExit("\n".join(str(problem) for problem in made.problems))
    return place / "template"


MANIFEST = """\
rra: "1.0"
name: one-of-many
version: 1.0.0
license: MIT
environments: {cpu: {kind: pylock, python: "3.11", lock: environment/cpu/pylock.toml}}
launchers:
  main: {entry: launchers/main.sh, environment: cpu, outputs: [metrics.json]}
experiments:
  table:
    outcomes:
      value:
        type: number
        reported: "1.0"
        selector: {launcher: main, file: metrics.json, json: /value}
"""
PYLOCK = """\
lock-version = "1.0"
requires-python = "==3.11.*"
created-by = "rra"
packages = []
"""


def other(layout: Path, target: Path, number: int) -> None:
    """Write a bundle with a digest of its own: the same blobs, another annotation."""
    blobs = target / "blobs/sha256"
    blobs.mkdir(parents=True)
    (target / "oci-layout").write_bytes((layout / "oci-layout").read_bytes())
    index = json.loads((layout / "index.json").read_bytes())
    (entry,) = index["manifests"]
    named = entry["digest"].removeprefix("sha256:")
    for path in (layout / "blobs/sha256").iterdir():
        if path.name != named:
            os.link(path, blobs / path.name)
    document = json.loads((layout / "blobs/sha256" / named).read_bytes())
    document["annotations"]["org.example.number"] = str(number)
    data = json.dumps(document).encode()
    digest = hashlib.sha256(data).hexdigest()
    (blobs / digest).write_bytes(data)
    entry |= {"digest": f"sha256:{digest}", "size": len(data)}
    (target / "index.json").write_text(json.dumps(index))


def measure(place: Path, layouts: list[Path], count: int, jobs: int) -> dict[str, Used]:
    """Check and list so many references, and check once more when all is known."""
    file, out = place / f"references-{count}.txt", place / f"out-{count}.jsonl"
    lines = [f"oci-layout:{layouts[number % len(layouts)]}" for number in range(count)]
    # The same place written in another way is another reference.
    lines = [f"{line}{'/.' * (number // len(layouts))}" for number, line in enumerate(lines)]
    file.write_text("\n".join(lines))
    command = [sys.executable, "-m", "rra", "registry"]
    check = [*command, "check", str(file), "--jsonl", str(out), "--jobs", str(jobs)]
    found = {"check": run(check)}
    if out.read_bytes().count(b"\n") != count:
        raise SystemExit(f"{out} has not {count} lines")
    found["check, all known"] = run(check)
    found["list"] = run([*command, "list", "--from", str(file), "--jobs", str(jobs)])
    return found


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rra-benchmark-") as folder:
        place = Path(folder)
        os.environ |= {"RRA_CACHE": f"{folder}/cache", "TMPDIR": folder}
        first = template(place)
        layouts = [place / f"bundle-{number}" for number in range(DIFFERENT)]
        for number, layout in enumerate(layouts):
            other(first, layout, number)
        before: dict[str, Used] = {}
        times = 1.0
        print(f"{'':18}{'bundles':>9}{'wall s':>9}{'CPU s':>9}{'MiB':>7}{'time ×':>8}{'MiB ×':>7}")
        for earlier, count in zip([0, *given.counts], given.counts, strict=False):
            found = measure(place, layouts, count, given.jobs)
            for name, used in found.items():
                grown = ""
                if name in before:
                    times = used.cpu / before[name].cpu / (count / earlier)
                    grown = f"{times:8.2f}{used.memory / before[name].memory:7.2f}"
                row = f"{name:18}{count:9}{used.wall:9.1f}{used.cpu:9.1f}"
                print(f"{row}{used.memory / 2**20:7.0f}{grown}", flush=True)
            before = found


if __name__ == "__main__":
    main()
