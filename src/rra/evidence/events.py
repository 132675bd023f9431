"""What happened in one run, as lines that are chained by digest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rra._base import canonical
from rra._base.files import atomic_write, sha256_bytes
from rra.errors import Problem

GENESIS = "sha256:" + "0" * 64
"""What the first event names as its predecessor."""


def write_events(path: Path, events: Iterable[Mapping[str, Any]]) -> str:
    """Write events as JSON lines, each naming the digest of the line before; return the last.

    Args:
        path: Target, written as a whole.
        events: One JSON object each; ``seq`` and ``prev`` are added.

    Raises:
        StorageError: The disk is full or refuses.
    """
    head = GENESIS
    lines: list[bytes] = []
    for number, event in enumerate(events):
        line = canonical.dumps({**event, "seq": number, "prev": head})
        head = sha256_bytes(line)
        lines.append(line + b"\n")
    atomic_write(path, b"".join(lines))
    return head


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
