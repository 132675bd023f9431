from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rra.evidence import GENESIS, check_events, read_events, write_events

Change = Callable[[list[bytes]], list[bytes]]
EVENTS = [{"kind": "started"}, {"kind": "read", "path": "data/é.csv"}, {"kind": "ended"}]


def test_each_event_names_the_line_before(tmp_path: Path) -> None:
    head = write_events(tmp_path / "events.jsonl", EVENTS)
    lines = (tmp_path / "events.jsonl").read_bytes().splitlines()
    digests = ["sha256:" + hashlib.sha256(line).hexdigest() for line in lines]
    assert [json.loads(line)["prev"] for line in lines] == [GENESIS, *digests[:-1]]
    assert head == digests[-1]
    assert [event["seq"] for event in read_events(tmp_path / "events.jsonl")] == [0, 1, 2]
    assert check_events(tmp_path / "events.jsonl", head, source="events.jsonl") == []


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda lines: [lines[0], lines[1].replace(b"csv", b"tsv"), lines[2]], 3),
        (lambda lines: [lines[0], lines[2]], 2),
        (lambda lines: lines[:2], 2),
        (lambda lines: [lines[1], lines[0], lines[2]], 1),
        (lambda lines: [lines[0], b"{", lines[2]], 2),
        (lambda lines: [b"[]", *lines[1:]], 1),
    ],
)
def test_a_changed_chain_is_found_where_it_breaks(
    tmp_path: Path, change: Change, line: int
) -> None:
    path = tmp_path / "events.jsonl"
    head = write_events(path, EVENTS)
    path.write_bytes(b"\n".join(change(path.read_bytes().splitlines())) + b"\n")
    (problem,) = check_events(path, head, source="events.jsonl")
    assert (problem.path, problem.line, problem.clause) == (
        "events.jsonl",
        line,
        "execution-record/event-chain",
    )


def test_missing_events_are_said(tmp_path: Path) -> None:
    (problem,) = check_events(tmp_path / "none", GENESIS, source="events.jsonl")
    assert problem.message == "the events are not there"
