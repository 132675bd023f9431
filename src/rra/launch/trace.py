"""What a recorder saw, and reading it from the lines of strace."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable
from pathlib import Path


@dataclasses.dataclass(slots=True)
class Observation:
    """What was seen of a run; keys keep the order of first sight.

    Attributes:
        reads: Absolute paths of files whose content was used as it was before the run wrote
            to them: opened for reading, or for adding to them.
        writes: Absolute paths that were written, made, renamed or removed.
        denied: Absolute paths where that was tried and refused.
        programs: Paths of programs executed.
        connections: ``address:port`` that was connected to or tried.
        reached: Those that answered at least once, where that can be seen.
        refused: Those that never did, where that can be seen.
        seeds: Seeds that were set.
        interpreters: Versions of the Python interpreters that reported.
        gaps: What could not be seen.
    """

    reads: dict[str, None] = dataclasses.field(default_factory=dict)
    writes: dict[str, None] = dataclasses.field(default_factory=dict)
    denied: dict[str, None] = dataclasses.field(default_factory=dict)
    programs: dict[str, None] = dataclasses.field(default_factory=dict)
    connections: dict[str, None] = dataclasses.field(default_factory=dict)
    reached: dict[str, None] = dataclasses.field(default_factory=dict)
    refused: dict[str, None] = dataclasses.field(default_factory=dict)
    seeds: dict[int, None] = dataclasses.field(default_factory=dict)
    interpreters: dict[str, None] = dataclasses.field(default_factory=dict)
    gaps: list[str] = dataclasses.field(default_factory=list)

    def add(self, kind: str, value: str) -> None:
        """Take one event of `rra.launch.observer`; kinds that are unknown are passed over."""
        targets = {
            "write": self.writes,
            "exec": self.programs,
            "python": self.interpreters,
        }
        if kind in targets:
            targets[kind][value] = None
        elif kind == "read":
            self.read(value)
        elif kind == "connect":
            self.connect(value)
        elif kind == "seed" and value.lstrip("-").isdigit():
            self.seeds[int(value)] = None
        elif kind == "gap" and value not in self.gaps:
            self.gaps.append(value)

    def read(self, path: str) -> None:
        """Take a file that was read, unless the run had written it before."""
        if path not in self.writes:
            self.reads[path] = None

    def connect(self, address: str, *, failed: bool | None = None) -> None:
        """Take a connection unless it stays on this machine and asks for no name.

        Args:
            address: ``address:port``.
            failed: Whether it could not be made, where that is known.
        """
        if not asks_for_names(address) and stays_here(address):
            return
        self.connections[address] = None
        if failed is False:
            self.reached[address] = None
            self.refused.pop(address, None)
        elif failed and address not in self.reached:
            self.refused[address] = None


def stays_here(address: str) -> bool:
    """Tell whether an ``address:port`` is one of this machine."""
    host = address.rpartition(":")[0]
    return host.startswith("127.") or host in {"::1", "localhost"}


def asks_for_names(address: str) -> bool:
    """Tell whether an ``address:port`` is one of a service that knows the addresses of names."""
    return address.endswith(":53")


_LINE = re.compile(rb"(\d+) +(.*)", re.DOTALL)
_RESUMED = re.compile(rb"<\.\.\. \w+ resumed>(.*)", re.DOTALL)
_CALL = re.compile(
    rb"(?P<name>\w+)\((?P<args>.*)\) += (?P<value>-?\d+)(?:<(?P<path>(?:[^<>\\]|\\.)*)>\S*)?"
    rb"(?: (?P<errno>E[A-Z0-9]+) .*)?$",
    re.DOTALL,
)
_PATH = re.compile(rb'(?:(AT_FDCWD|\d+)<((?:[^<>\\]|\\.)*)>, )?"((?:[^"\\]|\\.)*)"')
_ADDRESS = re.compile(
    rb'sin6?_port=htons\((\d+)\).*?(?:inet_addr\(|inet_pton\(AF_INET6, )"([^"]+)"', re.DOTALL
)
_WRITING = re.compile(rb"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND")
_KEEPING = re.compile(rb"O_RDWR|O_APPEND")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f"}
_PENDING = {b"EINPROGRESS", b"EALREADY", b"EINTR", b"ERESTARTSYS"}
_REFUSED = {b"EROFS", b"EACCES", b"EPERM"}
_UNFINISHED = b" <unfinished ...>"


class TraceParser:
    """Reads lines of ``strace -f -y``; what comes before the launcher itself is passed over."""

    def __init__(self, cwd: Path, own: int) -> None:
        """Begin with a launcher that starts in `cwd` after `own` other programs."""
        self._own = own
        self.observation = Observation()
        self._start = os.fsencode(cwd)
        self._folders: dict[bytes, bytes] = {}
        self._pending: dict[bytes, bytes] = {}
        self._executions = 0
        self._takers: dict[bytes, Callable[[bytes, re.Match[bytes]], None]] = {
            b"open": self._open,
            b"openat": self._open,
            b"openat2": self._open,
            b"execve": self._execute,
            b"execveat": self._execute,
            b"connect": self._connect,
            b"chdir": self._change_folder,
        }

    def feed(self, line: bytes) -> None:
        """Take one line without its end; lines that say nothing are passed over."""
        head = _LINE.match(line)
        if head is None:
            return
        pid, text = head.groups()
        if text.endswith(_UNFINISHED):
            self._pending[pid] = text[: -len(_UNFINISHED)]
            return
        if resumed := _RESUMED.match(text):
            text = self._pending.pop(pid, b"") + resumed[1]
        call = _CALL.match(text)
        if call is not None:
            self._take(pid, call)

    def _take(self, pid: bytes, call: re.Match[bytes]) -> None:
        name = call["name"]
        if self._executions <= self._own and not name.startswith(b"execve"):
            return
        self._takers.get(name, self._change)(pid, call)

    def _open(self, pid: bytes, call: re.Match[bytes]) -> None:
        path, args = call["path"], call["args"]
        writing = _WRITING.search(args) is not None
        if path is not None:
            if not path.startswith(b"/") or b"O_DIRECTORY" in args:
                return
            if not writing or (_KEEPING.search(args) and b"O_TRUNC" not in args):
                self.observation.read(_text(path))
            if writing:
                self.observation.writes[_text(path)] = None
        elif writing and (call["errno"] in _REFUSED or call["errno"] == b"ENOENT"):
            self._paths(pid, call, self.observation.denied)

    def _change(self, pid: bytes, call: re.Match[bytes]) -> None:
        """Take a call that makes, moves or removes a file by its name."""
        if call["errno"] is None:
            self._paths(pid, call, self.observation.writes)
        elif call["errno"] in _REFUSED:
            self._paths(pid, call, self.observation.denied)

    def _paths(self, pid: bytes, call: re.Match[bytes], seen: dict[str, None]) -> None:
        pairs = _PATH.findall(call["args"])
        if not call["name"].startswith(b"rename"):
            pairs = pairs[-1:]
        for kind, folder, name in pairs:
            if kind == b"AT_FDCWD":
                self._folders[pid] = _raw(folder)
            base = _raw(folder) if kind else self._folders.get(pid, self._start)
            seen[os.fsdecode(_followed(base, _raw(name)))] = None

    def _execute(self, pid: bytes, call: re.Match[bytes]) -> None:  # noqa: ARG002 - as the others
        if call["errno"] is not None:
            return
        self._executions += 1
        path = _PATH.search(call["args"])
        if self._executions > self._own and path is not None:
            self.observation.programs[_text(path[3])] = None

    def _connect(self, pid: bytes, call: re.Match[bytes]) -> None:  # noqa: ARG002 - as the others
        address = _ADDRESS.search(call["args"])
        if address is not None:
            failed = call["errno"] is not None and call["errno"] not in _PENDING
            unknown = call["errno"] in _PENDING
            name = f"{address[2].decode()}:{address[1].decode()}"
            self.observation.connect(name, failed=None if unknown else failed)

    def _change_folder(self, pid: bytes, call: re.Match[bytes]) -> None:
        path = _PATH.search(call["args"])
        if call["errno"] is None and path is not None:
            base = self._folders.get(pid, self._start)
            self._folders[pid] = os.path.normpath(os.path.join(base, _raw(path[3])))  # noqa: PTH118 - bytes


def _followed(base: bytes, name: bytes) -> bytes:
    """Return where a name leads: strace gives folders as they are, and names as they were given.

    A link on the way is followed, as the kernel did a moment ago; one at the end is what the call
    is about.
    """
    path = os.path.join(base, name)  # noqa: PTH118 - bytes
    folder, last = os.path.split(path.rstrip(b"/"))
    if b"/" not in name.rstrip(b"/") and name not in {b".", b".."}:
        return os.path.normpath(path)
    if last in {b".", b".."}:
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(folder), last)  # noqa: PTH118 - bytes


def _raw(escaped: bytes) -> bytes:
    """Undo the escapes with which strace writes bytes that are not printable."""
    if b"\\" not in escaped:
        return escaped
    return _ESCAPE.sub(lambda found: _unescape(found[1]), escaped)


def _unescape(code: bytes) -> bytes:
    return bytes([int(code, 8) & 0xFF]) if code.isdigit() else _LETTERS.get(code, code)


def _text(escaped: bytes) -> str:
    return os.fsdecode(_raw(escaped))
