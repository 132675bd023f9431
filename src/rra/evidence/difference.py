"""What differs between two runs, field by field, and whether that can explain their outputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from rra.model import ExecutionRecord

Group = Literal[
    "code", "parameters", "environment", "inputs", "platform", "watching", "end", "outputs"
]
GROUPS: tuple[Group, ...] = (
    *("code", "parameters", "environment", "inputs", "platform", "watching", "end", "outputs"),
)
"""Parts of a record, causes before effects."""

CAUSES = frozenset[Group]({"code", "parameters", "environment", "inputs", "platform"})
"""Parts that can explain why the outputs differ."""

_CODE_ROLES = frozenset({"code", "launcher", "config"})


@dataclasses.dataclass(frozen=True, slots=True)
class FieldDifference:
    """One field that two records do not have in common.

    Attributes:
        group: Part of the record.
        field: Its name there; files by their path.
        before: Value in the first record; None where it has none.
        after: Value in the second.
    """

    group: Group
    field: str
    before: Any
    after: Any


@dataclasses.dataclass(frozen=True, slots=True)
class RecordDifference:
    """What differs between two runs; what differs between any two is left out.

    Nonce, times, resources and the chain of events are never the same twice, so they are not
    compared.
    """

    fields: tuple[FieldDifference, ...]

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.fields

    @property
    def groups(self) -> tuple[Group, ...]:
        """Parts in which something differs."""
        found = {one.group for one in self.fields}
        return tuple(group for group in GROUPS if group in found)

    @property
    def unexplained(self) -> bool:
        """Whether outputs differ though nothing that is recorded of their causes does."""
        return "outputs" in self.groups and not CAUSES.intersection(self.groups)


def compare_records(before: ExecutionRecord, after: ExecutionRecord) -> RecordDifference:
    """Compare two runs field by field, also those of different launchers."""
    left, right = _grouped(before), _grouped(after)
    found = [
        FieldDifference(group, field, left[group].get(field), right[group].get(field))
        for group in GROUPS
        for field in sorted(left[group].keys() | right[group].keys())
        if left[group].get(field) != right[group].get(field)
    ]
    return RecordDifference(tuple(found))


def _grouped(record: ExecutionRecord) -> dict[Group, dict[str, Any]]:
    files = {one.path: one.sha256 for one in record.inputs}
    code = {one.path for one in record.inputs if one.role in _CODE_ROLES}
    environment = record.environment.to_json()
    return {
        "code": {
            "launcher": record.launcher.id,
            record.launcher.entry: record.launcher.sha256,
            "argv": record.argv,
            **{path: files[path] for path in code},
        },
        "parameters": {
            "instance": record.instance,
            "seed": record.seed.declared,
            "seeds observed": record.seed.observed,
            **{f"parameters.{name}": value for name, value in record.parameters.items()},
        },
        "environment": dict(_flat(environment)),
        "inputs": {path: digest for path, digest in files.items() if path not in code},
        "platform": dict(_flat(record.platform.to_json())),
        "watching": {
            "recorder": record.recorder.level,
            "recorder gaps": record.recorder.gaps,
            "sandbox": record.sandbox.level,
            "sandbox gaps": record.sandbox.gaps,
            "network attempts": record.network_attempts,
            "other writes": record.other_writes,
        },
        "end": {
            "termination": record.termination,
            "exit_code": record.exit_code,
            "missing outputs": record.missing_outputs,
            "failed cells": [one.to_json() for one in record.failed_cells or []],
        },
        "outputs": {one.path: one.sha256 for one in record.outputs},
    }


def _flat(members: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of an object with dotted names."""
    for key, value in members.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value
