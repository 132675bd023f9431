"""Watching a launcher from outside with strace: every file opened, by whatever program.

strace runs detached (``-DD``): the launcher stays our own child, so its exit status and its use
of resources are its own, and a daemon that lives on does not keep us waiting. It writes into
a named pipe that the launcher cannot reach; the end of that pipe is the end of the last process
that was followed. ``--seccomp-bpf`` stops the processes only at the calls that are asked for.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import tempfile
import threading
from pathlib import Path

from rra._base import process
from rra._base.streams import BLOCK
from rra.errors import RraError
from rra.launch.trace import Observation, TraceParser
from rra.sandbox import Availability, Sandbox, View, best_sandbox

_CALLS = (
    *("open", "openat", "openat2", "creat", "truncate", "mkdir", "mkdirat"),
    *("rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir"),
    *("link", "linkat", "symlink", "symlinkat"),
    *("execve", "execveat", "connect", "chdir"),
)
_TRIAL_SECONDS, _TRIAL_END_SECONDS = 20.0, 1.0
_LINK = "trace"


def strace_command(program: Path, pipe: Path) -> list[str]:
    """Return what is put in front of a command to have it and its children followed."""
    # A call that this architecture does not have is passed over for its question mark.
    calls = ",".join(f"?{call}" for call in _CALLS)
    command = [str(program), "-DD", "-f", "--seccomp-bpf", "-qq", "-y", "-s", "64"]
    return [*command, "-e", "signal=none", "-e", f"trace={calls}", "-o", str(pipe), "--"]


class TraceReader(threading.Thread):
    """Reads what strace writes while the launcher runs."""

    def __init__(self, pipe: Path, cwd: Path, own: int) -> None:
        """Make the named pipe.

        Args:
            pipe: Its path.
            cwd: Where the launcher starts.
            own: How many programs are executed before it, by its sandbox.
        """
        super().__init__(daemon=True)
        os.mkfifo(pipe, 0o600)
        self.pipe = pipe
        self._source = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self._parser = TraceParser(cwd, own)
        self._wake, self._waker = os.pipe()
        self._begun = False
        self.complete = False

    def run(self) -> None:
        """Read until the last process that is followed has ended, or `finish` is called."""
        poller = select.poll()
        poller.register(self._source, select.POLLIN)
        poller.register(self._wake, select.POLLIN)
        rest = b""
        while True:
            ready = dict(poller.poll())
            state = ready.get(self._source, 0)
            if state & select.POLLIN:
                self._begun = True
                *lines, rest = (rest + os.read(self._source, BLOCK)).split(b"\n")
                for line in lines:
                    self._parser.feed(line)
            elif state & select.POLLHUP:
                self.complete = self._begun
                break
            elif self._wake in ready:
                break

    def finish(self, seconds: float) -> Observation:
        """Return what was seen, waiting so long for the end of the trace.

        Where no tracer has opened the pipe, because it was ended before it could, that never ends
        by itself.
        """
        with contextlib.suppress(OSError):
            os.close(os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK))
        self.join(seconds)
        os.write(self._waker, b"x")
        self.join()
        for handle in (self._source, self._wake, self._waker):
            os.close(handle)
        return self._parser.observation


def try_strace(sandbox: Sandbox) -> Availability:
    """Follow a program inside a sandbox and say whether its files are seen."""
    program = process.find_tool("strace")
    if program is None:
        return Availability("strace", works=False, why="strace is not on PATH")
    if not sandbox.followed:
        why = f"programs in a sandbox of level {sandbox.name} are not followed from outside"
        return Availability("strace", works=False, why=why)
    return _trial(program, sandbox.name)


@functools.cache
def _trial(program: Path, level: str) -> Availability:
    """Look whether reading one file, told apart by its name, is seen."""
    with tempfile.TemporaryDirectory(prefix="rra-trial-") as name:
        folder = Path(name)
        inside = folder / "inside"
        inside.mkdir()
        probe = inside / "probe"
        probe.write_bytes(b"")
        view = View(writable=[inside], temporary=folder, cwd=inside, env={"PATH": "/usr/bin:/bin"})
        sandbox = best_sandbox(level)
        reader = TraceReader(folder / _LINK, inside, sandbox.programs)
        reader.start()
        command = strace_command(program, reader.pipe)
        try:
            done = process.run(
                [*command, *sandbox.wrap(["/usr/bin/env", "cat", str(probe)], view)],
                timeout=_TRIAL_SECONDS,
            )
            version = process.run([program, "--version"], timeout=_TRIAL_SECONDS).stdout
        except RraError as error:
            return Availability("strace", works=False, why=error.message)
        finally:
            seen = reader.finish(_TRIAL_END_SECONDS)
    if done.ok and str(probe) in seen.reads:
        return Availability("strace", works=True, why=f"{version.splitlines()[0]}, with {level}")
    why = done.last_error(1) or "it does not see which files are opened"
    return Availability("strace", works=False, why=f"{why} (sandbox {level})")
