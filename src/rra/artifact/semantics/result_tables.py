"""What a results table has to keep to that the manifest alone decides.

Which rows, columns and cells there are is often known from the reported table only; what hangs on
them is checked when the table is expanded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.ids import need, section
from rra.artifact.semantics.outcomes import Plain, bounds_faults
from rra.artifact.semantics.selectors import regex_faults
from rra.errors import Problem
from rra.model.selector import LOCATORS
from rra.values.reported_tables import KINDS

LAUNCHER = "table/launcher-is-defined"
PLACE = "table/selector-names-no-place"
ONE_LOCATOR = "table/one-locator"
KIND = "table/reported-kind"
NEW = "table/ids-are-new"
DIFFER = "table/ids-differ"
LENGTH = "table/id-length"
SIZE = "table/size"

MAX_ID = 63
"""Longest id of an outcome."""

MAX_CELLS = 20_000
"""Most cells of a table, those that are skipped or empty included."""


def check_table(
    document: YamlDocument, experiment: str, launchers: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield what the table of an experiment breaks, if it has one."""
    here: tuple[Key, ...] = ("experiments", experiment, "table")
    table = section(document.data, *here)
    if not table:
        return
    for path, part in _parts(table, here):
        yield from need(document, launchers, (*path, "launcher"), "launcher", LAUNCHER)
        for fault in bounds_faults(part):
            place = (*path, *fault.path)
            yield document.problem(place, fault.message, clause=fault.clause, hint=fault.hint)
        yield from _selector(document, path, part.get("selector", {}))
    name = table["reported"].partition("#")[0]
    if PurePosixPath(name).suffix.lower().removeprefix(".") not in KINDS:
        message = f"{name} is not a file that a table is read from"
        hint = f"use one of {', '.join(KINDS)}"
        yield document.problem((*here, "reported"), message, clause=KIND, hint=hint)
    yield from _ids(document, here, table, section(document.data, *here[:-1], "outcomes"))


def _parts(table: Plain, here: tuple[Key, ...]) -> Iterator[tuple[tuple[Key, ...], Plain]]:
    """Yield the table, and each row, column and cell that is declared by a map."""
    yield here, table
    for group in ("rows", "columns", "cells"):
        declared = table.get(group)
        for key, part in declared.items() if isinstance(declared, dict) else ():
            if isinstance(part, dict):
                yield (*here, group, key), part


def _selector(document: YamlDocument, path: tuple[Key, ...], selector: Plain) -> Iterator[Problem]:
    place: tuple[Key, ...] = (*path, "selector")
    for key in ("launcher", "file"):
        if key in selector:
            message = f"{key} stands beside the selector of a table, not in it"
            hint = "move it one level up"
            yield document.problem((*place, key), message, clause=PLACE, hint=hint)
    given = [name for name in LOCATORS if name in selector]
    if len(given) > 1:
        message = f"the selector has several locators: {', '.join(given)}"
        yield document.problem(place, message, clause=ONE_LOCATOR, hint="keep one of them")
    for fault in regex_faults(selector, names=True):
        inner = (*place, *fault.path)
        yield document.problem(inner, fault.message, clause=fault.clause, hint=fault.hint)


def _ids(
    document: YamlDocument, here: tuple[Key, ...], table: Plain, outcomes: Mapping[str, Any]
) -> Iterator[Problem]:
    """Check ids that the manifest gives in full: of cells, and where rows and columns are maps."""
    for key in table.get("cells", {}):
        if key in outcomes:
            yield _taken(document, here, key)
    rows, columns = table.get("rows", ()), table.get("columns", ())
    if len(rows) * len(columns) > MAX_CELLS:
        message = f"the table has {len(rows) * len(columns)} cells, more than {MAX_CELLS}"
        hint = "declare fewer rows or columns"
        yield document.problem(here, message, clause=SIZE, hint=hint)
        return
    if not isinstance(rows, dict) or not isinstance(columns, dict):
        return
    seen: dict[str, tuple[str, str]] = {}
    for row in sorted(rows):
        for column in sorted(columns):
            key = f"{row}-{column}"
            place = (*here, "rows", row)
            if len(key) > MAX_ID:
                message = f"{key} is longer than {MAX_ID} characters"
                yield document.problem(place, message, clause=LENGTH, hint="give shorter ids")
            elif key in seen:
                other = " and ".join(seen[key])
                message = f"row {row} with column {column} and {other} both give the id {key}"
                hint = "give rows or columns other ids"
                yield document.problem(place, message, clause=DIFFER, hint=hint)
            elif key in outcomes and key not in table.get("cells", {}):
                yield _taken(document, here, key)
            seen.setdefault(key, (f"row {row}", f"column {column}"))


def _taken(document: YamlDocument, here: tuple[Key, ...], key: str) -> Problem:
    message = f"the outcome {key} is declared here and by a cell of the table"
    hint = "rename it, or give row and column another id"
    return document.problem((*here[:-1], "outcomes", key), message, clause=NEW, hint=hint)
