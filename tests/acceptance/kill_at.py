"""Runs `rra` and kills it, as `kill -9` does, at its n-th change of the disk.

``python kill_at.py N COUNTS ARGUMENTS…`` runs ``rra ARGUMENTS…``. Changes are counted by
Python's audit events: a file opened for writing, renamed, linked or removed, a directory made or
removed, a program started. With N = 0 nothing is killed and the number of changes is written to
the file COUNTS.
"""

from __future__ import annotations

import atexit
import os
import runpy
import signal
import sys
from pathlib import Path

CHANGES = frozenset(
    {
        "os.rename",
        "os.link",
        "os.symlink",
        "os.remove",
        "os.rmdir",
        "os.mkdir",
        "os.truncate",
        "subprocess.Popen",
    }
)


def main() -> None:
    """Count, kill at the wanted change, and otherwise be the command."""
    wanted, counts = int(sys.argv[1]), Path(sys.argv[2])
    ours = os.getpid()
    seen = 0

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        if os.getpid() != ours:
            return
        if event == "open":
            flags = arguments[2]
            if not isinstance(flags, int) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return
        elif event not in CHANGES:
            return
        seen += 1
        if seen == wanted:
            os.kill(ours, signal.SIGKILL)

    if not wanted:
        atexit.register(lambda: counts.write_text(str(seen)))
    sys.dont_write_bytecode = True
    sys.argv = ["rra", *sys.argv[3:]]
    sys.addaudithook(watch)
    runpy.run_module("rra", run_name="__main__", alter_sys=False)


main()
