"""Finding and ending processes that belong together, also those that left their group.

A launcher may leave daemons that have a session of their own. They are found by a line of
their environment that only this run has, by descent from its first process, and by the tracer
that follows them.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path

from rra._base import clock

_PROC = Path("/proc")
_ROUNDS = 50
_PAUSE_MILLISECONDS = 20


def end_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to every process of a group; a group that is gone is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def ask_group(leader: int, seconds: float) -> None:
    """Ask every process of a group to end; return when its leader has, or the time is over."""
    end_group(leader, signal.SIGTERM)
    wait_gone(leader, seconds)


def ask_inside(pid: int, seconds: float) -> None:
    """Ask all that runs in a process namespace below a process to end, and wait for it.

    The first process of the namespace does not hear such a request, but it would end, and all
    others with it, as soon as the one that it waits for does. So it is stopped meanwhile, and
    the others have their time.
    """
    end = clock.monotonic() + seconds
    depth = len(_read_field(pid, b"NSpid:"))
    numbers = {one: _read_field(one, b"NSpid:") for one in descendants(pid)}
    inside = {one for one, found in numbers.items() if len(found) > depth}
    first = {one for one in inside if numbers[one][-1] == b"1"}
    for pids, number in ((first, signal.SIGSTOP), (inside - first, signal.SIGTERM)):
        for one in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one, number)
    for one in inside - first:
        wait_gone(one, max(0.0, end - clock.monotonic()))


def descendants(pid: int) -> set[int]:
    """Return the living children of a process, their children, and so on."""
    children: dict[int, list[int]] = {}
    for process in _processes():
        parent = _parent(process)
        if parent is not None:
            children.setdefault(parent, []).append(process)
    found: set[int] = set()
    pending = [pid]
    while pending:
        new = set(children.get(pending.pop(), ())) - found
        found |= new
        pending += new
    return found


def marked(marker: str) -> set[int]:
    """Return the processes whose environment holds the line `marker` (``NAME=value``)."""
    needle = os.fsencode(marker)
    return {pid for pid in _processes() if needle in _read(pid, "environ").split(b"\0")}


def resident(marker: str, name: str) -> dict[str, int]:
    """Return the bytes in memory of marked processes, by the value that each has of a variable."""
    needle, start = os.fsencode(marker), os.fsencode(f"{name}=")
    found: dict[str, int] = {}
    for pid in _processes():
        lines = _read(pid, "environ").split(b"\0")
        if needle not in lines:
            continue
        value = next((line[len(start) :] for line in lines if line.startswith(start)), b"")
        pages = _read(pid, "statm").split()[1:2]
        size = int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else 0
        found[os.fsdecode(value)] = found.get(os.fsdecode(value), 0) + size
    return found


def peak_bytes(pid: int) -> int:
    """Return the most memory that a living process had at one time; 0 when it has ended."""
    return _field(pid, b"VmHWM:") * 1024


def traced(argument: str) -> set[int]:
    """Return the processes followed by a tracer that has `argument` on its command line."""
    needle = os.fsencode(argument)
    tracers = {pid for pid in _processes() if needle in _read(pid, "cmdline").split(b"\0")}
    followed = {pid: _field(pid, b"TracerPid:") for pid in _processes()}
    return {pid for pid, tracer in followed.items() if tracer in tracers}


def end_tree(pid: int) -> None:
    """Kill a process and everything that descends from it.

    Each is stopped before its children are looked for, so that none starts another meanwhile.
    """
    found: set[int] = set()
    new = {pid}
    while new:
        for one in new:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGSTOP)
        found |= new
        new = descendants(pid) - found
    end_all(found)


def end_children() -> None:
    """Kill everything that descends from this process."""
    for pid in descendants(os.getpid()):
        end_tree(pid)


def end_all(pids: set[int]) -> None:
    """Kill processes and wait until they are gone.

    All are stopped first: a shell whose child ends before it would go on with its next command.
    """
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
    for pid in pids:
        wait_gone(pid, 1.0)


def end_marked(marker: str) -> int:
    """Kill the marked processes until none is left; return how many there were.

    Those whose environment cannot be read (another user's) are not found. A process that is
    just replacing its program has no environment for a moment; it is looked at again.
    """
    count = 0
    for _ in range(_ROUNDS):
        found = {pid for pid in marked(marker) if pid != os.getpid()}
        if found:
            count += len(found)
            end_all(found)
        elif _replacing():
            select.poll().poll(_PAUSE_MILLISECONDS)
        else:
            break
    return count


def _replacing() -> set[int]:
    """Return the processes that are in the middle of an exec: alive, with no arguments yet."""
    return {
        pid
        for pid in _processes()
        if not _read(pid, "cmdline")
        and _state(pid) not in {"", "Z"}
        and _parent(pid) not in {0, 2, None}  # threads of the kernel have no arguments either
    }


def wait_gone(pid: int, seconds: float | None) -> bool:
    """Wait until a process has ended, child or not; return whether it has."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    except OSError:  # before Linux 5.3, or forbidden: look again and again
        return _poll_gone(pid, seconds)
    try:
        poller = select.poll()
        poller.register(handle, select.POLLIN)
        return bool(poller.poll(None if seconds is None else max(0, seconds) * 1000))
    finally:
        os.close(handle)


def _poll_gone(pid: int, seconds: float | None) -> bool:
    end = None if seconds is None else clock.monotonic() + seconds
    while _state(pid) not in {"", "Z"}:
        if end is not None and clock.monotonic() >= end:
            return False
        select.poll().poll(_PAUSE_MILLISECONDS)
    return True


def out_of_memory_kills() -> int:
    """Return how many processes the kernel has killed for want of memory since it started."""
    with contextlib.suppress(OSError):
        for line in (_PROC / "vmstat").read_text("ascii").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def _processes() -> Iterator[int]:
    yield from (int(name) for name in os.listdir(_PROC) if name.isdigit())  # noqa: PTH208 - names are enough


def _state(pid: int) -> str:
    """Return the letter of a process's state; nothing when it is gone."""
    fields = _after_name(pid)
    return fields[0].decode() if fields else ""


def _parent(pid: int) -> int | None:
    fields = _after_name(pid)
    return int(fields[1]) if fields else None


def started(pid: int) -> int | None:
    """Return when a process was started, in ticks since the machine was; None when it has ended."""
    fields = _after_name(pid)
    return int(fields[19]) if len(fields) > 19 and fields[0] not in {b"Z", b"X"} else None


def _after_name(pid: int) -> list[bytes]:
    # The name stands in parentheses and may hold anything; state and parent follow it.
    return _read(pid, "stat").rpartition(b")")[2].split()


def _field(pid: int, name: bytes) -> int:
    values = _read_field(pid, name)
    return int(values[0]) if values else 0


def _read_field(pid: int, name: bytes) -> list[bytes]:
    """Return the values of one line of a process's status; none when it has ended."""
    for line in _read(pid, "status").splitlines():
        if line.startswith(name):
            return line.split()[1:]
    return []


def _read(pid: int, name: str) -> bytes:
    """Return a file of a process; nothing when it has ended or is not ours to look at."""
    try:
        return (_PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""
