"""What packing costs: a tree like a site-packages folder, beside GNU tar piped into zstd.

``python benchmarks/bundle.py`` writes the tree into a temporary folder, has each program archive
and compress the same files, in processes of its own and in turn, and prints the medians of CPU and
wall seconds, the largest memory, and ratios; then the same for a tree of ten times the size.
Machines differ, so only the ratios say something; see benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

#: A median file of a site-packages folder has 3 KiB; a few libraries have most of the bytes.
MEDIAN, SPREAD = 3 << 10, 1.9
#: Share of the bytes that is text; the rest looks like compiled code.
TEXT = 0.55
WORDS = 4000
LINES = 60_000

REFERENCE = "GNU tar | zstd -3"
OURS = "rra: pack_bundle"
AGAIN = "rra: again, unchanged"
BEGINNING = "rra: with one file"

MANIFEST = """\
rra: "1.0"
name: many-files
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
ARTIFACT = {
    "rra.yaml": MANIFEST,
    "environment/cpu/pylock.toml": PYLOCK,
    "environment/cpu/requirements.txt": "",
    "environment/cpu/README.md": "Python 3.11, no packages.\n",
    "guide/GUIDE.md": "# Guide\n\nRun `bash launchers/main.sh`.\n",
    "launchers/main.sh": "#!/bin/sh\ntrue\n",
    "LICENSE": "MIT License\n\nPermission is hereby granted, free of charge, to any person.\n",
    "README.md": "# Many files\n",
}


@dataclasses.dataclass(frozen=True)
class Used:
    """What a command took: seconds on the wall, seconds of processor, bytes of memory."""

    wall: float
    cpu: float
    memory: int


def median(runs: Sequence[Used]) -> Used:
    """Return the medians of several runs, each number for itself, and the largest memory."""
    return Used(
        statistics.median(run.wall for run in runs),
        statistics.median(run.cpu for run in runs),
        max(run.memory for run in runs),
    )


# ------------------------------------------------------------------------------------- tree


def lines(chance: random.Random) -> list[bytes]:
    """Return lines of something like Python, of words of which few are frequent."""
    letters = "abcdefghijklmnopqrstuvwxyz_"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 14))) for _ in range(WORDS)]
    weights = [1 / (rank + 3) for rank in range(WORDS)]
    shapes = ("{} = {}({}, {})", "def {}({}, {}):", "if {}.{} is not {}:", "return {}[{}]", "# {}")
    drawn = iter(chance.choices(words, weights, k=5 * LINES))
    made = []
    for _ in range(LINES):
        shape = "    " * chance.randint(0, 3) + chance.choice(shapes)
        made.append(shape.format(*(next(drawn) for _ in range(shape.count("{}")))))
    return [(line + "\n").encode() for line in made]


