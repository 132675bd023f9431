"""The values that the runs of a plan gave: each outcome from the runs that its selector takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from rra.artifact import Artifact, layout
from rra.errors import SelectError
from rra.model import Outcome, RunSelection

if TYPE_CHECKING:
    from rra.launch import Plan, Task, TaskEnd
    from rra.values.selectors import Value


@dataclasses.dataclass(frozen=True, kw_only=True)
class ObtainedValue:
    """One outcome's value in the outputs of this call's runs, or why there is none.

    Attributes:
        reported: The paper's value; items of a list joined by ``", "``.
        value: As ``references.yaml`` takes it: text at full precision in the outcome's unit; a
            list for outcomes of type list.
        place: Where in the file it was found; of several runs, the first.
        error: Why a run that should have given it did not.
        runs: The runs that it was read from, by their ids.
        note: What keeps the value from being the outcome's: other runs than the selector takes, or
            a reduced run that says nothing about it.
    """

    outcome: str
    reported: str
    unit: str | None
    value: str | list[str] | None
    place: str | None
    error: str | None
    runs: tuple[str, ...] = ()
    note: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class _Reading:
    """Runs that together give one value."""

    tasks: tuple[Task, ...]
    note: str = ""


def obtained_values(
    artifact: Artifact, plan: Plan, ends: Mapping[str, TaskEnd]
) -> list[ObtainedValue]:
    """Select every outcome of the launchers of a plan.

    An outcome that is read from one run is selected from each instance that ran. One that is
    read from several is selected from all of them together.

    Args:
        artifact: The artifact.
        plan: What was carried out.
        ends: What became of each task.
    """
    found = [
        _value(artifact, name, outcome, reading, plan, ends)
        for name, outcome in artifact.manifest.outcomes().items()
        for reading in _readings(artifact, outcome, plan)
    ]
    return [*found, *_derived(artifact, found)]


def _readings(artifact: Artifact, outcome: Outcome, plan: Plan) -> Iterator[_Reading]:
    selector = outcome.selector
    tasks = plan.of_launcher(selector.launcher)
    seeds = artifact.manifest.launchers[selector.launcher].seeds
    if not tasks:
        return
    wanted = selector.runs.parameters if isinstance(selector.runs, RunSelection) else None
    for name, value in (wanted or {}).items():
        tasks = [task for task in tasks if _equal(task.parameters.get(name), value)]
    if not tasks:
        asked = ", ".join(f"{name}={value}" for name, value in (wanted or {}).items())
        yield _Reading((), f"it is read from a run with {asked}, and none was made")
        return
    if selector.runs is None or seeds is None:
        yield from (_Reading((task,)) for task in tasks)
        return
    named = selector.runs.seeds if isinstance(selector.runs, RunSelection) else None
    count = len(named or (seeds.values if selector.runs == "all" else ())) or 1
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        fixed = {k: v for k, v in task.parameters.items() if k != seeds.parameter}
        groups.setdefault(repr(sorted(fixed.items())), []).append(task)
    for group in groups.values():
        exact = [task for task in group if task.seed in (named or seeds.values)]
        chosen = exact if len(exact) == count else group
        few = f"made of {len(chosen)} of the {count} runs that it is read from"
        yield _Reading(tuple(chosen), few if len(chosen) != count else "")


def _equal(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _value(
    artifact: Artifact,
    name: str,
    outcome: Outcome,
    reading: _Reading,
    plan: Plan,
    ends: Mapping[str, TaskEnd],
) -> ObtainedValue:
    reported, ids = outcome.reported, [task.id for task in reading.tasks]
    failed = [one for one in ids if not ends[one].ok]
    value, place, error = None, None, None
    if failed:
        error = f"{', '.join(failed)} did not succeed"
    elif ids:
        value, place, error = _selected(artifact, ids, outcome)
    notes = [reading.note] if reading.note else []
    if {name, name.partition("/")[0]} & set(plan.unsupported):
        notes.append("a reduced run says nothing about it")
    if plan.asked.smoke and ids:
        notes.append("of a smoke run, which shows that the launcher works and no more")
    notes += _unusual(artifact, outcome, reading)
    return ObtainedValue(
        outcome=name,
        reported=reported if isinstance(reported, str) else ", ".join(reported),
        unit=outcome.unit,
        value=value,
        place=place,
        error=error,
        runs=tuple(ids),
        note="; ".join(notes),
    )


def _unusual(artifact: Artifact, outcome: Outcome, reading: _Reading) -> list[str]:
    """Say which parameters were not the usual ones where the selector asks for none."""
    launcher = artifact.manifest.launchers[outcome.selector.launcher]
    if outcome.selector.runs is not None or len(reading.tasks) != 1:
        return []
    (task,) = reading.tasks
    axes = set(launcher.matrix or {}) | ({launcher.seeds.parameter} if launcher.seeds else set())
    other = [
        f"{name}={value}"
        for name, value in task.parameters.items()
        if name not in axes and value != launcher.parameters[name].default
    ]
    return [f"run with {', '.join(other)}, not the default"] if other else []


def _selected(
    artifact: Artifact, runs: Sequence[str], outcome: Outcome
) -> tuple[str | list[str] | None, str | None, str | None]:
    """Return value, place and error of an outcome; a value that is no number is an error too."""
    from rra.values import select_outcome

    outputs = artifact.root / layout.OUTPUTS_DIR
    try:
        selected = select_outcome([outputs / run for run in runs], outcome)
    except SelectError as fault:
        return None, None, f"{fault.message} ({fault.hint})" if fault.hint else fault.message
    place = f"{selected.parts[0].file}, {selected.parts[0].place}"
    value = selected.value
    if isinstance(value, Decimal) and not value.is_finite():
        return str(value), place, f"{place} is {value}, which is not a number"
    return _plain(value), place, None


def _plain(value: Value) -> str | list[str]:
    """Return a value of any outcome type as JSON has it."""
    return list(value) if isinstance(value, tuple) else str(value)


def _derived(artifact: Artifact, made: Sequence[ObtainedValue]) -> Iterator[ObtainedValue]:
    """Yield the outcomes that follow from those of this call alone, each of which has one value."""
    from rra.values.derive import derive

    manifest = artifact.manifest
    names = [one.outcome for one in made]
    known = {one.outcome: one for one in made if names.count(one.outcome) == 1}
    waiting = {
        name: outcome
        for name, outcome in manifest.derived_outcomes().items()
        if all(source in known for source in manifest.sources(name))
    }
    while waiting:
        name = next(
            name
            for name, outcome in waiting.items()
            if not any(one in waiting for one in outcome.operands(name.partition("/")[0]))
        )
        outcome = waiting.pop(name)
        experiment = name.partition("/")[0]
        operands = [known[one] for one in outcome.operands(experiment)]
        value, error = None, next((one.error for one in operands if one.error), None)
        there = all(one.value is not None for one in operands)
        if error is None and there:
            pairs = [(Decimal(str(one.value)), one.unit) for one in operands]
            try:
                value = str(derive(outcome.derived, pairs, outcome.unit))
            except SelectError as failed:
                error = failed.message
        known[name] = ObtainedValue(
            outcome=name,
            reported=str(outcome.reported),
            unit=outcome.unit,
            value=value,
            place=outcome.describe(experiment) if value is not None else None,
            error=error,
            note=next((one.note for one in operands if one.note), ""),
        )
        yield known[name]
