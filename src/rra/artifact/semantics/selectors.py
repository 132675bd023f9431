"""What a selector has to keep to beyond its schema, and the part of one in a results table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from rra.artifact.semantics.outcomes import Fault, Plain
from rra.errors import SelectError
from rra.values.dialect import GROUP, value_groups
from rra.values.units import convert

DIALECT = "selector/regex-dialect"
VALUE_GROUP = "selector/regex-value-group"
UNIT = "selector/unit-converts"
SEEDS = "selector/seeds-need-seeds"
PARAMETERS = "selector/parameters-are-declared"
RUNS = "selector/aggregate-fits-runs"
NUMBERS = "selector/numbers-only"

_PLACEHOLDER = re.compile(r"\{(?:row|column)\}")
_SPREADS = ("sd", "se")


def selector_faults(outcome: Plain, launchers: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what the selector of an outcome breaks; paths start at the outcome.

    That its launcher is defined is checked where ids are.

    Args:
        outcome: A plain outcome with a selector.
        launchers: The launchers of the manifest by id.
    """
    selector = outcome["selector"]
    for fault in regex_faults(selector):
        yield _below("selector", fault)
    yield from _unit(outcome, selector)
    yield from _numbers_only(outcome["type"], selector)
    launcher = launchers.get(selector["launcher"])
    if launcher is not None:
        yield from _runs(selector, launcher)


def _below(key: str, fault: Fault) -> Fault:
    return Fault((key, *fault.path), fault.clause, fault.message, fault.hint)


def regex_faults(selector: Plain, *, names: bool = False) -> Iterator[Fault]:
    """Yield what the patterns of a selector break.

    Args:
        selector: A plain selector, or the part of one in a table.
        names: Whether ``{row}`` and ``{column}`` stand for names.
    """
    cell = selector.get("cell")
    places: list[tuple[tuple[str, ...], Any]] = [(("regex",), selector.get("regex"))]
    if isinstance(cell, dict):
        places.append((("cell", "regex"), cell.get("regex")))
    for path, pattern in places:
        if pattern is None:
            continue
        try:
            count = value_groups(_PLACEHOLDER.sub("x", pattern) if names else pattern)
        except SelectError as error:
            yield Fault(path, DIALECT, error.message, error.hint)
            continue
        if count != 1:
            message = f"{pattern!r} has no group named {GROUP!r}"
            hint = "put the value into a named group: accuracy: (?P<value>[0-9.]+)"
            yield Fault(path, VALUE_GROUP, message, hint)


def _unit(outcome: Plain, selector: Plain) -> Iterator[Fault]:
    unit = selector.get("unit")
    if unit is None:
        return
    if outcome["type"] != "number":
        message = f"a {outcome['type']} has no unit"
        yield Fault(("selector", "unit"), NUMBERS, message, "take it out, or correct `type`")
        return
    try:
        convert(Decimal(1), unit, outcome.get("unit"))
    except SelectError as error:
        yield Fault(("selector", "unit"), UNIT, error.message, error.hint)


def _numbers_only(kind: str, selector: Plain) -> Iterator[Fault]:
    if kind == "number":
        return
    wrong = [key for key, usual in (("aggregate", "single"),) if selector.get(key, usual) != usual]
    wrong += ["pick"] if selector.get("pick") in ("max", "min") else []
    for key in wrong:
        message = f"`{key}: {selector[key]}` is for numbers, and this is a {kind}"
        yield Fault(("selector", key), NUMBERS, message, "take it out, or correct `type`")


def _runs(selector: Plain, launcher: Plain) -> Iterator[Fault]:
    runs = selector.get("runs")
    asked = runs if isinstance(runs, dict) else {}
    taken = launcher.get("seeds")
    if "seeds" in asked and taken is None:
        message = f"the selector asks for seeds, and launcher {selector['launcher']} takes none"
        hint = "say in the launcher how it takes its seed, or leave the seeds out"
        yield Fault(("selector", "runs", "seeds"), SEEDS, message, hint)
        return
    known = launcher.get("parameters", {})
    for name in asked.get("parameters", {}):
        if name not in known:
            message = f"launcher {selector['launcher']} has no parameter {name!r}"
            hint = f"it has: {', '.join(known) or 'none'}"
            yield Fault(("selector", "runs", "parameters", name), PARAMETERS, message, hint)
    yield from _aggregate(selector, _count(runs, taken))


def _count(runs: Any, taken: Any) -> int:
    """Return how many runs are read: the seeds named, or for `all` those of the launcher."""
    if isinstance(runs, dict):
        return len(runs.get("seeds", ())) or 1
    return len((taken or {}).get("values", ())) or 1 if runs == "all" else 1


def _aggregate(selector: Plain, count: int) -> Iterator[Fault]:
    how = selector.get("aggregate", "single")
    place = ("selector", "aggregate") if "aggregate" in selector else ("selector", "runs")
    if how == "single" and count > 1:
        message = f"{count} runs are read, and nothing says how they become one value"
        hint = "say `aggregate: mean` (median, min, max, sd, se), or name one run"
        yield Fault(place, RUNS, message, hint)
    if how in _SPREADS and count < 2:
        message = f"`aggregate: {how}` needs two runs or more, and one is read"
        yield Fault(place, RUNS, message, "say `runs: all`, or name the seeds")
