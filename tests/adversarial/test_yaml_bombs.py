"""Documents made to exhaust a reader: little memory, and an error that says what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

MEMORY = 400 * 1024
"""KiB of memory that a reader may use, its libraries included."""

RUN = """\
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
from rra.cli.main import main
try:
    main()
finally:
    status = open("/proc/self/status").read().split()
    print("\\npeak", status[status.index("VmHWM:") + 1])
"""
BASE = """\
rra: "1.0"
name: tiny
version: 1.0.0
license: MIT
environments: {cpu: {kind: pylock, python: "3.11", lock: environment/cpu/pylock.toml}}
launchers:
  main: {entry: launchers/main.sh, environment: cpu, outputs: [metrics.json]}
experiments:
  table:
    outcomes:
      a: {type: number, reported: "1", selector: {launcher: main, file: metrics.json, json: /a}}
"""


def run(*arguments: str) -> tuple[int, str, int]:
    """Run the command with limits; return its exit code, what it says, and its memory in KiB."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    said = process.stdout.read().decode()
    process.stdout.close()
    code = process.wait()
    # What wait4 says of a child is at least what the process had that it was forked from.
    said, _, peak = said.rpartition("\npeak ")
    return code, said, int(peak)


def grown(path: Path, head: str, size: int) -> None:
    """Write a file of a size that begins with a text; the rest takes no room on the disk."""
    path.write_text(head, encoding="utf-8")
    os.truncate(path, size)


def laughs(depth: int, width: int) -> str:
    rows = ["x-0: &a0 [" + "lol, " * width + "]"]
    rows += [f"x-{n}: &a{n} [" + f"*a{n - 1}, " * width + "]" for n in range(1, depth)]
    return "\n".join(rows) + "\n"


BOMBS = {
    "200 MB": ("documents/size", "larger than 4194304 bytes"),
    "no end of depth": ("documents/depth", "nested deeper than 64 levels"),
    "deep blocks": ("documents/depth", "nested deeper than 64 levels"),
    "cycle": ("documents/alias-cycle", "alias *x stands inside its own anchor"),
    "cycle of maps": ("documents/alias-cycle", "alias *x stands inside its own anchor"),
    "billion laughs": ("documents/alias-expansion", "aliases stand for more than 10000"),
    "ninety aliases": ("documents/alias-expansion", "aliases stand for more than 10000"),
    "many aliases": ("documents/alias-limit", "more than 100 aliases"),
    "long number": ("documents/integer-range", "where readers lose digits"),
    "long decimal": ("documents/number-precision", "loses digits"),
    "open brackets": ("documents/depth", "nested deeper than 64 levels"),
    "open quote": ("documents/yaml", "found unexpected end of stream"),
    "long key": ("documents/yaml", "could not find expected ':'"),
}


def bomb(name: str) -> str:
    deep = "".join(" " * n + f"k{n}:\n" for n in range(300))
    return {
        "200 MB": BASE + "# " + "x" * 5_000_000,
        "no end of depth": "a: " + "[" * 300_000,
        "deep blocks": deep,
        "cycle": BASE + "x-a: &x [1, [*x]]\n",
        "cycle of maps": BASE + "x-a: &x\n  b: {c: *x}\n",
        "billion laughs": BASE + laughs(10, 10),
        "ninety aliases": BASE + laughs(9, 9),
        "many aliases": BASE + "x-a: &a 1\nx-b: [" + "*a, " * 101 + "]\n",
        "long number": BASE + "x-n: " + "9" * 300_000 + "\n",
        "long decimal": BASE + "x-n: 0." + "3" * 300_000 + "\n",
        "open brackets": "{a: " * 80_000,
        "open quote": BASE + 'x-t: "' + "a b\n" * 80_000,
        "long key": BASE + "x" * 300_000 + "\n",
    }[name]


@pytest.mark.clause("documents/size-first")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_bounded_memory(tmp_path: Path, name: str) -> None:
    manifest = tmp_path / "rra.yaml"
    if name == "200 MB":
        grown(manifest, bomb(name), 200_000_000)
    else:
        manifest.write_text(bomb(name), encoding="utf-8")
    code, said, memory = run("lint", "--json", str(tmp_path))
    clause, message = BOMBS[name]
    assert code in {1, 4}, said[-2000:]
    assert message in said
    assert clause in said
    assert "Traceback" not in said
    assert len(said) < 8000
    assert memory < MEMORY, f"{memory} KiB"


@pytest.mark.parametrize("name", ["guide/settings.yaml", "guide/repairs.yaml", "rra.lock"])
def test_the_other_documents_are_bounded_too(tmp_path: Path, name: str) -> None:
    (tmp_path / "rra.yaml").write_text(BASE, encoding="utf-8")
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    grown(path, "a: b\n", 200_000_000)
    code, said, memory = run("lint", str(tmp_path))
    assert code in {1, 4}, said[-2000:]
    assert "document is larger than" in said
    assert "Traceback" not in said
    assert memory < MEMORY, f"{memory} KiB"


def test_a_large_valid_document_of_many_values_is_bounded(tmp_path: Path) -> None:
    rows = "".join(f"  - {{a: {n}, b: [x, y]}}\n" for n in range(3_000))
    (tmp_path / "rra.yaml").write_text(BASE + "x-rows:\n" + rows, encoding="utf-8")
    code, said, memory = run("lint", str(tmp_path))
    assert code in {0, 1}, said[-2000:]
    assert "Traceback" not in said
    assert memory < MEMORY, f"{memory} KiB"
