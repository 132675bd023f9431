"""The file that ``rra registry check`` appends to: one JSON line for each bundle that was checked.

A line is written whole and only after its bundle was checked, so that a check that was killed
goes on where it ended. What was half-written when it ended is cut off.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal

from rra._base.files import storage_errors
from rra.errors import FormatError, UsageError

Verdict = Literal["passed", "failed", "error"]

_KEY = ("reference", "digest", "profile", "rra")
_LONGEST = 1 << 20


class CheckedLines:
    """A file of checked bundles, open for one check.

    Of what is in it only a digest for each line is kept in memory.

    Args:
        file: The file, locked.
        path: Its path.
    """

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path
        self._known: dict[bytes, Verdict] = {}
        self._load()

    def known(self, line: dict[str, Any]) -> Verdict | None:
        """Return the verdict on the same bundle, profile and version of `rra`, or None.

        A bundle that could not be checked is not known: it is tried again.
        """
        return self._known.get(_key(line))

    def append(self, line: dict[str, Any]) -> None:
        """Write a line.

        Raises:
            StorageError: The disk is full or refuses.
        """
        data = json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        with storage_errors(self._path):
            self._file.write(data)
        self._remember(line)

    def _load(self) -> None:
        self._file.seek(0)
        whole = number = 0
        while data := self._file.readline(_LONGEST):
            number += 1
            line = _parsed(data)
            if not data.endswith(b"\n") and (line is None or len(data) < _LONGEST):
                break  # the check ended in the middle of it
            if line is None:
                message = f"{self._path}:{number} is no line of rra registry check"
                raise FormatError(message, hint="name another file for --jsonl, or correct it")
            whole += len(data)
            self._remember(line)
        with storage_errors(self._path):
            self._file.truncate(whole)
            self._file.seek(0, os.SEEK_END)

    def _remember(self, line: dict[str, Any]) -> None:
        if line["verdict"] != "error":
            self._known[_key(line)] = line["verdict"]


@contextlib.contextmanager
def checked_lines(path: Path) -> Iterator[CheckedLines]:
    """Open the file of a check, which is made when it is missing, for this check alone.

    Raises:
        UsageError: Another check writes to it.
        FormatError: Something else is in it.
        StorageError: It cannot be written.
    """
    with storage_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise UsageError(f"{path} is a directory", hint="name a file for --jsonl")
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    with os.fdopen(handle, "r+b", buffering=0) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"another rra registry check writes to {path}"
            raise UsageError(message, hint="wait for it, or name another file") from None
        yield CheckedLines(file, path)
        with storage_errors(path):
            os.fsync(file.fileno())


def _key(line: dict[str, Any]) -> bytes:
    text = "\0".join(str(line[name]) for name in _KEY)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def _parsed(data: bytes) -> dict[str, Any] | None:
    """Return a line of ours; None for anything else."""
    try:
        line = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or not all(name in line for name in _KEY):
        return None
    return line if line.get("verdict") in {"passed", "failed", "error"} else None
