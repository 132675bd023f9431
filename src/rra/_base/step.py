"""The small process between us and a supervised program: it counts what that used, for itself.

Linux gives a program the largest size that the process had which started it. Started by us, every
program would seem to have used at least what we do; started by this one, at least what a bare
interpreter does, some 10 MB. It is run as ``python -I -S step.py HANDLE COUNT NAME=VALUE … PROGRAM
…`` in our environment, and the program in the one that is given by so many entries. It imports
what is built in, and writes one line to the pipe that it was given: status, seconds of the user and
of the system, kibibytes; or ``cannot`` and the number of an error.

It hears no request to end, which are for the program, and it does not outlive us: when nobody reads
the pipe any more it kills its group.
"""

from __future__ import annotations

import os
import select
import sys

TYPE_CHECKING = False  # typing would be loaded
if TYPE_CHECKING:
    from typing import Any

signals: Any = __import__("_signal")  # the module around it takes longer to load than all of this

DEAF = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGTSTP")
"""Requests that a launcher may send to its whole group."""

FAILED = "cannot"
_PAUSE_MILLISECONDS = 50


def main(pipe: int, env: dict[str, str], argv: list[str]) -> int:
    """Start a program, wait for its end, say what it used, and return the status to end with."""
    os.set_inheritable(pipe, False)  # noqa: FBT003 - the only way to call it
    failed, failing = os.pipe()
    for name in DEAF:
        signals.signal(getattr(signals, name), signals.SIG_IGN)
    child = os.fork()
    if child == 0:
        for name in (*DEAF, "SIGPIPE", "SIGXFSZ"):
            signals.signal(getattr(signals, name), signals.SIG_DFL)
        try:
            os.execvpe(argv[0], argv, env)  # noqa: S606 - no shell is wanted
        except OSError as error:
            os.write(failing, str(error.errno).encode())
        os._exit(127)
    os.close(failing)
    _, status, usage = _waited(child, pipe)
    code = os.waitstatus_to_exitcode(status)
    report = f"{code} {usage.ru_utime} {usage.ru_stime} {usage.ru_maxrss}\n"
    why = os.read(failed, 16).decode()
    os.write(pipe, f"{FAILED} {why}\n".encode() if why else report.encode())
    return code if code >= 0 else 128 - code


def _waited(child: int, pipe: int) -> tuple[int, int, Any]:
    """Wait for the program; kill it and ourselves once nobody reads the pipe."""
    poller = select.poll()
    poller.register(pipe, 0)  # only that it is broken
    try:
        poller.register(os.pidfd_open(child), select.POLLIN)
        pause = None
    except OSError:  # before Linux 5.3, or forbidden: look again and again
        pause = _PAUSE_MILLISECONDS
    while True:
        broken = any(handle == pipe for handle, _ in poller.poll(pause))
        pid, status, usage = os.wait4(child, os.WNOHANG)
        if pid:
            return pid, status, usage
        if broken:
            os.killpg(0, signals.SIGKILL)


if __name__ == "__main__":
    first = 3 + int(sys.argv[2])
    given = dict(entry.split("=", 1) for entry in sys.argv[3:first])
    os._exit(main(int(sys.argv[1]), given, sys.argv[first:]))
