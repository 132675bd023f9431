"""Verbs in processes that are killed at a chosen point, as a power cut or ``kill -9`` does.

Run as a program it is the parent of those processes: it has imported `rra` once and forks for
each call, so that a call costs no start of Python. It reads one JSON object a line::

    {"verb": "pull", "arguments": [...], "event": 17}   killed at its 17th event
    {"verb": "pull", "arguments": [...], "after": 0.01} killed after so many seconds
    {"verb": "pull", "arguments": [...]}                not killed

and answers each with ``{"killed": bool, "ok": bool, "events": n, "seconds": s}``. An event is what
Python's audit hooks report of files and connections: opening, making, linking, renaming, removing,
connecting. The kill comes before the thing is done, and no handler of the process runs.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EVENTS = frozenset(
    {
        "open",
        "fcntl.flock",
        "os.chmod",
        "os.link",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.scandir",
        "os.truncate",
        "shutil.rmtree",
        "socket.connect",
    }
)


class Killer:
    """Calls verbs of `rra.api` in processes of their own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def call(self, verb: str, *arguments: str, **kill: float) -> dict[str, Any]:
        """Call a verb; see the module for what comes back."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"verb": verb, "arguments": arguments, **kill}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


@contextlib.contextmanager
def killer(**environment: str) -> Iterator[Killer]:
    """Run the parent of processes that are killed."""
    process = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    try:
        yield Killer(process)
    finally:
        process.communicate()


def _child(request: dict[str, Any], report: int) -> None:
    """Make the call, and be killed where the request says."""
    from rra import api

    count = 0

    def hook(event: str, _: object) -> None:
        nonlocal count
        if event in EVENTS:
            count += 1
            if count == request.get("event"):
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    if "after" in request:
        # The default action of this signal ends a process as SIGKILL does.
        signal.setitimer(signal.ITIMER_REAL, request["after"])
    began = time.monotonic()
    function = getattr(api, request["verb"])
    options = {"plain_http": True} if "plain_http" in inspect.signature(function).parameters else {}
    result = function(*request["arguments"], **options)
    seconds = time.monotonic() - began
    signal.setitimer(signal.ITIMER_REAL, 0)
    answer = {"ok": result.ok, "events": count, "seconds": seconds}
    os.write(report, json.dumps(answer).encode())


def _serve() -> None:
    import rra.api
    import rra.author
    import rra.bundle.pack
    import rra.bundle.unpack
    import rra.lint
    import rra.registry  # noqa: F401 - imported once, for every child

    for line in sys.stdin:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                _child(json.loads(line), writing)
            except BaseException as error:  # noqa: BLE001 - said to the parent
                os.write(writing, json.dumps({"ok": False, "fault": repr(error)}).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as report:
            said = report.read()
        _, status = os.waitpid(child, 0)
        answer = {"killed": os.WIFSIGNALED(status), "ok": False, **json.loads(said or b"{}")}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
