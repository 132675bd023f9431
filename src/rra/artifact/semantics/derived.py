"""Outcomes that follow from others: their operands exist, are numbers, and form no circle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.ids import section, value_at
from rra.errors import Problem, SelectError
from rra.values.units import convert, unit_kind

ARITY = "outcome/derived-arity"
EXIST = "outcome/operands-exist"
DIFFERENT = "outcome/operands-differ"
NUMBERS = "outcome/operands-are-numbers"
CIRCLE = "outcome/no-circle"
UNITS = "outcome/operand-units"
PROPORTION = "outcome/ratio-is-a-proportion"

_PAIRS = ("difference", "ratio", "percent_change")
_OWN_UNIT = ("difference", "mean")

Outcomes = Mapping[str, Mapping[str, Any]]


def check_derived(document: YamlDocument) -> Iterator[Problem]:
    """Yield what the derived outcomes of a manifest break.

    Operands that may be cells of a results table are left to the artifact stage.
    """
    experiments = section(document.data, "experiments")
    outcomes: dict[str, Mapping[str, Any]] = {}
    for name, experiment in experiments.items():
        for key, outcome in experiment.get("outcomes", {}).items():
            outcomes[f"{name}/{key}"] = outcome
    tables = {name for name, experiment in experiments.items() if "table" in experiment}
    for name, outcome in outcomes.items():
        if "derived" in outcome:
            yield from _check(document, name, outcome, outcomes, tables)
    yield from _circles(document, outcomes)


def check_operands_in_tables(document: YamlDocument, cells: Outcomes) -> Iterator[Problem]:
    """Yield what operands break that are cells of results tables, now that those are known.

    Args:
        document: The manifest.
        cells: Outcomes of all tables, by ``<experiment>/<outcome>``, as plain data.
    """
    for experiment in section(document.data, "experiments"):
        for key, outcome in section(document.data, "experiments", experiment, "outcomes").items():
            if "derived" not in outcome:
                continue
            name = f"{experiment}/{key}"
            for index, operand in enumerate(_operands(name, outcome)):
                place = _place(name, "of", index)
                owner, _, other = operand.partition("/")
                if other in section(document.data, "experiments", owner, "outcomes"):
                    continue
                if operand in cells:
                    yield from _operand(document, place, cells[operand], outcome)
                else:
                    message = f"no outcome is called {operand}, and no cell of the table either"
                    yield document.problem(place, message, clause=EXIST, hint="correct `of`")


def _operands(name: str, outcome: Mapping[str, Any]) -> list[str]:
    experiment = name.partition("/")[0]
    return [one if "/" in one else f"{experiment}/{one}" for one in outcome["derived"]["of"]]


def _place(name: str, *keys: Key) -> tuple[Key, ...]:
    experiment, _, outcome = name.partition("/")
    return ("experiments", experiment, "outcomes", outcome, "derived", *keys)


def _check(
    document: YamlDocument,
    name: str,
    outcome: Mapping[str, Any],
    outcomes: Outcomes,
    tables: set[str],
) -> Iterator[Problem]:
    op, operands = outcome["derived"]["op"], _operands(name, outcome)
    if len(operands) < 2 or (op in _PAIRS and len(operands) != 2):
        wanted = "exactly two outcomes" if op in _PAIRS else "two outcomes or more"
        message = f"{op} takes {wanted}, and {len(operands)} are named"
        yield document.problem(_place(name, "of"), message, clause=ARITY, hint="correct `of`")
    for index, operand in enumerate(operands):
        place = _place(name, "of", index)
        if operand in operands[:index]:
            message = f"{operand} is named twice"
            yield document.problem(place, message, clause=DIFFERENT, hint="name another outcome")
        elif operand in outcomes:
            yield from _operand(document, place, outcomes[operand], outcome)
        elif operand.partition("/")[0] not in tables:
            message = f"no outcome is called {operand}"
            hint = f"there are: {', '.join(list(outcomes)[:12])}"
            yield document.problem(place, message, clause=EXIST, hint=hint)
    if op not in _OWN_UNIT:
        yield from _proportion(document, name, outcome, outcomes)


def _operand(
    document: YamlDocument,
    place: tuple[Key, ...],
    operand: Mapping[str, Any],
    outcome: Mapping[str, Any],
) -> Iterator[Problem]:
    if operand["type"] != "number":
        message = f"{value_at(document.data, place)} is a {operand['type']}, not a number"
        yield document.problem(place, message, clause=NUMBERS, hint="name outcomes of numbers")
    elif outcome["derived"]["op"] in _OWN_UNIT:
        yield from _converts(document, place, operand.get("unit"), outcome.get("unit"))


def _converts(
    document: YamlDocument, place: tuple[Key, ...], unit: str | None, to: str | None
) -> Iterator[Problem]:
    try:
        convert(Decimal(1), unit, to)
    except SelectError as error:
        yield document.problem(place, error.message, clause=UNITS, hint=error.hint)


def _proportion(
    document: YamlDocument, name: str, outcome: Mapping[str, Any], outcomes: Outcomes
) -> Iterator[Problem]:
    """A ratio or a change in percent has operands of one kind and is a proportion itself."""
    operands = _operands(name, outcome)
    known = [outcomes[one].get("unit") for one in operands[:2] if one in outcomes]
    if len(known) == 2:
        yield from _converts(document, _place(name, "of", 1), known[1], known[0])
    unit = outcome.get("unit")
    if unit is not None and unit_kind(unit) != "proportion":
        place = (*_place(name)[:-1], "unit")
        op = outcome["derived"]["op"]
        message = f"a {op} is a proportion, and {unit!r} is none"
        hint = "write percent or fraction"
        yield document.problem(place, message, clause=PROPORTION, hint=hint)


def _circles(document: YamlDocument, outcomes: Outcomes) -> Iterator[Problem]:
    """Yield one problem for each circle, at its first outcome in the document."""
    order = {name: index for index, name in enumerate(outcomes)}
    follows = {
        name: [one for one in _operands(name, outcome) if "derived" in outcomes.get(one, {})]
        for name, outcome in outcomes.items()
        if "derived" in outcome
    }
    settled: set[str] = set()
    for start in follows:
        for circle in _found(follows, start, settled):
            first = min(circle, key=lambda name: order[name])
            at = circle.index(first)
            shown = " from ".join([*circle[at:], *circle[:at], first])
            message = f"an outcome follows from itself: {shown}"
            hint = "an outcome follows from others that launchers make"
            yield document.problem(_place(first, "of"), message, clause=CIRCLE, hint=hint)


def _found(
    follows: Mapping[str, list[str]], start: str, settled: set[str]
) -> Iterator[Sequence[str]]:
    """Yield the circles that are met from a start, each place looked at once."""
    path: dict[str, Iterator[str]] = {}
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in settled and name not in path:
            path[name] = iter(follows[name])
        while path:
            last = next(reversed(path))
            following = next(path[last], None)
            if following is None:
                del path[last]
                settled.add(last)
            elif following in path:
                names = list(path)
                yield names[names.index(following) :]
            elif following not in settled:
                waiting.append(following)
                break
