"""Parameters of a launcher: types, choices, and every value that is given for one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.ids import section, undefined
from rra.errors import Problem
from rra.model.text import LARGEST_INTEGER

DEFAULT_TYPE = "launcher/defaults-fit-their-type"
CHOICE_TYPE = "launcher/choices-fit-their-type"
DEFAULT_CHOICE = "launcher/default-is-a-choice"
VARIABLES = "launcher/parameter-variables-differ"
DECLARED = "launcher/parameters-are-declared"
VALUES = "launcher/values-fit-their-parameter"
SEED_TYPE = "launcher/seed-parameter-is-an-integer"
SEED_APART = "launcher/matrix-leaves-the-seed"

Place = tuple[Key, ...]


def check_parameters(
    document: YamlDocument, here: Place, launcher: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield what the parameters of a launcher break, and the values given for them."""
    declared = launcher.get("parameters", {})
    for name, parameter in declared.items():
        yield from _parameter(document, (*here, "parameters", name), parameter)
    yield from _same_variable(document, here, declared)
    for holder in ("smoke", "reduced"):
        place = (*here, holder, "parameters")
        for name, value in section(document.data, *place).items():
            yield from _given(document, (*place, name), declared, [((*place, name), value)])
    for name, values in launcher.get("matrix", {}).items():
        place = (*here, "matrix", name)
        given = [((*place, index), value) for index, value in enumerate(values)]
        yield from _given(document, place, declared, given)
    yield from _seed(document, here, launcher, declared)


def fits(value: Any, kind: str) -> bool:
    """Tell whether a value is of the type of a parameter.

    A number that no record could hold, whole and beyond 2^53 - 1, is of none.
    """
    if kind in {"string", "boolean"}:
        return isinstance(value, str if kind == "string" else bool)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if not math.isfinite(value):
        return False
    whole = value == int(value)
    return abs(value) <= LARGEST_INTEGER if whole else kind == "number"


def _same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same; numbers are compared by value, true is not 1."""
    kinds = [type(v) if isinstance(v, str | bool) else float for v in (one, other)]
    return kinds[0] == kinds[1] and one == other


def _parameter(
    document: YamlDocument, here: Place, parameter: Mapping[str, Any]
) -> Iterator[Problem]:
    kind = parameter.get("type", "string")
    choices = parameter.get("choices")
    for index, choice in enumerate(choices or ()):
        if not fits(choice, kind):
            message, hint = _misfit(choice, kind, declared="type" in parameter)
            place = (*here, "choices", index)
            yield document.problem(place, message, clause=CHOICE_TYPE, hint=hint)
    if "default" not in parameter:
        return
    default, place = parameter["default"], (*here, "default")
    if not fits(default, kind):
        message, hint = _misfit(default, kind, declared="type" in parameter)
        yield document.problem(place, message, clause=DEFAULT_TYPE, hint=hint)
    elif choices is not None and not any(_same(default, choice) for choice in choices):
        message = f"the default {default!r} is not among the choices"
        hint = "add it to them, or choose one of them"
        yield document.problem(place, message, clause=DEFAULT_CHOICE, hint=hint)


def _misfit(value: Any, kind: str, *, declared: bool) -> tuple[str, str]:
    if not declared:
        message = f"{value!r} is no text, and a parameter without type takes text"
        return message, "add its type: integer, number or boolean; or quote the value"
    return f"{value!r} is not of type {kind}", "correct the value or the type"


def _same_variable(
    document: YamlDocument, here: Place, declared: Mapping[str, Any]
) -> Iterator[Problem]:
    """Names that become the same ``RRA_PARAM_`` variable: each but the first in byte order."""
    first: dict[str, str] = {}
    for name in sorted(declared):
        variable = "RRA_PARAM_" + name.upper().replace("-", "_")
        if variable in first:
            message = f"{name} and {first[variable]} are both passed as {variable}"
            place = (*here, "parameters", name)
            yield document.problem(place, message, clause=VARIABLES, hint="rename one of them")
        first.setdefault(variable, name)


def _given(
    document: YamlDocument,
    place: Place,
    declared: Mapping[str, Any],
    values: list[tuple[Place, Any]],
) -> Iterator[Problem]:
    """Check values that are given for the parameter whose name ends a place."""
    name = str(place[-1])
    if name not in declared:
        yield undefined(document, declared, place, "parameter", DECLARED, name=name)
        return
    kind, choices = declared[name].get("type", "string"), declared[name].get("choices")
    for where, value in values:
        hint = "correct the value, or the declaration of the parameter"
        if not fits(value, kind):
            message = f"{value!r} is not of type {kind}, which parameter {name} has"
            yield document.problem(where, message, clause=VALUES, hint=hint)
        elif choices is not None and not any(_same(value, choice) for choice in choices):
            message = f"{value!r} is none of the choices of parameter {name}"
            yield document.problem(where, message, clause=VALUES, hint=hint)


def _seed(
    document: YamlDocument, here: Place, launcher: Mapping[str, Any], declared: Mapping[str, Any]
) -> Iterator[Problem]:
    name = launcher.get("seeds", {}).get("parameter")
    place = (*here, "seeds", "parameter")
    if name is None:
        return
    if name not in declared:
        yield undefined(document, declared, place, "parameter", DECLARED, name=name)
    elif declared[name].get("type", "string") != "integer":
        message = f"parameter {name} takes the seed and is not of type integer"
        hint = f"declare it so: {name}: {{type: integer}}"
        yield document.problem(place, message, clause=SEED_TYPE, hint=hint)
    if name in launcher.get("matrix", {}):
        message = f"parameter {name} takes the seed and is in the matrix too"
        hint = "give the seeds under seeds: values"
        place = (*here, "matrix", name)
        yield document.problem(place, message, clause=SEED_APART, hint=hint)
