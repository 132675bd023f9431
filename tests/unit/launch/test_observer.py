from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rra.launch.recorder import observer_source


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "observer").mkdir()
    return tmp_path


def observe(place: Path, script: str, *, hook: bool = True, after: str = "") -> list[list[str]]:
    """Run a Python script under the observer; return its events, and check that it succeeds."""
    source = observer_source(place / "events", [str(place)], hook=hook)
    (place / "observer" / "sitecustomize.py").write_text(source)
    path = f"{place / 'observer'}{after}"
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=place,
        env={"PYTHONPATH": path, "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")
    (place / "printed").write_text(run.stdout)
    if not (place / "events").exists():
        return []
    events = [line.split("\t", 1) for line in (place / "events").read_text().splitlines()]
    return [[kind, value.replace(str(place), "")] for kind, value in events]


def test_it_says_which_python_began(place: Path) -> None:
    assert observe(place, "pass", hook=False) == [["python", sys.version.split()[0]]]


def test_files_are_seen_with_what_was_done_to_them(place: Path) -> None:
    (place / "in.csv").write_text("1")
    script = (
        "import os\n"
        "open('in.csv').read(); open('in.csv').read(); open('/etc/hostname').close()\n"
        "open('log', 'a').close()\n"
        "open('out', 'w').close(); os.rename('out', 'moved'); os.mkdir('d'); os.rmdir('d')\n"
        "os.symlink('moved', 'link'); os.remove('link'); os.truncate('moved', 0)\n"
    )
    events = observe(place, script)
    assert events[1:] == [
        ["read", "/in.csv"],
        ["read", "/log"],
        ["write", "/log"],
        ["write", "/out"],
        ["write", "/moved"],
        ["write", "/d"],
        ["write", "/link"],
    ]


def test_programs_and_connections_are_seen(place: Path) -> None:
    script = (
        "import os, socket, subprocess\n"
        "subprocess.run(['true']); os.system('true')\n"
        "s = socket.socket(); s.settimeout(0.01)\n"
        "try: s.connect(('192.0.2.1', 80))\n"
        "except OSError: pass\n"
        "try: socket.getaddrinfo('data.invalid', 443)\n"
        "except OSError: pass\n"
        "s.close()\n"
    )
    kinds = [event for event in observe(place, script) if event[0] in {"exec", "connect"}]
    assert kinds == [
        ["exec", "true"],
        ["exec", "/bin/sh"],
        ["connect", "192.0.2.1:80"],
        ["connect", "data.invalid:443"],
    ]


def test_without_the_hook_only_seeds_are_seen(place: Path) -> None:
    script = "import random; open('x', 'w').close(); random.seed(4); random.seed(4)"
    assert observe(place, script, hook=False)[1:] == [["seed", "4"]]


def test_seeds_of_numpy_are_seen_and_nothing_else_changes(place: Path) -> None:
    script = (
        "import random, sys, numpy\n"
        "import numpy.random as r\n"
        "random.seed(-3); r.seed(7); a = r.rand(); g = r.default_rng(seed=11).random()\n"
        "random.seed('text'); random.seed(True); r.default_rng(); r.default_rng([1, 2])\n"
        "r.default_rng(numpy.arange(3)); r.seed(numpy.arange(3)); random.seed(b'x')\n"
        "r.seed(numpy.int64(2**31))\n"
        "r.set_state(numpy.random.RandomState(7).get_state())\n"
        "assert r.rand() == a and g == r.Generator(r.PCG64(11)).random()\n"
        "print(r.seed.__name__, random.seed.__doc__[:10], callable(r.seed.__wrapped__))\n"
        "print(sys.path[0] == '', any('observer' in p for p in sys.path))\n"
    )
    events = observe(place, script)
    seeds = [value for kind, value in events if kind == "seed"]
    assert seeds == ["-3", "7", "11", str(2**31)]
    printed = (place / "printed").read_text().split()
    assert printed == ["seed", "Initialize", "True", "True", "False"]


def test_torch_would_be_watched(place: Path) -> None:
    package = place / "modules" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def manual_seed(seed):\n    return seed + 1\n")
    script = "import torch; print(torch.manual_seed(5), torch.__loader__.__class__.__name__)"
    events = observe(place, script, after=f":{place / 'modules'}", hook=False)
    assert events[1:] == [["seed", "5"]]
    assert (place / "printed").read_text() == "6 SourceFileLoader\n"


def test_it_hands_on_to_the_sitecustomize_that_was_there(place: Path) -> None:
    (place / "theirs").mkdir()
    (place / "theirs" / "sitecustomize.py").write_text("print('theirs')\nmark = 1\n")
    script = "import sitecustomize; print(sitecustomize.mark)"
    observe(place, script, after=f":{place / 'theirs'}")
    assert (place / "printed").read_text() == "theirs\n1\n"


def test_an_error_in_theirs_is_theirs(place: Path) -> None:
    (place / "theirs").mkdir()
    (place / "theirs" / "sitecustomize.py").write_text("import nowhere_to_be_found\n")
    with pytest.raises(AssertionError, match="nowhere_to_be_found"):
        observe(place, "pass", after=f":{place / 'theirs'}")


def test_it_keeps_quiet_when_it_cannot_write(place: Path) -> None:
    (place / "events").mkdir()
    source = observer_source(place / "events", [], hook=True)
    (place / "observer" / "sitecustomize.py").write_text(source)
    script = "import random; random.seed(1); open('x', 'w').close(); print('well')"
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=place,
        env={"PYTHONPATH": str(place / "observer")},
        capture_output=True,
        check=True,
    )
    assert (run.stdout, run.stderr) == (b"well\n", b"")


def test_paths_of_any_bytes_are_seen(place: Path) -> None:
    script = "open(b'\\xff\\n\\t', 'w').close(); open('é', 'w').close(); open(0).fileno()"
    events = observe(place, script)
    written = [value.encode().decode("unicode_escape") for kind, value in events if kind == "write"]
    assert written == [f"/{os.fsdecode(bytes([255]))}\n\t", "/é"]


def test_what_children_do_is_seen_too(place: Path) -> None:
    script = (
        "import subprocess, sys, os\n"
        "subprocess.run([sys.executable, '-c', 'import random; random.seed(8)'])\n"
        "if os.fork() == 0:\n"
        "    import random; random.seed(9); os._exit(0)\n"
        "os.wait()\n"
    )
    assert {value for kind, value in observe(place, script) if kind == "seed"} == {"8", "9"}
