"""What packing, pushing and pulling cost, beside other programs in the same run.

``python benchmarks/bundle.py`` writes a tree like a site-packages folder and four layers of noise
into a temporary folder, has each program pack, push and pull the same files, in processes of its
own and in turn, and prints the medians of CPU and wall seconds, the largest memory, and ratios;
then the same for a tree of a tenth of its size, how much more the larger ones take, and whether
the gates are met. Machines differ, so only the ratios say something; see benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bundle_moves import LIMIT, UNPACKED, Moves, unpack_reference, write_blobs
from bundle_moves import OURS as MOVES
from bundle_moves import inside as oras_inside
from measuring import BYTECODE, HEADER, Used, gate, measure, median, remove, table

#: A median file of a site-packages folder has 3 KiB; a few libraries have most of the bytes.
MEDIAN, SPREAD = 3 << 10, 1.9
#: Share of the bytes that is text; the rest looks like compiled code.
TEXT = 0.55
WORDS = 4000
LINES = 60_000

REFERENCE = "GNU tar | zstd -3"
PYTHON = "tarfile + zstandard"
OURS = "rra: pack_bundle"
AGAIN = "rra: again, unchanged"
BEGINNING = "rra: with one file"
PEERS = ("oras (Python)", "modelpack-client")

SCRIPT = Path(__file__).resolve()
PACKING = SCRIPT.with_name("packing.py")
Kept = dict[str, dict[str, Used]]
"""What was measured: by what was done, and by program."""

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


def programs(root: Path, target: Path) -> dict[str, list[str]]:
    """Return the command of each program for the same files."""
    own = [sys.executable, str(PACKING)]
    pipe = 'tar -cf - -C "$1" . | zstd -q -3 -c > "$2"'
    return {
        REFERENCE: ["sh", "-c", pipe, "sh", str(root), str(target)],
        PYTHON: [*own, "tarfile", str(root), str(target)],
        OURS: [*own, "rra", str(root), str(target)],
        BEGINNING: [*own, "rra", f"{root}-small", str(target)],
    }


def results(root: Path, folder: Path, rounds: int, *, rules: bool) -> dict[str, Used]:
    """Measure every program on one tree, in turn, so that what disturbs meets all of them."""
    target, cache = folder / "target", folder / "cache"
    commands = programs(root, target)
    if rules:
        verb = [sys.executable, "-m", "rra", "pack", str(root), f"oci-layout:{target}"]
        commands["rra pack, with its rules"] = verb
    runs: dict[str, list[Used]] = {}
    for _ in range(rounds + 1):
        for name, argv in commands.items():
            environment = {"RRA_CACHE": str(cache)}
            runs.setdefault(name, []).append(measure(argv, environment))
            remove(target)
            if name == OURS:
                runs.setdefault(AGAIN, []).append(measure(argv, environment))
                remove(target)
            remove(cache)
    return {name: median(found) for name, found in runs.items()}


# ----------------------------------------------------------------------------------- moving


def write_artifact(kind: str, root: Path, files: int, size: int) -> None:
    """Write an artifact and, unless it is only packed, its bundle in ``<root>-layout``."""
    if kind == "tree":
        make_artifact(root, files, size)
        return
    from rra import api

    manifest = MANIFEST
    for name, text in ARTIFACT.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    if kind == "blobs":
        write_blobs(root / "data", size)
        manifest += "data: {noise: {path: data}}\n"
        (root / "code").mkdir()
        (root / "code" / "main.py").write_text("print(1)\n", encoding="utf-8")
    (root / "rra.yaml").write_text(manifest, encoding="utf-8")
    api.lock(root, keep=True)


def moved(root: Path, things: Sequence[Path], folder: Path) -> Moves:
    """Pack an artifact into a layout, and return the programs that move it."""
    layout = folder / "layout"
    remove(layout)
    argv = [sys.executable, str(PACKING), "rra", str(root), str(layout)]
    subprocess.run(
        argv, check=True, env={**os.environ, **BYTECODE, "RRA_CACHE": str(folder / "cache")}
    )
    remove(folder / "cache")
    return Moves(layout, list(things), folder, SCRIPT)


def compare_moves(options: argparse.Namespace, folder: Path, kept: Kept) -> None:
    """Push and pull the blobs, then the tree, each in two sizes; print and keep what it took."""
    for kind, sizes in (
        ("blobs", [(4, options.blobs // 4), (4, options.blobs)]),
        ("tree", [(options.files // 10, options.mib // 10), (options.files, options.mib)]),
    ):
        for files, mib in sizes:
            root = folder / "artifact"
            written(kind, root, files, mib << 20)
            things = sorted((root / "data").iterdir()) if kind == "blobs" else [root / "code"]
            moves = moved(root, things, folder)
            pushes, pulls = moves.results(options.rounds, options.without)
            if kind == "tree":
                pulls[UNPACKED] = unpack_reference(root, folder, options.rounds)
            what = f"{mib} MiB in {files} {'layers' if kind == 'blobs' else 'files'}"
            for title, found, reference in (
                (f"push {what}", pushes, LIMIT),
                (f"pull, verify, unpack {what}", pulls, UNPACKED if kind == "tree" else LIMIT),
            ):
                kept[title] = found
                print(title, *table(found, reference), sep="\n", flush=True)
            for place in (root, folder / "layout"):
                remove(place)


def written(kind: str, root: Path, files: int, size: int) -> None:
    """Write an artifact in a process of its own: the memory of this one counts for its children."""
    argv = [sys.executable, str(SCRIPT), "--tree", kind, str(root), str(files), str(size)]
    subprocess.run(argv, check=True)


# ----------------------------------------------------------------------------------- output


def compare_packing(options: argparse.Namespace, folder: Path, kept: Kept) -> None:
    """Pack a small and a large tree; print and keep what it took."""
    for share in (10, 1):
        files, mib = options.files // share, options.mib // share
        root = folder / "artifact"
        written("tree", root, files, mib << 20)
        written("tree", folder / "artifact-small", 1, 1000)
        title = f"pack {mib} MiB in {files} files"
        kept[title] = results(root, folder, options.rounds, rules=options.rules)
        print(title, *table(kept[title], REFERENCE), sep="\n", flush=True)
        remove(root)
        remove(folder / "artifact-small")


def growth(kept: Kept) -> Iterator[str]:
    """Yield how many times as much more files and bytes take."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for title in kept:
        pairs.setdefault((title.partition(" ")[0], title.rpartition(" ")[2]), []).append(title)
    for small, large in pairs.values():
        yield f"{large}, beside {small}: so many times the CPU seconds, and memory"
        for name, used in kept[large].items():
            if name in kept[small] and name != BEGINNING:
                cpu = used.cpu / kept[small][name].cpu
                yield f"  {name:<30}{cpu:8.1f}{used.memory / kept[small][name].memory:24.1f}"


