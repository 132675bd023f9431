from __future__ import annotations

import hashlib
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rra._base import process, proctree
from rra._base.process import Bounds, Supervised
from rra._base.termination import Termination
from rra.errors import ToolMissingError, UnavailableError
from tests.support.patience import with_growing_limit

#: Starts a process with a session of its own and goes on when it runs.
DAEMON = "setsid bash -c 'echo $$ > pid; exec sleep 600' & until [ -s pid ]; do :; done"
UNBOUNDED = Bounds()


def supervise(folder: Path, script: str, bounds: Bounds = UNBOUNDED) -> Supervised:
    """Run a bash script, its output beside it."""
    return process.supervise(
        ["bash", "-c", script],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "RUN_MARK": str(folder)},
        output=(folder / "out", folder / "err"),
        bounds=bounds,
        marker=f"RUN_MARK={folder}",
    )


def test_run_returns_what_was_printed_and_the_status() -> None:
    done = process.run(["bash", "-c", "cat; echo wrong >&2; exit 3"], input_text="given\n")
    assert (done.returncode, done.stdout, done.stderr) == (3, "given\n", "wrong\n")
    assert not done.ok
    assert done.last_error() == "wrong"


def test_run_names_a_missing_program() -> None:
    with pytest.raises(ToolMissingError, match="no-such-program"):
        process.run(["no-such-program"])


def test_run_says_when_a_program_does_not_end() -> None:
    with pytest.raises(UnavailableError, match="did not end within"):
        process.run(["sleep", "60"], timeout=0.1)


def test_a_missing_tool_says_why_it_is_needed() -> None:
    with pytest.raises(ToolMissingError, match="it counts sheep") as caught:
        process.require_tool("no-such-tool", why="it counts sheep", install="apt-get install sheep")
    assert caught.value.hint == "apt-get install sheep"
    assert process.find_tool("bash") is not None


def test_output_is_kept_counted_and_hashed(tmp_path: Path) -> None:
    done = supervise(tmp_path, "printf 'one\\ntwo'; printf 'oh' >&2")
    assert (tmp_path / "out").read_bytes() == b"one\ntwo"
    assert (tmp_path / "err").read_bytes() == b"oh"
    assert done.stdout.sha256 == "sha256:" + hashlib.sha256(b"one\ntwo").hexdigest()
    assert (done.stdout.bytes, done.stdout.truncated) == (7, False)
    assert (done.returncode, done.termination, done.left_behind) == (0, "ok", 0)


def test_output_beyond_the_bound_is_counted_but_not_kept(tmp_path: Path) -> None:
    done = supervise(tmp_path, "head -c 3000000 /dev/zero", Bounds(stream_bytes=1_000_000))
    assert (tmp_path / "out").stat().st_size == 1_000_000
    assert (done.stdout.bytes, done.stdout.kept, done.stdout.truncated) == (
        3_000_000,
        1_000_000,
        True,
    )
    assert done.termination == "ok"


@pytest.mark.parametrize(
    ("script", "word", "status"),
    [
        ("exit 0", "ok", 0),
        ("exit 7", "exit", 7),
        ("exit 255", "exit", 255),
        ("kill -SEGV $$", "signal", -signal.SIGSEGV),
        ("bash -c 'kill -TERM $$'; exit $?", "signal", 128 + signal.SIGTERM),
    ],
)
def test_the_end_has_a_word(tmp_path: Path, script: str, word: str, status: int) -> None:
    done = supervise(tmp_path, script)
    assert (done.termination, done.returncode) == (word, status)


def test_a_killed_program_ran_out_of_memory_when_the_kernel_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = iter([4, 5])
    monkeypatch.setattr(proctree, "out_of_memory_kills", lambda: next(counts))
    assert supervise(tmp_path, "kill -KILL $$").termination == "memory"


def test_the_wall_limit_asks_first(tmp_path: Path) -> None:
    script = "trap 'echo saved; exit 0' TERM; echo ready; while :; do read -t 1 < <(:); done"
    done = with_growing_limit(
        lambda wall: supervise(tmp_path, script, Bounds(wall_seconds=wall)),
        lambda _: (tmp_path / "out").read_text().startswith("ready\n"),
    )
    assert done.termination == "timeout"
    assert (tmp_path / "out").read_text() == "ready\nsaved\n"


