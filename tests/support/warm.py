"""Calls of the `rra` command that cost no start of Python.

Run as a program it is the parent of those calls: it has imported all of `rra` once and forks for
each, with the arguments, folder, variables and streams that the call is given. What the child does
from there on, to its last exit handler, is what ``python -m rra`` does. The order of sets and dicts
of text is drawn once for each parent; tests about that start a Python of their own, as those about
locales, time zones and everything else that Python reads when it starts.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: Variables that are read when Python starts or a library is imported.
AT_START = ("PYTHON", "LC_", "LANG", "LD_", "TZ", "MALLOC_", "OPENBLAS_", "OMP_", "MKL_")
_MESSAGE = 1 << 20
"""Bytes that a request may have."""


class Warm:
    """The parent of calls of the command; one call at a time."""

    def __init__(self) -> None:
        self._variables = at_start(os.environ)
        self._connection, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(other.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                cwd=ROOT,
            )
        self._lock = threading.Lock()

    def close(self) -> None:
        """End the parent."""
        self._connection.close()
        self._process.wait()

    def can(self, env: Mapping[str, str]) -> bool:
        """Tell whether nothing would differ for a Python that starts with these variables."""
        return at_start(env) == self._variables

    def call(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        *,
        timeout: float,
        text: str = "",
        program: Path | None = None,
    ) -> tuple[int, bytes, bytes]:
        """Call the command.

        Args:
            argv: Arguments after the command's name.
            cwd: Working directory.
            env: All of its variables.
            text: What it finds on standard input.
            timeout: Seconds that it may take.
            program: Python program that is run instead, to run the command itself.

        Returns:
            Exit code, negative for a signal; standard output; standard error.

        Raises:
            TimeoutExpired: It took longer, and was ended.
        """
        request = json.dumps(
            {"program": str(program or ""), "argv": [*argv], "cwd": cwd, "env": {**env}}
        ).encode()
        assert len(request) < _MESSAGE
        with self._lock, contextlib.ExitStack() as stack:
            pipes = [
                [
                    stack.enter_context(os.fdopen(fd, mode, 0))
                    for fd, mode in zip(os.pipe(), ("rb", "wb"), strict=True)
                ]
                for _ in range(3)
            ]
            (given, giving), (out, out_end), (err, err_end) = pipes
            theirs = [given, out_end, err_end]
            socket.send_fds(self._connection, [request], [end.fileno() for end in theirs])
            for end in theirs:
                end.close()
            pid = int(self._connection.recv(64))
            try:
                with contextlib.suppress(BrokenPipeError), giving:
                    giving.write(text.encode())
                found = _read_all([out.fileno(), err.fileno()], time.monotonic() + timeout)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(["rra", *argv], timeout) from None
            finally:
                code = int(self._connection.recv(64))
        return code, *found


def _read_all(descriptors: list[int], until: float) -> tuple[bytes, bytes]:
    """Read two descriptors to their ends."""
    found = {descriptor: bytearray() for descriptor in descriptors}
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(until - time.monotonic(), 0))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                found[key.fd] += data
                if not data:
                    selector.unregister(key.fd)
    out, err = (bytes(found[descriptor]) for descriptor in descriptors)
    return out, err


def at_start(env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a Python reads before it runs anything."""
    return {name: text for name, text in env.items() if name.startswith(AT_START)}


@functools.cache
def warm() -> Warm:
    """Return the parent of this process's calls, started when it is first asked for."""
    parent = Warm()
    atexit.register(parent.close)
    return parent


# ---------------------------------------------------------------------------- the parent


def import_all() -> None:
    """Import every module of the package but the one that runs the command.

    Raises:
        RuntimeError: That started threads, which a fork would lose.
    """
    import rra

    for module in pkgutil.walk_packages(rra.__path__, "rra."):
        if module.name != "rra.__main__":
            importlib.import_module(module.name)
    if len(list(Path("/proc/self/task").iterdir())) != 1:
        raise RuntimeError("importing rra started threads")
    gc.collect()
    gc.freeze()  # else a child copies every page that its collector looks at


def _serve(connection: socket.socket) -> None:
    """Fork for each request; return in the child, whose surroundings are those of the call."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, _MESSAGE, 3)
        if not message:
            os._exit(0)
        child = os.fork()
        if child == 0:
            connection.close()
            _become(json.loads(message), descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        connection.send(str(child).encode())
        _, status = os.waitpid(child, 0)
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Take over what a call is given."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = [request["program"] or "rra", *request["argv"]]


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # As the command does; it has to be said before anything is imported.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    import_all()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    if sys.argv[0] != "rra":
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        runpy.run_module("rra", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
