"""Outcomes that follow from others: their operands exist, are numbers, and form no circle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.ids import section, value_at
from rra.artifact.semantics.needs import components
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
_SHOWN = 6

Outcomes = Mapping[str, Mapping[str, Any]]


def check_derived(document: YamlDocument) -> Iterator[Problem]:
    """Yield what the derived outcomes of a manifest break.

    Operands that may be cells of a results table are left to the artifact stage.
    """
    experiments = section(document.data, "experiments")
    outcomes = _written(document)
    tables = {name for name, experiment in experiments.items() if "table" in experiment}
    for name, outcome in outcomes.items():
        if _is_derived(outcome):
            yield from _check(document, name, outcome, outcomes, tables)
    yield from _circles(document, outcomes)


def check_operands_in_tables(document: YamlDocument, cells: Outcomes) -> Iterator[Problem]:
    """Yield what operands break that are cells of results tables, now that those are known.

    Args:
        document: The manifest.
        cells: Outcomes of all tables, by ``<experiment>/<outcome>``, as plain data.
    """
    written = _written(document)
    known = {**cells, **written}
    for name, outcome in written.items():
        operands = _operands(name, outcome) if _is_derived(outcome) else []
        if all(one in written for one in operands):
            continue
        for index, operand in enumerate(operands):
            place = _place(name, "of", index)
            if operand in operands[:index]:
                continue
            if operand in known:
                yield from _operand(document, place, known[operand])
            else:
                message = f"no outcome is called {operand}, and no cell of the table either"
                yield document.problem(place, message, clause=EXIST, hint="correct `of`")
        yield from _units(document, name, outcome, known)


def _written(document: YamlDocument) -> dict[str, Mapping[str, Any]]:
    """Return the outcomes that the manifest writes out, by ``<experiment>/<outcome>``."""
    return {
        f"{name}/{key}": outcome
        for name, experiment in section(document.data, "experiments").items()
        for key, outcome in experiment.get("outcomes", {}).items()
    }


def _is_derived(outcome: Mapping[str, Any]) -> bool:
    """Tell whether an outcome follows from others; only numbers may."""
    return "derived" in outcome and outcome["type"] == "number"


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
            yield from _operand(document, place, outcomes[operand])
        elif operand.partition("/")[0] not in tables:
            message = f"no outcome is called {operand}"
            hint = f"there are: {', '.join(list(outcomes)[:12])}"
            yield document.problem(place, message, clause=EXIST, hint=hint)
    yield from _units(document, name, outcome, outcomes)
    if op not in _OWN_UNIT:
        yield from _proportion(document, name, outcome)


def _operand(
    document: YamlDocument,
    place: tuple[Key, ...],
    operand: Mapping[str, Any],
) -> Iterator[Problem]:
    if operand["type"] != "number":
        message = f"{value_at(document.data, place)} is a {operand['type']}, not a number"
        yield document.problem(place, message, clause=NUMBERS, hint="name outcomes of numbers")


def _units(
    document: YamlDocument, name: str, outcome: Mapping[str, Any], known: Outcomes
) -> Iterator[Problem]:
    """Operands convert to the unit of the outcome, or else to that of the first operand."""
    operands = _operands(name, outcome)
    known = {one: known[one] for one in operands if known.get(one, {}).get("type") == "number"}
    own = outcome.get("unit") if outcome["derived"]["op"] in _OWN_UNIT else None
    to = own or known.get(operands[0], {}).get("unit")
    for index, operand in enumerate(operands):
        if operand in known and operand not in operands[:index]:
            place = _place(name, "of", index)
            yield from _converts(document, place, known[operand].get("unit"), to)


def _converts(
    document: YamlDocument, place: tuple[Key, ...], unit: str | None, to: str | None
) -> Iterator[Problem]:
    try:
        convert(Decimal(1), unit, to)
    except SelectError as error:
        yield document.problem(place, error.message, clause=UNITS, hint=error.hint)


def _proportion(document: YamlDocument, name: str, outcome: Mapping[str, Any]) -> Iterator[Problem]:
    """A ratio or a change in percent is a proportion."""
    unit = outcome.get("unit")
    if unit is not None and unit_kind(unit) != "proportion":
        place = (*_place(name)[:-1], "unit")
        op = outcome["derived"]["op"]
        message = f"a {op} is a proportion, and {unit!r} is none"
        hint = "write percent or fraction"
        yield document.problem(place, message, clause=PROPORTION, hint=hint)


def _circles(document: YamlDocument, outcomes: Outcomes) -> Iterator[Problem]:
    """Yield a problem for each largest set of outcomes that follow from each other."""
    edges = {
        name: sorted(
            {
                one
                for one in _operands(name, outcome)
                if one in outcomes and _is_derived(outcomes[one])
            }
        )
        for name, outcome in outcomes.items()
        if _is_derived(outcome)
    }
    for group in components(edges):
        names = sorted(group)
        if len(names) == 1 and names[0] not in edges[names[0]]:
            continue
        shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        what = "outcomes follow from each other in a circle"
        message = f"{what}: {shown}" if len(names) > 1 else f"{shown} follows from itself"
        hint = "an outcome follows from others that launchers make"
        yield document.problem(_place(names[0], "of"), message, clause=CIRCLE, hint=hint)
