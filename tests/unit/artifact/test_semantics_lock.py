"""Locks that no artifact has, and locks that are not in canonical form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rra.artifact.checking import check_bytes

CORPUS = Path(__file__).parents[3] / "schemas/conformance/v1/valid/lock"
SMALLEST: dict[str, Any] = json.loads((CORPUS / "smallest/rra.lock").read_text())


def found(data: bytes) -> list[str]:
    return [problem.clause for problem in check_bytes(data, "lock", source="rra.lock").problems]


def text(**code: Any) -> bytes:
    elements = {**SMALLEST["elements"], "code": {**SMALLEST["elements"]["code"], **code}}
    document = {**SMALLEST, "elements": elements}
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode() + b"\n"


@pytest.mark.parametrize(
    ("files", "size", "wanted"),
    [
        (0, 1024, []),
        (1, 1536, []),
        (3, 2560, []),
        (0, 1536, []),  # a folder alone is no element, but no reader can tell from here
        (1, 1024, ["lock/archive-size"]),
        (3, 2048, ["lock/archive-size"]),
        (1, 2000, ["lock/archive-size"]),
        (0, 512, ["lock/archive-size"]),
    ],
)
def test_sizes_of_archives(files: int, size: int, wanted: list[str]) -> None:
    assert found(text(files=files, size=size)) == wanted


def test_nothing_has_one_digest() -> None:
    assert found(text(diff_id="sha256:" + "1" * 64)) == ["lock/empty-element"]


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(SMALLEST, sort_keys=True).encode() + b"\n",
        json.dumps(SMALLEST, separators=(",", ":"), sort_keys=True).encode(),
        text().replace(b'"1.0"', b'"\\u0031.0"'),
        text().replace(b'"files":0', b'"files":-0', 1),
        text() + b"\n",
    ],
)
def test_other_bytes_of_the_same_value(data: bytes) -> None:
    assert json.loads(data) == SMALLEST
    assert found(data) == ["lock/canonical"]
