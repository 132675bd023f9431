"""The only place where programs are started.

`run` is for short helpers whose output is small; `supervise` runs a launcher: its own
session, output to files with a cap, limits with grace, and its whole tree of processes ended.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from rra._base import clock, proctree
from rra._base.streams import KEPT_BYTES, Pump, StreamInfo
from rra._base.termination import Termination
from rra.errors import ToolMissingError, UnavailableError

GRACE_SECONDS = 5.0
"""Seconds between asking a program to end and ending it."""

_STEP = Path(__file__).with_name("step.py")
_REPORT_SECONDS = 2.0
_FIRST_WATCH, _LAST_WATCH = 0.25, 5.0
_SAME_MOMENT = 1.0
"""Seconds in which a signal that goes to a program and to us has reached both."""

_ASKED_TO_END = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
_CANCEL_WATCH = 0.5


@dataclasses.dataclass(frozen=True, slots=True)
class Completed:
    """What a finished helper program gave.

    Attributes:
        argv: The command.
        returncode: Exit status; negative for a signal.
        stdout_bytes: Output as it came, line ends and all.
        stderr: Decoded errors.
        seconds: Wall time.
    """

    argv: tuple[str, ...]
    returncode: int
    stdout_bytes: bytes
    stderr: str
    seconds: float

    @property
    def stdout(self) -> str:
        """Output decoded as UTF-8; bytes that are not become replacement characters."""
        return self.stdout_bytes.decode("utf-8", "replace")

    @property
    def ok(self) -> bool:
        """Whether the program ended with status 0."""
        return self.returncode == 0

    def last_error(self, lines: int = 12) -> str:
        """Return the last lines of the errors, or of the output when there are none."""
        text = self.stderr.strip() or self.stdout.strip()
        return "\n".join(text.splitlines()[-lines:])


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    input_text: str | None = None,
) -> Completed:
    """Run a helper program to its end and return what it printed.

    Whatever ends this call before the program, also an interrupt, ends it with all that it
    started. It stays in our session, so that it can ask its questions on the terminal.

    Args:
        argv: Command as a list; no shell is involved.
        cwd: Working directory.
        env: Whole environment; None passes ours on.
        timeout: Seconds after which the program is killed.
        input_text: Standard input; nothing by default.

    Raises:
        ToolMissingError: The program does not exist.
        UnavailableError: It did not end in time.
    """
    command = [str(part) for part in argv]
    started = clock.monotonic()
    try:
        child = subprocess.Popen(  # noqa: S603 - argv list, no shell
            command,
            cwd=cwd,
            env=dict(env) if env is not None else None,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except FileNotFoundError as error:
        if cwd is not None and not cwd.is_dir():
            raise
        message = f"program not found: {command[0]}"
        raise ToolMissingError(message, hint=f"install {command[0]} and run again") from error
    with child:
        try:
            stdout, stderr = child.communicate((input_text or "").encode(), timeout)
        except BaseException as error:
            # Also where we are interrupted: what the program has started must not go on.
            proctree.end_tree(child.pid)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            message = f"{command[0]} did not end within {timeout:g} s"
            hint = "run again, or look what it waits for"
            raise UnavailableError(message, hint=hint) from error
    seconds = clock.monotonic() - started
    errors = stderr.decode("utf-8", "replace")
    return Completed(tuple(command), child.returncode, stdout, errors, seconds)


def find_tool(name: str, search: str | None = None) -> Path | None:
    """Return the path of a program on PATH, or on another search path, or None."""
    found = shutil.which(name, path=search)
    return Path(found) if found else None


def require_tool(name: str, *, why: str, install: str) -> Path:
    """Return the path of a program, or say why it is needed and how to install it.

    Raises:
        ToolMissingError: The program is not on PATH.
    """
    found = find_tool(name)
    if found is None:
        message = f"{name} is not installed; {why}"
        raise ToolMissingError(message, hint=install)
    return found


@dataclasses.dataclass(frozen=True, slots=True)
class Supervised:
    """What a supervised program did.

    Attributes:
        returncode: Exit status; negative for a signal.
        termination: One of the format's termination words.
        seconds: Wall time.
        cpu_seconds: User and system time of the program and the children it waited for.
        max_rss: Largest resident set of any single process, in bytes; what is smaller than a bare
            Python, some 10 MB, is not told apart.
        stdout: Standard output, as kept.
        stderr: Standard error, as kept.
        left_behind: Number of processes that outlived the program and were ended.
    """

    returncode: int
    termination: Termination
    seconds: float
    cpu_seconds: float
    max_rss: int
    stdout: StreamInfo
    stderr: StreamInfo
    left_behind: int


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """What a supervised program may use.

    Attributes:
        wall_seconds: Limit on the wall; None for none.
        stream_bytes: Bytes kept of each output stream; more is counted, not kept.
        watch: Called now and then while the program runs; a termination word ends it.
        ask: Asks the program to end and waits so many seconds for that.
        end_rest: Ends what is left of it however it may have hidden, and says how many there
            were; called when the program itself has ended.
        memory_kills: Says how many processes the kernel has ended for want of memory.
        cancelled: Called often while the program runs; true ends it.
    """

    wall_seconds: float | None = None
    stream_bytes: int = KEPT_BYTES
    watch: Callable[[], Termination | None] = lambda: None
    ask: Callable[[int, float], None] = proctree.ask_group
    end_rest: Callable[[], int] = lambda: 0
    memory_kills: Callable[[], int] = lambda: proctree.out_of_memory_kills()  # noqa: PLW0108 - tests replace it
    cancelled: Callable[[], bool] = lambda: False


def supervise(
    argv: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str],
    output: tuple[Path, Path],
    bounds: Bounds = Bounds(),
    marker: str | None = None,
    on_line: Callable[[str], None] | None = None,
) -> Supervised:
    """Run a launcher in a session of its own, its output kept in files, and end all of it.

    At a limit it is asked to end (SIGTERM), and everything that descends from it gets SIGKILL
    after `GRACE_SECONDS`. Output beyond its bound is read and counted but not kept.
    An interrupt is such a limit too: the program was cancelled. So is one that reaches the
    program and this process at once, as a cluster cancels a job. Whatever ends this call, also a
    second interrupt, ends the whole tree.

    Args:
        argv: Command as a list.
        cwd: Working directory.
        env: Whole environment of the program.
        output: Files for standard output and standard error.
        bounds: Limits of time and output.
        marker: ``NAME=value`` that only this run has in its environment; processes that left
            the group are found by it.
        on_line: Called from another thread with the newest whole line of either stream.

    Raises:
        ToolMissingError: The program does not exist.
    """
    started = clock.monotonic()
    kills = bounds.memory_kills()
    child, report = _start(argv, cwd=cwd, env=env)
    pipes = [stream.fileno() for stream in (child.stdout, child.stderr) if stream is not None]
    with child, report:
        pump = Pump(pipes, output, cap=bounds.stream_bytes, on_line=on_line)
        pump.start()
        try:
            reason = _attend(child.pid, bounds)
        except KeyboardInterrupt:
            reason = "cancelled"
            bounds.ask(child.pid, GRACE_SECONDS)
        finally:
            killed = bounds.memory_kills() > kills
            left_behind, used = _end_tree(child, report, marker, bounds.end_rest)
            stdout, stderr = pump.finish()
    if used.error:
        raise _not_started(argv, used.error)
    if pump.callback_error is not None:
        raise pump.callback_error
    if pump.storage_error is not None:
        reason = reason or "disk"
    return Supervised(
        used.returncode,
        reason or _ended_as(_termination(used.returncode, killed), used.returncode, bounds),
        clock.monotonic() - started,
        used.cpu_seconds,
        used.max_rss,
        stdout,
        stderr,
        left_behind,
    )


_GUARD = r"""
trap '' HUP INT QUIT TERM
read -r word && exit 0
marker=$1; shift
round=0 quiet=0
while [ "$round" -lt 200 ] && [ "$quiet" -lt 5 ]; do
  round=$((round + 1)) quiet=$((quiet + 1))
  for members; do
    while read -r pid; do
      [ "$pid" -gt 0 ] && kill -KILL "$pid" && quiet=0
    done < "$members"
  done
  for place in $(grep -lzxF -e "$marker" /proc/[0-9]*/environ); do
    pid=${place#/proc/}
    kill -KILL "${pid%/environ}" && quiet=0
  done
  sleep 0.02
done
"""
"""Waits for a word; where none comes its parent was killed, and it ends what that had started."""


@contextlib.contextmanager
def guarded(marker: str, members: Sequence[Path] = ()) -> Iterator[None]:
    """End what the block has started also when this process is killed in the middle of it.

    A small shell in a session of its own waits for us to say that the block has ended. When we end
    without a word it kills what is in the control groups and what has the marker, until it finds
    nothing more. Where there is no ``grep`` it only knows the groups.

    Args:
        marker: ``NAME=value`` that only what is guarded has in its environment.
        members: Files of control groups that list what is in them.
    """
    waiting, telling = os.pipe()
    try:
        guard = subprocess.Popen(  # noqa: S603 - argv list, a script of ours
            ["/bin/sh", "-c", _GUARD, "guard", marker, *map(str, members)],
            env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
            stdin=waiting,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except BaseException:
        os.close(telling)
        raise
    finally:
        os.close(waiting)
    with guard:
        try:
            yield
        finally:
            with contextlib.suppress(BrokenPipeError):  # somebody has killed it
                os.write(telling, b"over\n")
            os.close(telling)


def _start(
    argv: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], BinaryIO]:
    """Start the step that starts a program; return it, and the pipe of its report."""
    reading, writing = os.pipe()
    entries = [f"{name}={value}" for name, value in env.items()]
    own = [sys.executable, "-I", "-S", str(_STEP), str(writing), str(len(entries)), *entries]
    try:
        child = subprocess.Popen(  # noqa: S603 - argv list, no shell
            [*own, *(str(part) for part in argv)],
            cwd=cwd,
            pass_fds=[writing],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return child, open(reading, "rb")  # noqa: PTH123 - a handle that is open


def _not_started(argv: Sequence[str | Path], number: int) -> Exception:
    """Return the error for a program that could not be started."""
    if number != errno.ENOENT:
        return OSError(number, os.strerror(number), str(argv[0]))
    message = f"program not found: {argv[0]}"
    return ToolMissingError(message, hint=f"install {argv[0]} and run again")


def _attend(pid: int, bounds: Bounds) -> Termination | None:
    """Wait for a program; at a limit ask it to end, and return the limit's word."""
    wall = bounds.wall_seconds
    end = None if wall is None else clock.monotonic() + wall
    pause = _FIRST_WATCH
    while True:
        left = pause if end is None else min(pause, end - clock.monotonic())
        if _gone(pid, left, bounds.cancelled):
            return None
        before = clock.monotonic()
        reason: Termination | None = (
            "timeout" if end is not None and before >= end else bounds.watch()
        )
        reason = "cancelled" if bounds.cancelled() else reason
        if reason is not None:
            bounds.ask(pid, GRACE_SECONDS)
            return reason
        # Looking must stay cheap beside what is looked at, however large it grows.
        pause = max(min(pause * 2, _LAST_WATCH), 50 * (clock.monotonic() - before))


def _gone(pid: int, seconds: float, cancelled: Callable[[], bool]) -> bool:
    """Wait until a program has ended, and no longer once it is cancelled."""
    end = clock.monotonic() + seconds
    while not cancelled():
        left = end - clock.monotonic()
        if proctree.wait_gone(pid, min(left, _CANCEL_WATCH)):
            return True
        if left <= _CANCEL_WATCH:
            return False
    return False


@dataclasses.dataclass(frozen=True, slots=True)
class _Used:
    """What the step tells of its program.

    Attributes:
        returncode: Exit status; negative for a signal.
        cpu_seconds: User and system time.
        max_rss: Largest resident set of one process.
        error: Number of the error for which the program was not started; else 0.
    """

    returncode: int
    cpu_seconds: float = 0.0
    max_rss: int = 0
    error: int = 0


def _end_tree(
    child: subprocess.Popen[bytes],
    report: BinaryIO,
    marker: str | None,
    end_rest: Callable[[], int],
) -> tuple[int, _Used]:
    """End what is left of a program; return the number of processes left behind, and its usage."""
    running = not proctree.wait_gone(child.pid, 0)
    stragglers = proctree.descendants(child.pid) if running else set()
    peak = max(map(proctree.peak_bytes, stragglers), default=0)
    proctree.end_all(stragglers)
    if running:
        proctree.wait_gone(child.pid, _REPORT_SECONDS)
    proctree.end_group(child.pid, signal.SIGKILL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    left_behind = end_rest()
    proctree.end_all(stragglers)
    left_behind += proctree.end_marked(marker) if marker is not None else 0
    fields = report.read().split() if _told(report) else []
    if len(fields) == 2:
        return left_behind, _Used(child.returncode, error=int(fields[1]))
    if len(fields) != 4:  # it was killed with its program
        return left_behind, _Used(child.returncode, usage.ru_utime + usage.ru_stime, peak)
    seconds, most = float(fields[1]) + float(fields[2]), int(fields[3]) * 1024
    return left_behind, _Used(int(fields[0]), seconds, max(most, peak))


def _told(report: BinaryIO) -> bool:
    """Tell whether the step has said something, which it does before it ends."""
    poller = select.poll()
    poller.register(report, select.POLLIN | select.POLLHUP)
    return bool(poller.poll(0))


def _ended_as(word: Termination, returncode: int, bounds: Bounds) -> Termination:
    """Return the word for an end of its own, or that it was cancelled at the same moment.

    Who cancels all processes at once asks the program and us; the program may be the first to end.
    """
    if word not in {"exit", "signal"}:
        return word
    asked = word == "signal" and abs(returncode) % 128 in _ASKED_TO_END
    end = clock.monotonic() + (_SAME_MOMENT if asked else 0.0)
    while not bounds.cancelled():
        if clock.monotonic() >= end:
            return word
        clock.sleep(_CANCEL_WATCH)
    return "cancelled"


def _termination(returncode: int, killed_for_memory: bool) -> Termination:  # noqa: FBT001
    """Return the word for an exit status; shells and sandboxes report signal N as 128 + N."""
    if returncode == 0:
        return "ok"
    number = -returncode if returncode < 0 else returncode - 128
    if number == signal.SIGKILL and killed_for_memory:
        return "memory"
    return "signal" if number in signal.valid_signals() else "exit"
