"""Records that contradict themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rra._base import canonical
from rra.artifact.checking import check_bytes

CORPUS = Path(__file__).parents[3] / "schemas/conformance/v1/valid/execution-record"
SMALLEST: dict[str, Any] = json.loads((CORPUS / "smallest/record.json").read_text())
ONE, OTHER = "sha256:" + "1" * 64, "sha256:" + "2" * 64


def found(**changes: Any) -> list[tuple[str, str]]:
    data = canonical.dumps({**SMALLEST, **changes}) + b"\n"
    problems = check_bytes(data, "execution-record", source="record.json").problems
    return [(one.clause.removeprefix("execution-record/"), one.pointer) for one in problems]


def output(path: str, sha256: str = ONE) -> dict[str, Any]:
    return {"path": path, "sha256": sha256, "size": 1}


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"ended": SMALLEST["started"]}, []),
        ({"ended": "2026-11-29T17:59:59Z"}, [("ends-after-start", "/ended")]),
        ({"started": "2026-02-29T00:00:00Z"}, [("times", "/started")]),
        ({"started": "2024-02-29T00:00:00Z"}, []),
        ({"started": "2026-06-31T00:00:00Z"}, [("times", "/started")]),
        ({"exit_code": 1}, [("status-fits-termination", "/exit_code")]),
        ({"termination": "signal"}, [("status-fits-termination", "/exit_code")]),
        ({"termination": "signal", "exit_code": -9}, []),
        ({"termination": "timeout", "exit_code": 0}, []),
        ({"missing_outputs": ["m.json"]}, []),
    ],
)
def test_times_and_ends(changes: dict[str, Any], wanted: list[tuple[str, str]]) -> None:
    assert found(**changes) == wanted


@pytest.mark.parametrize(
    ("paths", "wanted"),
    [
        (["a b", "a-b", "a.txt", "a/b", "a0", "é", "\uff5e", "😀"], []),
        (["a/b", "a.txt"], [("sorted", "/outputs/1/path")]),
        (["a", "a"], [("sorted", "/outputs/1/path")]),
        (["😀", "\uff5e"], [("sorted", "/outputs/1/path")]),  # UTF-16 would say otherwise
    ],
)
def test_files_are_in_the_order_of_the_bytes_of_whole_paths(
    paths: list[str], wanted: list[tuple[str, str]]
) -> None:
    assert found(outputs=[output(path) for path in paths]) == wanted


def test_a_stream_among_the_outputs_is_the_stream() -> None:
    stream = {"sha256": ONE, "bytes": 1, "truncated": False}
    assert found(stdout=stream, outputs=[output("stdout.txt")]) == []
    assert found(stdout=stream, outputs=[output("stdout.txt", OTHER)]) == [
        ("streams-are-outputs", "/outputs/0/sha256")
    ]
