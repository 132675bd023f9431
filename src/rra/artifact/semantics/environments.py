"""Environments: dates that exist, something to build from, variables that are free."""

from __future__ import annotations

import calendar
from collections.abc import Iterator, Mapping
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.ids import section
from rra.errors import Problem

DATE = "environment/as-of-is-a-date"
WHY = "environment/as-of-why-has-its-date"
BUILT_FROM = "environment/says-what-it-is-built-from"
NO_ACCELERATOR = "environment/no-accelerator-has-no-facts"
RESERVED = "launcher/variables-are-free"

FACTS = ("compute_capability", "memory", "min_driver", "runtime")
"""What is said of an accelerator."""

BUILT: Mapping[str, tuple[str, ...]] = {
    "pylock": ("lock",),
    "conda": ("lock",),
    "renv": ("lock",),
    "container": ("base_image", "lock"),
}
"""What an environment of a kind is built from: one of these keys."""

_PREFIX = "RRA_"


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what the environments of a manifest break."""
    for name, environment in section(document.data, "environments").items():
        here: tuple[Key, ...] = ("environments", name)
        yield from _date(document, here, environment)
        yield from _built_from(document, here, environment)
        accelerator = environment.get("accelerator", {})
        facts = [key for key in FACTS if key in accelerator]
        if accelerator.get("kind") == "none" and facts:
            message = f"there is no accelerator, and yet its {facts[0]} is given"
            hint = "name the kind, or take the others out"
            place = (*here, "accelerator")
            yield document.problem(place, message, clause=NO_ACCELERATOR, hint=hint)
        yield from reserved_variables(document, here, environment)


def reserved_variables(
    document: YamlDocument, here: tuple[Key, ...], holder: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield a problem for each variable whose name the launcher contract keeps for itself."""
    for variable in holder.get("variables", {}):
        if variable.startswith(_PREFIX):
            yield reserved(document, (*here, "variables", variable), variable)


def reserved(document: YamlDocument, place: tuple[Key, ...], variable: str) -> Problem:
    """Return the problem of a variable that a launcher is given by whoever runs it."""
    message = f"{variable} is set by whoever runs the launcher: names with {_PREFIX} are kept"
    hint = "choose another name, or declare a parameter"
    return document.problem(place, message, clause=RESERVED, hint=hint)


def _date(
    document: YamlDocument, here: tuple[Key, ...], environment: Mapping[str, Any]
) -> Iterator[Problem]:
    day = environment.get("as_of")
    if day is not None and not _exists(day):
        message = f"there is no day {day}"
        hint = "write a day of the calendar as YYYY-MM-DD"
        yield document.problem((*here, "as_of"), message, clause=DATE, hint=hint)
    if day is None and "as_of_why" in environment:
        message = "as_of_why says why a date that is not given"
        hint = "give as_of, or take as_of_why out"
        yield document.problem((*here, "as_of_why"), message, clause=WHY, hint=hint)


def _exists(day: str) -> bool:
    year, month, number = (int(part) for part in day.split("-"))
    return year > 0 and number <= calendar.monthrange(year, month)[1]


def _built_from(
    document: YamlDocument, here: tuple[Key, ...], environment: Mapping[str, Any]
) -> Iterator[Problem]:
    kind = environment["kind"]
    wanted = BUILT.get(kind, ())
    if wanted and not any(key in environment for key in wanted):
        message = f"an environment of kind {kind} names {' or '.join(wanted)}"
        hint = f"add lock: environment/{here[-1]}/…"
        yield document.problem(here, message, clause=BUILT_FROM, hint=hint)