def test_what_ignores_the_request_is_killed_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)
    script = f"trap '' TERM; {DAEMON}; sleep 600; sleep 600"
    done = with_growing_limit(
        lambda wall: supervise(tmp_path, script, Bounds(wall_seconds=wall)),
        lambda _: (tmp_path / "pid").is_file() and (tmp_path / "pid").read_text() != "",
    )
    assert (done.termination, done.returncode) == ("timeout", -signal.SIGKILL)
    assert proctree.marked(f"RUN_MARK={tmp_path}") == set()
    assert proctree.wait_gone(int((tmp_path / "pid").read_text()), 0)


def test_a_daemon_with_a_session_of_its_own_is_ended_and_counted(tmp_path: Path) -> None:
    done = supervise(tmp_path, f"{DAEMON}; echo done")
    assert (done.termination, done.left_behind) == ("ok", 1)
    assert proctree.wait_gone(int((tmp_path / "pid").read_text()), 0)
    assert (tmp_path / "out").read_text() == "done\n"


ALLOCATES = f"{sys.executable} -I -S -c 'b = bytearray({30 << 20}); {{}}'"


def test_the_memory_is_that_of_the_program_alone(tmp_path: Path) -> None:
    """We are larger than 32 MiB, a program that allocates 30 MiB and nothing else is not."""
    ours = bytearray(b"x") * (100 << 20)
    done = supervise(tmp_path, ALLOCATES.format("pass") + "; exit $?")
    assert 30 << 20 <= done.max_rss < 60 << 20 < len(ours)
    assert supervise(tmp_path, "exec true").max_rss < 30 << 20


def test_what_is_killed_has_its_memory_counted_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.1)
    script = f"trap '' TERM; {ALLOCATES.format('print(1, flush=True); input()')} < <(sleep 600)"
    done = with_growing_limit(
        lambda wall: supervise(tmp_path, script, Bounds(wall_seconds=wall)),
        lambda _: (tmp_path / "out").read_text() == "1\n",
    )
    assert (done.termination, done.returncode) == ("timeout", -signal.SIGKILL)
    assert 30 << 20 <= done.max_rss < 60 << 20


def test_requests_are_heard_by_the_program_as_ever(tmp_path: Path) -> None:
    """What stands between us ignores them, and the program does not inherit that."""
    done = supervise(tmp_path, "grep -E 'Sig(Blk|Ign)' /proc/self/status; kill -TERM 0")
    printed = (tmp_path / "out").read_text().splitlines()
    held = {line.split()[0]: int(line.split()[1], 16) for line in printed}
    requests = sum(1 << number - 1 for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
    assert {name: bits & requests for name, bits in held.items()} == {"SigBlk:": 0, "SigIgn:": 0}
    assert (done.termination, done.returncode) == ("signal", -signal.SIGTERM)


def test_a_group_that_kills_itself_is_dead(tmp_path: Path) -> None:
    done = supervise(tmp_path, "kill -KILL 0")
    assert (done.termination, done.returncode) == ("signal", -signal.SIGKILL)


def test_a_program_that_is_none_is_named(tmp_path: Path) -> None:
    output = (tmp_path / "out", tmp_path / "err")
    with pytest.raises(ToolMissingError, match="no-such-program"):
        process.supervise(["no-such-program"], cwd=tmp_path, env={"PATH": "/bin"}, output=output)
    (tmp_path / "closed").write_text("")
    with pytest.raises(PermissionError):
        process.supervise([tmp_path / "closed"], cwd=tmp_path, env={}, output=output)


WATCHES = """
import sys; from pathlib import Path
from rra._base.process import supervise
here = Path(sys.argv[1])
supervise(["bash", "-c", "echo $$ > pid; exec sleep 600"], cwd=here, env={"PATH": "/usr/bin:/bin"},
          output=(here / "out", here / "err"))
"""


def test_a_program_does_not_outlive_whoever_watched_it(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WATCHES, str(tmp_path)]) as watching:
        pid = tmp_path / "pid"
        while not (pid.is_file() and pid.read_text()):
            assert watching.poll() is None
            select.poll().poll(10)
        watching.kill()
    assert proctree.wait_gone(int(pid.read_text()), 60)


