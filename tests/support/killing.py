"""Verbs in processes that are killed at a chosen point, as a power cut or ``kill -9`` does.

Run as a program it is the parent of those processes: it has imported all of `rra` once and forks
for each call, so that a call costs no start of Python and its events are its own alone. It reads
one JSON object a line::

    {"verb": "pull", "arguments": [...], "event": 17}   killed at its 17th event
    {"verb": "pull", "arguments": [...], "after": 0.01} killed after so many seconds
    {"verb": "pull", "arguments": [...], "written": 7}  killed at the 8th byte of a file
    {"verb": "push", "arguments": [...], "sent": 7}     killed when 7 bytes went over the network
    {"verb": "pull", "arguments": [...], "received": 7} killed when 7 bytes came
    {"verb": "pull", "arguments": [...]}                not killed
    {"verb": "run", "arguments": [...], "options": {}}  with arguments by name
    {"verb": "run", ..., "everything": true}            killed with all that it has started
    {"verb": "run", ..., "warms": true}                 called by the parent itself before

and answers each with ``{"killed": bool, "ok": bool, "events": n, "seconds": s, "sent": n,
"received": n}``. An event is what Python's audit hooks report of files and connections: opening,
making, linking, renaming, removing, connecting; the kill comes before the thing is done. Those of
`run` are also the moments before and behind each flush to the disk. No handler of the process runs.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rra._base import proctree
from tests.support.warm import import_all

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

    def call(self, verb: str, *arguments: str, **kill: Any) -> dict[str, Any]:
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
        [sys.executable, "-m", __name__],
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


class _Traffic:
    """Counts the bytes that go over connections, and ends the process at a chosen one."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.sent = self.received = 0
        self._request = request
        send, receive = socket.socket.sendall, socket.socket.recv_into

        def sendall(this: socket.socket, data: Any, *flags: int) -> None:
            view = memoryview(data).cast("B")
            end = self._request.get("sent", -1)
            if self.sent <= end < self.sent + len(view):
                send(this, view[: end - self.sent], *flags)
                _die()
            send(this, view, *flags)
            self.sent += len(view)

        def recv_into(this: socket.socket, buffer: Any, *more: int) -> int:
            came = receive(this, buffer, *more)
            self.received += came
            if self.received > self._request.get("received", 1 << 62):
                _die()
            return came

        socket.socket.sendall = sendall  # type: ignore[method-assign,assignment]
        socket.socket.recv_into = recv_into  # type: ignore[method-assign,assignment]


class _Events:
    """Counts what is done to files, and ends the process at a chosen count."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.count = 0
        self._request = request
        sys.addaudithook(lambda event, _: self._passed() if event in EVENTS else None)
        if request["verb"] == "run":
            self._fsync = os.fsync
            setattr(os, "fsync", self._flush)  # noqa: B010 - its declared type is narrower

    def _passed(self) -> None:
        self.count += 1
        if self.count == self._request.get("event"):
            # What is stopped does nothing more; the parent ends it with all that it started.
            everything = self._request.get("everything")
            os.kill(os.getpid(), signal.SIGSTOP if everything else signal.SIGKILL)

    def _flush(self, file: int) -> None:
        self._passed()
        self._fsync(file)
        self._passed()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _child(request: dict[str, Any], report: int) -> None:
    """Make the call, and be killed where the request says."""
    traffic = _Traffic(request)
    events = _Events(request)
    if "written" in request:
        # The byte behind the limit ends the process, once its signal is no longer ignored.
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["written"], request["written"]))
    if "after" in request and not request.get("everything"):
        # The default action of this signal ends a process as SIGKILL does.
        signal.setitimer(signal.ITIMER_REAL, request["after"])
    began = time.monotonic()
    result = _call(request)
    seconds = time.monotonic() - began
    signal.setitimer(signal.ITIMER_REAL, 0)
    answer = {"ok": result.ok, "events": events.count, "seconds": seconds}
    answer |= {"sent": traffic.sent, "received": traffic.received}
    os.write(report, json.dumps(answer).encode())


def _call(request: dict[str, Any]) -> Any:
    from rra import api

    function = getattr(api, request["verb"])
    options = {"plain_http": True} if "plain_http" in inspect.signature(function).parameters else {}
    arguments = list(request["arguments"])
    if request["verb"] == "unpack":
        arguments[1] = Path(arguments[1])
    if request["verb"] == "run":
        arguments[0] = Path(arguments[0])
    return function(*arguments, **options, **request.get("options", {}))


def _end_everything(child: int, seconds: float | None) -> None:
    """Kill a call and all that it has started, after a time or when it has stopped itself."""
    if seconds is not None:
        if not proctree.wait_gone(child, seconds):
            proctree.end_tree(child)
        return
    ended = os.waitid(os.P_PID, child, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
    if ended is not None and ended.si_code == os.CLD_STOPPED:
        proctree.end_tree(child)


def _serve() -> None:
    import_all()
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("warms"):
            _call(request)  # what is found out once in each process is known to all children
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                _child(request, writing)
            except BaseException as error:  # noqa: BLE001 - said to the parent
                os.write(writing, json.dumps({"ok": False, "fault": repr(error)}).encode())
            os._exit(0)
        os.close(writing)
        if request.get("everything"):
            _end_everything(child, request.get("after"))
        with os.fdopen(reading, "rb") as report:
            said = report.read()
        _, status = os.waitpid(child, 0)
        answer = {"killed": os.WIFSIGNALED(status), "ok": False, **json.loads(said or b"{}")}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