def content(chance: random.Random, known: Sequence[bytes], size: int, *, is_text: bool) -> bytes:
    """Return a file's bytes: lines, or noise with short repeats as in machine code."""
    if is_text:
        text = b"".join(chance.choices(known, k=size // 24 + 1))
        return text[:size]
    pieces = []
    left = size
    while left > 0:
        piece = chance.randbytes(48) + bytes(16) + chance.choice(known) * 2
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)[:size]


def write_tree(root: Path, files: int, size: int, seed: int = 5) -> None:
    """Write so many files of so many bytes together, in folders as packages have them."""
    chance = random.Random(seed)  # noqa: S311 - the same tree each time
    known = lines(chance)
    sizes = [int(chance.lognormvariate(0, SPREAD) * MEDIAN) for _ in range(files)]
    factor = size / sum(sizes)
    for number, bare in enumerate(sizes):
        length = int(bare * factor)
        is_text = length < 256 << 10 or chance.random() < TEXT
        parts = [f"package_{number // 150:03}", f"sub_{number % 150 // 25}"]
        parts += ["tests", "data"][: number % 25 // 9]
        suffix = chance.choice((".py", ".py", ".py", ".pyi", ".h")) if is_text else ".so"
        place = root.joinpath(
            *parts, f"module_{number % 25:02}_{chance.getrandbits(20):05x}{suffix}"
        )
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content(chance, known, length, is_text=is_text))
        if suffix == ".so":
            place.chmod(0o755)


def make_artifact(root: Path, files: int, size: int) -> None:
    """Write a small locked artifact whose code is such a tree."""
    from rra import api

    for name, text in ARTIFACT.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    write_tree(root / "code", files, size)
    api.lock(root, keep=True)


# --------------------------------------------------------------------------------- programs


def inside(what: str, root: Path, target: Path) -> None:
    """Pack in this process, with rra or with the tarfile and zstandard of Python."""
    if what == "rra":
        from rra.artifact import load_artifact
        from rra.bundle.layout import LayoutStore
        from rra.bundle.pack import pack_bundle

        pack_bundle(load_artifact(root), LayoutStore(target))
        return
    import tarfile

    import zstandard

    with (
        target.open("wb") as file,
        zstandard.ZstdCompressor(level=3).stream_writer(file) as encoder,
        tarfile.open(fileobj=encoder, mode="w|") as tar,
    ):
        tar.add(root, arcname=".")


def programs(root: Path, target: Path) -> dict[str, list[str]]:
    """Return the command of each program for the same files."""
    own = [sys.executable, str(Path(__file__).resolve()), "--inside"]
    pipe = 'tar -cf - -C "$1" . | zstd -q -3 -c > "$2"'
    return {
        REFERENCE: ["sh", "-c", pipe, "sh", str(root), str(target)],
        "tarfile + zstandard": [*own, "tarfile", str(root), str(target)],
        OURS: [*own, "rra", str(root), str(target)],
        BEGINNING: [*own, "rra", f"{root}-small", str(target)],
    }


def measure(argv: Sequence[str], environment: Mapping[str, str]) -> Used:
    """Run a command, and say what it and its children took; one that fails ends the benchmark."""
    began = time.perf_counter()
    process = subprocess.Popen(
        argv,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(argv[:6])} … ended with {process.returncode}")
    return Used(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def remove(place: Path) -> None:
    """Remove a file or folder, if there is one."""
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)


def results(root: Path, folder: Path, rounds: int, *, rules: bool) -> dict[str, Used]:
    """Measure every program on one tree, in turn, so that what disturbs meets all of them."""
    target, cache = folder / "target", folder / "cache"
    commands = programs(root, target)
    if rules:
        verb = [sys.executable, "-m", "rra", "pack", str(root), f"oci-layout:{target}"]
        commands["rra pack, with its rules"] = verb
    runs: dict[str, list[Used]] = {}
    for _ in range(rounds):
        for name, argv in commands.items():
            environment = {"RRA_CACHE": str(cache)}
            runs.setdefault(name, []).append(measure(argv, environment))
            remove(target)
            if name == OURS:
                runs.setdefault(AGAIN, []).append(measure(argv, environment))
                remove(target)
            remove(cache)
    return {name: median(found) for name, found in runs.items()}


# ----------------------------------------------------------------------------------- output


def table(found: Mapping[str, Used]) -> Iterator[str]:
    """Yield the lines of one tree, with ratios to the reference."""
    other = found[REFERENCE]
    for name, used in found.items():
        yield (
            f"  {name:<28}{used.cpu:8.2f}{used.wall:8.2f}{used.memory / 2**20:8.0f}"
            f"{used.cpu / other.cpu:8.2f}{used.wall / other.wall:8.2f}"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=15_000, help="files of the large tree")
    parser.add_argument("--mib", type=int, default=500, help="MiB of the large tree")
    parser.add_argument("--rounds", type=int, default=5, help="runs of which the median counts")
    parser.add_argument("--rules", action="store_true", help="measure `rra pack` as a whole, too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there, too")
    parser.add_argument(
        "--inside", nargs=3, metavar=("WHAT", "ROOT", "TARGET"), help=argparse.SUPPRESS
    )
    parser.add_argument(
        "--tree", nargs=3, metavar=("ROOT", "FILES", "SIZE"), help=argparse.SUPPRESS
    )
    options = parser.parse_args()
    if options.tree:
        make_artifact(Path(options.tree[0]), int(options.tree[1]), int(options.tree[2]))
        return
    if options.inside:
        inside(options.inside[0], Path(options.inside[1]), Path(options.inside[2]))
        return
    kept: dict[str, dict[str, Used]] = {}
    with tempfile.TemporaryDirectory() as place:
        print(f"{'':<30}{'CPU s':>8}{'wall s':>8}{'MiB':>8}{'CPU':>8}{'wall':>8}  (ratios)")
        for share in (10, 1):
            files, mib = options.files // share, options.mib // share
            root = Path(place) / "artifact"
            # In a process of its own: the memory of this one counts for those that it starts.
            tree = [sys.executable, str(Path(__file__).resolve()), "--tree", str(root)]
            subprocess.run([*tree, str(files), str(mib << 20)], check=True)
            tree[-1] += "-small"
            subprocess.run([*tree, "1", "1000"], check=True)
            title = f"pack {mib} MiB in {files} files"
            kept[title] = results(root, Path(place), options.rounds, rules=options.rules)
            print(title, *table(kept[title]), sep="\n", flush=True)
            remove(root)
            remove(Path(f"{root}-small"))
    small, large = kept.values()
    print("ten times the files and bytes take so many times the CPU seconds, and memory")
    for name in small:
        if name != BEGINNING:
            more = large[name].memory / small[name].memory
            print(f"  {name:<28}{large[name].cpu / small[name].cpu:8.1f}{more:24.1f}")
    begin = large[BEGINNING].cpu
    bare = large[OURS].cpu - begin
    print("without what packing one file takes")
    print(f"  {'ten times as much':<28}{bare / (small[OURS].cpu - begin):8.1f}")
    print(f"  {'beside ' + REFERENCE:<28}{bare / large[REFERENCE].cpu:8.2f}")
    if options.json:
        plain = {
            title: {name: dataclasses.asdict(used) for name, used in found.items()}
            for title, found in kept.items()
        }
        options.json.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
