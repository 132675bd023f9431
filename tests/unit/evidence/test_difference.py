from __future__ import annotations

from typing import Any

import pytest

from rra.evidence import compare_records
from tests.unit.evidence.test_store import ZERO, record

ONE = "sha256:" + "1" * 64
DATA = {"path": "data/wine.csv", "sha256": ZERO, "size": 3, "role": "data"}
CODE = {"path": "code/main.py", "sha256": ZERO, "size": 3, "role": "code"}


def fields(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str, Any, Any]]:
    found = compare_records(record(**before), record(**after))
    return [(one.group, one.field, one.before, one.after) for one in found.fields]


def test_what_is_never_the_same_twice_is_no_difference() -> None:
    later = {
        "nonce": "01",
        "started": "2026-11-30T18:00:00Z",
        "ended": "2026-11-30T18:00:01Z",
        "resources": {"wall": 9.0, "cpu": 9.5, "max_rss": 7},
        "events": ONE,
    }
    assert fields({}, later) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"parameters": {"depth": 3}}, ("parameters", "parameters.depth", None, 3)),
        ({"seed": {"declared": 4}}, ("parameters", "seed", None, 4)),
        ({"inputs": [DATA]}, ("inputs", "data/wine.csv", None, ZERO)),
        ({"inputs": [CODE]}, ("code", "code/main.py", None, ZERO)),
        ({"platform": {"cpu": {"count": 2}}}, ("platform", "cpu.count", None, 2)),
        ({"sandbox": {"level": "bwrap"}}, ("watching", "sandbox", "none", "bwrap")),
        ({"exit_code": 1, "termination": "exit"}, ("end", "exit_code", 0, 1)),
        ({"outputs": []}, None),
    ],
)
def test_each_field_is_in_its_part(
    change: dict[str, Any], expected: tuple[str, str, Any, Any] | None
) -> None:
    found = fields({}, change)
    if expected is None:
        ((group, field, _, after),) = found
        assert (group, field, after) == ("outputs", "a/value.txt", None)
    else:
        assert expected in found


def test_environment_fields_are_named_by_their_place() -> None:
    changed = {"id": "cpu", "lock": ONE, "installed": ZERO, "variables": {"OMP_NUM_THREADS": "1"}}
    assert fields({}, {"environment": changed}) == [
        ("environment", "lock", ZERO, ONE),
        ("environment", "variables.OMP_NUM_THREADS", None, "1"),
    ]


def test_outputs_that_differ_for_no_recorded_reason_are_said_to() -> None:
    other: dict[str, Any] = {"outputs": [{"path": "a/value.txt", "sha256": ONE, "size": 2}]}
    alone = compare_records(record(), record(**other))
    assert (alone.groups, alone.unexplained) == (("outputs",), True)
    explained = compare_records(record(), record(**other, inputs=[DATA]))
    assert (explained.groups, explained.unexplained) == (("inputs", "outputs"), False)
