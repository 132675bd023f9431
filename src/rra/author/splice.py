"""Adding outcomes to an ``rra.yaml`` that somebody wrote: every byte that is there stays."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rra._base.yaml import Node, compose_yaml, double_quoted, scalar
from rra.artifact.edit import map_addition
from rra.artifact.edit_places import Change, applied
from rra.author.yamltext import comment
from rra.errors import FormatError, UsageError

_STEP = 2
_SHORT = frozenset({"csv", "npz", "pick"})


@dataclasses.dataclass(frozen=True, slots=True)
class NewOutcome:
    """An outcome to add.

    Attributes:
        experiment: Id of its experiment; one that is not there is added.
        title: Title of the experiment, for a new one.
        id: Id of the outcome.
        body: Its keys and values as plain data.
        notes: Lines of comment, written where the style allows comments.
    """

    experiment: str
    title: str
    id: str
    body: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def open_experiments(text: str) -> set[str]:
    """Return the experiments that an outcome can be added to: none that is an alias or has one."""
    experiments = _experiments(_root(text))
    return {
        str(key.value)
        for key, value in zip(experiments.keys, experiments.values, strict=True)
        if _is_open(value)
        and (outcomes := _get(value, "outcomes")) is not None
        and _is_open(outcomes)
    }


def splice_outcomes(text: str, outcomes: Sequence[NewOutcome]) -> str:
    """Return the text with outcomes added; everything else is as it was, byte for byte.

    Args:
        text: A manifest that is valid, with any line ends.
        outcomes: What to add; no id may be there already.

    Raises:
        UsageError: The document is written in a way that nothing can be added to safely.
    """
    root = _root(text)
    result = _applied(text, list(_changes(text, root, outcomes)))
    _check(root, result, outcomes)
    return result


def _applied(text: str, changes: Sequence[Change]) -> str:
    """Make the changes; of those at one place the inner one, which comes first, goes first."""
    merged: dict[int, str] = {}
    for start, _, new in changes:
        merged[start] = merged.get(start, "") + new
    return applied(text, [(start, start, new) for start, new in merged.items()])


def _check(root: Node, result: str, outcomes: Sequence[NewOutcome]) -> None:
    """Insist that the result is the old data and the new outcomes, nothing else."""
    wanted = copy.deepcopy(root.value)
    for outcome in outcomes:
        fresh = {"title": outcome.title, "outcomes": {}}
        experiment = wanted["experiments"].setdefault(outcome.experiment, fresh)
        experiment["outcomes"][outcome.id] = copy.deepcopy(dict(outcome.body))
    try:
        found = compose_yaml(result, source="rra.yaml")
    except FormatError as error:
        raise _refusal() from error
    if found is None or json.dumps(found.value) != json.dumps(wanted):
        raise _refusal()


def _refusal() -> UsageError:
    return UsageError(
        "rra.yaml is written in a way that nothing can be added to without changing the rest",
        hint="write `experiments` and `outcomes` as plain maps, or add the outcomes by hand",
    )


# ------------------------------------------------------------------------------------ reading


def _root(text: str) -> Node:
    root = compose_yaml(text, source="rra.yaml")
    if root is None:
        raise _refusal()
    return root


def _experiments(root: Node) -> Node:
    experiments = _get(root, "experiments")
    if experiments is None or not _is_open(experiments):
        raise _refusal()
    return experiments


def _get(node: Node, name: str) -> Node | None:
    """Return the value of a key of a map, as it is written there."""
    for key, value in zip(node.keys, node.values, strict=False):
        if key.value == name:
            return value
    return None


def _is_open(node: Node) -> bool:
    return node.kind == "map" and not node.anchor


# ------------------------------------------------------------------------------------ writing


def _changes(text: str, root: Node, outcomes: Sequence[NewOutcome]) -> Iterator[Change]:
    """Yield what to put where, inner places before outer ones."""
    experiments = _experiments(root)
    groups: dict[str, list[NewOutcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.experiment, []).append(outcome)
    fresh = {name: group for name, group in groups.items() if _get(experiments, name) is None}
    for name, group in groups.items():
        if name in fresh:
            continue
        experiment = _get(experiments, name)
        inside = _get(experiment, "outcomes") if experiment is not None else None
        if experiment is None or inside is None or not (_is_open(experiment) and _is_open(inside)):
            raise _refusal()
        lines = {one.id: _outcome_lines(one) for one in group}
        yield map_addition(text, inside, {one.id: one.body for one in group}, lines=lines)
    if fresh:
        whole = {
            name: {"title": group[0].title, "outcomes": {one.id: one.body for one in group}}
            for name, group in fresh.items()
        }
        lines = {name: _experiment_lines(name, group) for name, group in fresh.items()}
        yield map_addition(text, experiments, whole, lines=lines)


def _experiment_lines(name: str, group: Sequence[NewOutcome]) -> list[str]:
    inner = [f"title: {scalar(group[0].title)}", "outcomes:"]
    inner += [_indented(line) for one in group for line in _outcome_lines(one)]
    return [f"{scalar(name)}:", *map(_indented, inner)]


def _outcome_lines(outcome: NewOutcome) -> list[str]:
    inner = [comment(note).rstrip("\n") for note in outcome.notes]
    inner += [line for key, value in outcome.body.items() for line in _lines(key, value)]
    return [f"{scalar(outcome.id)}:", *map(_indented, inner)]


def _lines(key: str, value: Any) -> list[str]:
    """Write an entry in block style; short maps inside selectors in flow style."""
    if not isinstance(value, Mapping):
        written = scalar(value)
        quoted = key == "reported" and written == value
        return [f"{key}: {double_quoted(value) if quoted else written}"]
    if key in _SHORT:
        return [f"{key}: {_flow(value)}"]
    inner = [line for name, item in value.items() for line in _lines(name, item)]
    return [f"{scalar(key)}:", *map(_indented, inner)]


def _indented(line: str) -> str:
    return " " * _STEP + line


def _flow(value: Any) -> str:
    """Write a value in one line."""
    if isinstance(value, Mapping):
        inner = (f"{scalar(key)}: {_flow(item)}" for key, item in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return scalar(value)