def test_closed_descriptors_are_no_end(tmp_path: Path) -> None:
    done = supervise(tmp_path, "echo early; exec >&- 2>&-; exit 4")
    assert (done.termination, done.returncode) == ("exit", 4)
    assert (tmp_path / "out").read_text() == "early\n"


def test_binary_output_is_kept_as_it_is(tmp_path: Path) -> None:
    supervise(tmp_path, r"printf '\xff\x00\xfe'")
    assert (tmp_path / "out").read_bytes() == b"\xff\x00\xfe"


def test_a_watcher_can_end_the_run(tmp_path: Path) -> None:
    words: list[Termination | None] = [None, "disk"]
    done = supervise(tmp_path, "sleep 600", Bounds(watch=lambda: words.pop(0)))
    assert (done.termination, words) == ("disk", [])


def test_lines_are_announced_from_another_thread(tmp_path: Path) -> None:
    seen: list[tuple[str, bool]] = []

    def on_line(line: str) -> None:
        seen.append((line, threading.current_thread() is threading.main_thread()))
        (tmp_path / "heard").touch()

    heard = "until [ -e heard ]; do :; done"
    process.supervise(
        ["bash", "-c", f"echo first; {heard}; printf 'a\\nlast\\nunfinished'"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        output=(tmp_path / "out", tmp_path / "err"),
        on_line=on_line,
    )
    assert (seen[0], seen[-1]) == (("first", False), ("last", False))


def test_a_failing_listener_does_not_stop_the_program(tmp_path: Path) -> None:
    def on_line(line: str) -> None:
        raise KeyError(line)

    with pytest.raises(KeyError, match="one"):
        process.supervise(
            ["bash", "-c", "echo one; head -c 1000000 /dev/zero; echo end > end"],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"]},
            output=(tmp_path / "out", tmp_path / "err"),
            on_line=on_line,
        )
    assert (tmp_path / "end").read_text() == "end\n"


def test_usage_is_that_of_the_program(tmp_path: Path) -> None:
    script = f"{sys.executable} -c 'b = bytearray(64 << 20); sum(range(2_000_000))'"
    done = supervise(tmp_path, script)
    assert done.max_rss > 64 << 20
    assert 0 < done.cpu_seconds < 60


def test_an_interrupt_cancels_the_program_and_ends_the_tree(tmp_path: Path) -> None:
    def interrupt() -> Termination | None:
        raise KeyboardInterrupt

    done = supervise(tmp_path, f"{DAEMON}; sleep 600", Bounds(watch=interrupt))
    assert done.termination == "cancelled"
    assert proctree.marked(f"RUN_MARK={tmp_path}") == set()


def test_a_signal_that_reaches_the_program_first_and_then_us_cancels_it(tmp_path: Path) -> None:
    asked = iter([False, False])
    told = supervise(tmp_path, "kill -TERM $$", Bounds(cancelled=lambda: next(asked, True)))
    assert (told.termination, told.returncode) == ("cancelled", -signal.SIGTERM)


def test_a_signal_of_its_own_is_no_cancelling(tmp_path: Path) -> None:
    assert supervise(tmp_path, "kill -TERM $$").termination == "signal"
    assert supervise(tmp_path, "exit 3").termination == "exit"


def test_a_second_interrupt_does_not_wait(tmp_path: Path) -> None:
    def interrupt() -> Termination | None:
        raise KeyboardInterrupt

    def again(pid: int, seconds: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        supervise(tmp_path, f"{DAEMON}; sleep 600", Bounds(watch=interrupt, ask=again))
    assert proctree.marked(f"RUN_MARK={tmp_path}") == set()


def test_a_missing_launcher_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolMissingError, match="no-such-program"):
        process.supervise(
            ["no-such-program"], cwd=tmp_path, env={}, output=(tmp_path / "o", tmp_path / "e")
        )


def test_waiting_works_without_pidfd(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refused(pid: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refused)
    assert not proctree.wait_gone(os.getpid(), 0)
    assert supervise(tmp_path, "exit 5").returncode == 5