def by_size(kept: Kept, verb: str, what: str) -> dict[str, Used]:
    """Return the larger one of two comparisons."""
    titles = [title for title in kept if title.startswith(verb) and title.endswith(what)]
    return kept[titles[-1]]


def gates(kept: Kept, only: str | None) -> Iterator[str]:
    """Yield whether each gate of what was measured is met."""
    if only != "move":
        yield from packing_gates(by_size(kept, "pack", "files"))
    if only != "pack":
        yield from moving_gates(kept)


def packing_gates(packed: dict[str, Used]) -> Iterator[str]:
    """Yield whether the gates of packing are met."""
    begin = packed[BEGINNING].cpu
    yield gate("pack, CPU beside tar | zstd", packed[OURS].cpu / packed[REFERENCE].cpu, 1.3)
    bare = (packed[OURS].cpu - begin) / packed[REFERENCE].cpu
    yield f"          (without what one file takes: {bare:.2f})"
    yield gate("pack, CPU beside tarfile + zstandard", packed[OURS].cpu / packed[PYTHON].cpu, 1)


def moving_gates(kept: Kept) -> Iterator[str]:
    """Yield whether the gates of pushing and pulling are met."""
    push, pull = by_size(kept, "push", "layers"), by_size(kept, "pull", "files")
    yield gate("push, CPU beside sha256sum + curl", push[MOVES].cpu / push[LIMIT].cpu, 2)
    yield gate("push, memory", push[MOVES].memory / 2**20, 64, " MiB")
    yield gate("pull, CPU beside zstd -d | tar x", pull[MOVES].cpu / pull[UNPACKED].cpu, 2)
    yield gate("pull, memory", pull[MOVES].memory / 2**20, 64, " MiB")
    for what, found in (("push", push), ("pull", pull)):
        for peer in PEERS:
            if peer in found:
                ratio = found[MOVES].cpu / found[peer].cpu
                yield gate(f"{what}, CPU beside {peer}", ratio, 1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=15_000, help="files of the large tree")
    parser.add_argument("--mib", type=int, default=500, help="MiB of the large tree")
    parser.add_argument("--blobs", type=int, default=1024, help="MiB of the four layers of noise")
    parser.add_argument(
        "--rounds", type=int, default=5, help="runs whose median counts, after one that does not"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, one round: does it run?")
    parser.add_argument("--only", choices=["pack", "move"], help="one half of it")
    parser.add_argument(
        "--without", action="append", default=[], choices=[*PEERS, "skopeo"], help="leave one out"
    )
    parser.add_argument("--rules", action="store_true", help="measure `rra pack` as a whole, too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there, too")
    parser.add_argument("--inside", nargs="+", metavar="WHAT", help=argparse.SUPPRESS)
    parser.add_argument("--tree", nargs=4, metavar="WHAT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tree:
        kind, root, files, size = options.tree
        write_artifact(kind, Path(root), int(files), int(size))
        return
    if options.inside:
        oras_inside(*options.inside)
        return
    if options.quick:
        options.files, options.mib, options.blobs, options.rounds = 2000, 60, 512, 1
    kept: Kept = {}
    with tempfile.TemporaryDirectory() as place:
        print(HEADER)
        if options.only != "move":
            compare_packing(options, Path(place), kept)
        if options.only != "pack":
            compare_moves(options, Path(place), kept)
    print(*growth(kept), sep="\n")
    print("gates", *gates(kept, options.only), sep="\n")
    if options.json:
        plain = {
            title: {name: dataclasses.asdict(used) for name, used in found.items()}
            for title, found in kept.items()
        }
        options.json.write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
