"""The only place where programs are started.

`run` is for short helpers whose output is small; `supervise` runs a launcher: its own
process group, output to files with a cap, a wall limit with grace, the whole group ended.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import resource
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

from rra._base import clock
from rra.errors import ToolMissingError, UnavailableError

Termination = Literal["ok", "exit", "signal", "timeout", "disk", "cancelled"]
GRACE_SECONDS = 5.0
_BLOCK = 1 << 16


@dataclasses.dataclass(frozen=True, slots=True)
class Completed:
    """What a finished helper program gave.

    Attributes:
        argv: The command.
        returncode: Exit status; negative for a signal.
        stdout: Decoded output.
        stderr: Decoded errors.
        seconds: Wall time.
    """

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    seconds: float

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
        done = subprocess.run(  # noqa: S603 - argv list, no shell
            command,
            cwd=cwd,
            env=dict(env) if env is not None else None,
            input=input_text if input_text is not None else "",
            capture_output=True,
            check=False,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
        )
    except FileNotFoundError as error:
        if cwd is not None and not cwd.is_dir():
            raise
        message = f"program not found: {command[0]}"
        raise ToolMissingError(message, hint=f"install {command[0]} and run again") from error
    except subprocess.TimeoutExpired as error:
        message = f"{command[0]} did not end within {timeout:g} s"
        raise UnavailableError(message, hint="run again, or look what it waits for") from error
    seconds = clock.monotonic() - started
    return Completed(tuple(command), done.returncode, done.stdout, done.stderr, seconds)


def find_tool(name: str) -> Path | None:
    """Return the path of a program on PATH, or None."""
    found = shutil.which(name)
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
class StreamInfo:
    """What is known of one output stream.

    Attributes:
        sha256: Digest of the bytes kept.
        bytes: Number of bytes the program wrote.
        kept: Number of bytes kept in the file.
    """

    sha256: str
    bytes: int
    kept: int

    @property
    def truncated(self) -> bool:
        """Whether the file holds only the first part."""
        return self.kept < self.bytes


@dataclasses.dataclass(frozen=True, slots=True)
class Supervised:
    """What a supervised program did.

    Attributes:
        returncode: Exit status; negative for a signal.
        termination: One of the format's termination words.
        seconds: Wall time.
        cpu_seconds: User and system time of the program and the children it waited for.
        max_rss: Largest resident set of any single process, in bytes.
        stdout: Standard output, as kept.
        stderr: Standard error, as kept.
    """

    returncode: int
    termination: Termination
    seconds: float
    cpu_seconds: float
    max_rss: int
    stdout: StreamInfo
    stderr: StreamInfo


class _Pump(threading.Thread):
    """Copies a pipe into a file up to a cap, and goes on reading so the writer never blocks."""

    def __init__(
        self, pipe: IO[bytes], path: Path, cap: int, on_line: Callable[[str], None] | None
    ) -> None:
        super().__init__(daemon=True)
        self._pipe, self._path, self._cap, self._on_line = pipe, path, cap, on_line
        self._state = hashlib.sha256()
        self._total = self._kept = 0
        self._tail = b""
        self.error: OSError | None = None

    def run(self) -> None:
        with self._path.open("wb") as file:
            while block := self._read():
                self._total += len(block)
                self._keep(file, block[: max(0, self._cap - self._kept)])
                self._announce(block)

    def _read(self) -> bytes:
        try:
            return os.read(self._pipe.fileno(), _BLOCK)
        except OSError:
            return b""

    def _keep(self, file: IO[bytes], block: bytes) -> None:
        if not block or self.error is not None:
            return
        try:
            file.write(block)
            file.flush()
        except OSError as error:
            self.error = error
            return
        self._state.update(block)
        self._kept += len(block)

    def _announce(self, block: bytes) -> None:
        if self._on_line is None:
            return
        *lines, self._tail = (self._tail + block)[-_BLOCK:].splitlines(keepends=True) or [b""]
        for line in lines[-1:]:
            self._on_line(line.decode("utf-8", "replace").rstrip())

    def info(self) -> StreamInfo:
        return StreamInfo("sha256:" + self._state.hexdigest(), self._total, self._kept)


def supervise(
    argv: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdout_path: Path,
    stderr_path: Path,
    wall_seconds: float | None = None,
    output_bytes: int = 64 * 1024 * 1024,
    on_line: Callable[[str], None] | None = None,
) -> Supervised:
    """Run a launcher in its own process group under a wall limit, its output kept in files.

    When the limit is reached the group gets SIGTERM, and SIGKILL after `GRACE_SECONDS`.
    Output beyond `output_bytes` is read and counted but not kept. Whatever ends this call,
    also an interrupt, ends the group.

    Args:
        argv: Command as a list.
        cwd: Working directory.
        env: Whole environment of the program.
        stdout_path: File for standard output.
        stderr_path: File for standard error.
        wall_seconds: Limit; None for none.
        output_bytes: Bytes kept of each stream.
        on_line: Called from another thread with the newest whole line of either stream.

    Raises:
        ToolMissingError: The program does not exist.
    """
    started = clock.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        child = subprocess.Popen(  # noqa: S603 - argv list, no shell
            [str(part) for part in argv],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        message = f"program not found: {argv[0]}"
        raise ToolMissingError(message, hint=f"install {argv[0]} and run again") from error
    with _ended(child), _pumps(child, (stdout_path, stderr_path), output_bytes, on_line) as pumps:
        timed_out = _wait(child, wall_seconds)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    disk_full = any(pump.error is not None for pump in pumps)
    return Supervised(
        child.returncode,
        _termination(child.returncode, timed_out=timed_out, disk_full=disk_full),
        clock.monotonic() - started,
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        after.ru_maxrss * 1024,
        pumps[0].info(),
        pumps[1].info(),
    )


@contextlib.contextmanager
def _ended(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """End the whole process group whatever happens inside."""
    try:
        yield
    finally:
        _signal_group(child, signal.SIGKILL)
        child.wait()


@contextlib.contextmanager
def _pumps(
    child: subprocess.Popen[bytes],
    paths: tuple[Path, Path],
    cap: int,
    on_line: Callable[[str], None] | None,
) -> Iterator[list[_Pump]]:
    """Drain both streams while the block runs, and close them after the group is gone."""
    streams = [pipe for pipe in (child.stdout, child.stderr) if pipe is not None]
    pumps = [_Pump(pipe, path, cap, on_line) for pipe, path in zip(streams, paths, strict=True)]
    for pump in pumps:
        pump.start()
    try:
        yield pumps
    finally:
        _signal_group(child, signal.SIGKILL)
        for pump in pumps:
            pump.join(GRACE_SECONDS)
        for pipe in streams:
            pipe.close()


def _wait(child: subprocess.Popen[bytes], wall_seconds: float | None) -> bool:
    """Wait for the program; return whether the limit ended it."""
    try:
        child.wait(wall_seconds)
    except subprocess.TimeoutExpired:
        _signal_group(child, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_SECONDS)
        _signal_group(child, signal.SIGKILL)
        child.wait()
        return True
    return False


def _signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


def _termination(returncode: int, *, timed_out: bool, disk_full: bool) -> Termination:
    if timed_out:
        return "timeout"
    if disk_full:
        return "disk"
    if returncode == 0:
        return "ok"
    return "signal" if returncode < 0 else "exit"
