"""Progress on a terminal: bars with bytes, rate and what is left; lines stay."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from rra._base import clock
from rra._base.progress import Activity, Amount, LiveProgress
from rra.cli.bars import activity_cells, bars, described
from rra.cli.verb import safe
from rra.registry.meter import Meter

MIB = 1 << 20


class Watched(LiveProgress):
    """Takes both, for the test to look at."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.amounts: list[Amount] = []

    def __call__(self, line: str) -> None:
        self.lines.append(line)

    def show(self, amount: Amount) -> None:
        self.amounts.append(amount)


def test_whoever_takes_amounts_gets_them_ten_times_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(clock, "monotonic", lambda: now[0])
    watched = Watched()
    meter = Meter(watched, 300 * MIB, "copied")
    meter.skip(100 * MIB)
    for _ in range(200):
        now[0] += 0.0625
        meter.add(MIB)
    meter.finish()
    assert watched.amounts[0] == Amount("copied", 102 * MIB, 300 * MIB, 16 * MIB)
    assert watched.amounts[-1] == Amount("copied", 300 * MIB, 300 * MIB, 16 * MIB)
    assert len(watched.amounts) == 101
    assert watched.lines == ["200.0 MiB copied, 16.0 MiB/s"]


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Amount("copied", 0, 10 * MIB, 0.0), "0 B of 10.0 MiB copied, 0 B/s"),
        (
            Amount("fetched", 2 * MIB, 10 * MIB, 2.0 * MIB),
            "2.0 MiB of 10.0 MiB fetched, 2.0 MiB/s, 0:00:04 left",
        ),
        (
            Amount("copied", 0, 4000 * MIB, 1.0 * MIB),
            "0 B of 3.9 GiB copied, 1.0 MiB/s, 1:06:40 left",
        ),
        (
            Amount("copied", 11 * MIB, 10 * MIB, 1.0 * MIB),
            "11.0 MiB of 10.0 MiB copied, 1.0 MiB/s, 0:00:00 left",
        ),
    ],
)
def test_what_stands_beside_a_bar(amount: Amount, text: str) -> None:
    assert described(amount) == text


def test_lines_stay_and_bars_go() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100, no_color=True)
    with bars(safe, console) as progress:
        progress("layer [bold]one\x1b[2J")
        progress.show(Amount("copied", 2 * MIB, 10 * MIB, 2.0 * MIB))
    text = stream.getvalue()
    assert "\x1b[2J" not in text
    assert "· layer [bold]one\\x1b[2J\n" in plain(text)
    assert "2.0 MiB of 10.0 MiB copied, 2.0 MiB/s, 0:00:04 left" in text
    assert text.endswith("\x1b[2K")  # the bar was taken away again


def plain(text: str) -> str:
    """Return text without what moves cursors and sets colours."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def on_terminal(*command: str, env: dict[str, str]) -> tuple[int, str]:
    """Run a command whose standard error is a terminal; return what it printed there."""
    parent, child = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=child, env=env) as process:
        os.close(child)
        said = b""
        try:
            while block := os.read(parent, 1 << 16):
                said += block
        except OSError:  # what a terminal says whose other side is gone
            pass
    os.close(parent)
    return process.returncode, said.decode()


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_a_copy_on_a_terminal(tmp_path: Path, term: str) -> None:
    from tests.support.bundles import locked_artifact, pack

    artifact = locked_artifact(tmp_path / "tiny", {"noise.bin": os.urandom(3 * MIB)})
    pack(artifact, tmp_path / "layout")
    source, target = f"oci-layout:{tmp_path / 'layout'}", f"oci-archive:{tmp_path / 'x.tar'}"
    code, said = on_terminal(
        *(sys.executable, "-m", "rra", "copy", source, target), env={**os.environ, "TERM": term}
    )
    assert code == 0
    assert "· code: 3.0 MiB" in plain(said)
    assert bool(re.search("\x1b\\[", said)) == (term == "xterm")


def test_what_runs_has_a_line_with_time_and_memory_beside_what_was_expected() -> None:
    running = Activity(
        name="train/seed=1",
        seconds=62.9,
        expected=3700,
        memory=512 << 20,
        memory_declared=1 << 30,
        line="epoch 3",
    )
    metric = dataclasses.replace(running, metrics=[("accuracy", "0.5"), ("loss", "2")])
    assert activity_cells(metric)[3] == "accuracy 0.5, loss 2 · epoch 3"
    assert activity_cells(dataclasses.replace(metric, line=""))[3] == "accuracy 0.5, loss 2"
    cells = ("train/seed=1", "1:02 of about 1:01:40", "512.0 MiB of 1.0 GiB", "epoch 3")
    assert activity_cells(running) == cells
    assert activity_cells(Activity(name="a", seconds=None)) == ("a", "waits", "", "")
    assert activity_cells(Activity(name="a", seconds=5.0)) == ("a", "0:05", "", "")


def test_lines_of_what_runs_are_shown_while_it_runs_and_cannot_steer_the_terminal() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100)
    with bars(safe, console) as progress:
        progress.watch([Activity(name="train", seconds=1.0, line="loss\x1b[2J 0.5")])
        console.print(progress)
        progress.watch([])
    assert "train" in stream.getvalue()
    assert "loss\\x1b[2J 0.5" in stream.getvalue()


def test_a_run_on_a_terminal_shows_values_as_they_appear(tmp_path: Path) -> None:
    """The launcher goes on when the terminal has shown the value that it wrote first."""
    from tests.support.runs import write_artifact

    script = (
        'echo \'{"accuracy": 0.125}\' > "$RRA_OUTPUT_DIR/metrics.json"; echo epoch 1\n'
        f'n=0; while [ ! -e "{tmp_path}/seen" ] && [ $((n += 1)) -lt 600 ]; do sleep 0.1; done\n'
        'echo \'{"accuracy": 98.9}\' > "$RRA_OUTPUT_DIR/metrics.json"\n'
    )
    artifact = write_artifact(tmp_path / "a", {"launchers/main.sh": script})
    argv = [sys.executable, "-m", "rra", "run", str(artifact.root), "--sandbox", "none"]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    parent, child = pty.openpty()
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=child, env=env) as process:
        os.close(child)
        said = ""
        with contextlib.suppress(OSError):
            while block := os.read(parent, 1 << 16):
                said += block.decode("utf-8", "replace")
                if "accuracy 0.125 · epoch 1" in plain(said):
                    (tmp_path / "seen").touch()
        out = process.stdout.read().decode() if process.stdout else ""
    os.close(parent)
    assert process.returncode == 0
    assert (tmp_path / "seen").exists(), plain(said)[-2000:]
    assert "98.9" in out
    assert "0.125" not in out, "what was only seen on the way is no result"
