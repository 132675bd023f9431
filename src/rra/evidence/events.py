"""What happened in one run, as lines that are chained by digest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rra._base import canonical
from rra._base.files import append_durably, atomic_write, sha256_bytes
from rra.errors import Problem

GENESIS = "sha256:" + "0" * 64
"""What the first event names as its predecessor."""


class Chain:
    """Makes lines of events, each naming the digest of the one before it.

    Attributes:
        head: Digest of the newest line.
        length: Number of lines.
    """

    def __init__(self) -> None:
        """Begin."""
        self.head = GENESIS
        self.length = 0

    def line(self, event: Mapping[str, Any]) -> bytes:
        """Return the next line, its line feed included; ``seq`` and ``prev`` are added."""
        line = canonical.dumps({**event, "seq": self.length, "prev": self.head})
        self.head = sha256_bytes(line)
        self.length += 1
        return line + b"\n"


def write_events(path: Path, events: Iterable[Mapping[str, Any]]) -> str:
    """Write events as JSON lines, each naming the digest of the line before; return the last.

    Args:
        path: Target, written as a whole.
        events: One JSON object each; ``seq`` and ``prev`` are added.

    Raises:
        StorageError: The disk is full or refuses.
    """
    chain = Chain()
    atomic_write(path, b"".join([chain.line(event) for event in events]))
    return chain.head


class EventLog:
    """Events that are written while they happen: each is on the disk when `add` returns."""

    def __init__(self, path: Path) -> None:
        """Use the file `path`, which is made by the first event."""
        self.path = path
        self._chain = Chain()

    def add(self, event: Mapping[str, Any]) -> None:
        """Add one event.

        Raises:
            StorageError: The disk is full or refuses.
        """
        append_durably(self.path, self._chain.line(event))


def read_log(path: Path) -> tuple[list[dict[str, Any]], str]:
    """Return the events that `EventLog` had written, and the digest of the last.

    A line that a crash cut off, or that does not follow the one before it, ends them; nothing
    behind it is believed. A file that is not there, or is none, has no events.
    """
    events: list[dict[str, Any]] = []
    chain = Chain()
    try:
        if path.is_symlink() or not path.is_file():
            return events, chain.head
        content = path.read_bytes()
    except OSError:
        return events, chain.head
    for line in content.splitlines(keepends=True):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            break
        if not isinstance(event, dict) or not line.endswith(b"\n"):
            break
        if event.pop("seq", None) != chain.length or event.pop("prev", None) != chain.head:
            break
        if chain.line(event) != line:
            break
        events.append(event)
    return events, chain.head


def read_events(path: Path) -> list[dict[str, Any]]:
    """Return the events of a run in their order.

    Raises:
        ValueError: A line is not JSON.
    """
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def check_events(path: Path, head: str, *, source: str) -> list[Problem]:
    """Check the chain of a run's events.

    Args:
        path: The file.
        head: Digest of its last line, as the record says.
        source: Name of the file for messages.
    """
    expected = GENESIS
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return [_broken("the events are not there", source, None)]
    for number, line in enumerate(lines, start=1):
        try:
            event = json.loads(line)
        except ValueError:
            return [_broken("this line is not JSON", source, number)]
        if not isinstance(event, dict) or event.get("prev") != expected:
            return [_broken("this event does not follow the one before it", source, number)]
        expected = sha256_bytes(line)
    if expected != head:
        return [
            _broken(
                "the last event is not the one that the record names", source, len(lines) or None
            )
        ]
    return []


def _broken(message: str, source: str, line: int | None) -> Problem:
    hint = "the evidence was changed or cut after the run; run the launcher again"
    return Problem(message, source, line, clause="execution-record/event-chain", hint=hint)
