"""An interrupt of a lock ends everything that it started, and leaves nothing half-written."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rra._base import proctree
from rra.artifact import Artifact
from tests.unit.environment.toy_index import ToyIndex, make_sdist

# What a package's build does: it starts a program of its own, says so, and waits for it.
BUILD = """
    import os, subprocess, sys
    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
    with open(os.environ['BEGUN'], 'w') as pipe:
        print(child.pid, file=pipe, flush=True)
    child.wait()
"""


@pytest.mark.parametrize(
    ("number", "options"),
    [(signal.SIGINT, ("--search",)), (signal.SIGTERM, ("--search",)), (signal.SIGHUP, ())],
)
def test_an_interrupt_ends_every_process_and_leaves_what_was_there(
    index: ToyIndex,
    root: Path,
    artifact: Callable[..., Artifact],
    tmp_path: Path,
    number: signal.Signals,
    options: tuple[str, ...],
) -> None:
    sdist = make_sdist("gamma", "1.0", before=BUILD.strip())
    index.add("gamma", "gamma-1.0.tar.gz", sdist, "2020-01-01")
    artifact('as_of: "2022-01-01", requirements: [gamma]')
    (root / "environment/cpu").mkdir(parents=True)
    (root / "environment/cpu/notes.txt").write_text("kept\n")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    scratch, begun = tmp_path / "scratch", tmp_path / "begun"
    scratch.mkdir()
    os.mkfifo(begun)
    reading = os.open(begun, os.O_RDWR)
    mark = {"TEST_OF_INTERRUPTS": str(tmp_path)}
    running = subprocess.Popen(
        ["env", "--default-signal=HUP", sys.executable, "-m", "rra", "lock", root, *options],
        env={**os.environ, **mark, "TMPDIR": str(scratch), "BEGUN": str(begun)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert select.select([reading], [], [], 120)[0], "the build did not begin"
    grandchild = int(os.read(reading, 100))
    os.close(reading)
    started = proctree.descendants(running.pid)
    assert grandchild in started
    running.send_signal(number)
    _, said = running.communicate(timeout=60)
    assert (running.returncode, said.splitlines()[-1]) == (
        130,
        "interrupted; nothing is half-written",
    )
    assert [pid for pid in started if not proctree.wait_gone(pid, 5)] == []
    assert proctree.marked(f"TEST_OF_INTERRUPTS={tmp_path}") == set()
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert list(scratch.iterdir()) == []
