"""What one outcome has to keep to beyond its schema: number, unit, bounds, deviation, selector.

The checks read plain data and know nothing of where an outcome comes from, so that they hold for
outcomes that are written down and for the cells of a results table alike.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from rra._base.yaml import Key
from rra.artifact.layout import BLANK_MARK
from rra.errors import SelectError
from rra.values.numbers import CONTEXT, ReportedNumber, rounds_to
from rra.values.reported import reported_number
from rra.values.units import normalized

Plain = Mapping[str, Any]

FITS_TYPE = "outcome/reported-fits-type"
IS_NUMBER = "outcome/reported-is-a-number"
KEYS = "outcome/keys-fit-type"
BOUNDS = "outcome/bounds-ordered"
WITHIN = "outcome/reported-within-bounds"
LOG = "outcome/log-is-positive"
OBSERVED = "outcome/observed-is-a-number"
DIFFERS = "outcome/deviation-differs"
PREDICTIONS = "outcome/predictions-come-from-a-launcher"
POSITIVE = "outcome/positive-is-for-binary"

NUMBERS_ONLY = (
    "unit",
    "reported_uncertainty",
    "direction",
    "bounds",
    "scale",
    "n_items",
    "meaningful_difference",
    "tolerance",
    "derived",
    "predictions",
)
"""Keys that say something of a number only."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """Something that an outcome breaks.

    Attributes:
        path: Keys inside the outcome that lead to the value at fault.
        clause: The clause that is broken.
        message: What is wrong.
        hint: What to do.
    """

    path: tuple[Key, ...]
    clause: str
    message: str
    hint: str = ""


def outcome_faults(outcome: Plain) -> Iterator[Fault]:
    """Yield what an outcome breaks by itself, its selector and operands aside.

    Args:
        outcome: A plain outcome that the schema accepts.
    """
    misfits = list(_keys(outcome))
    yield from misfits
    refused = {fault.path[0] for fault in misfits}
    outcome = {key: value for key, value in outcome.items() if key not in refused}
    yield from bounds_faults(outcome)
    yield from _predictions(outcome)
    reported, kind = outcome["reported"], outcome["type"]
    if isinstance(reported, list) != (kind == "list"):
        what = "one text" if kind != "list" else "a list of texts"
        message = f"what is reported of a {kind} is {what}"
        yield Fault(("reported",), FITS_TYPE, message, "correct `type` or `reported`")
        return
    if kind == "number":
        yield from _number(outcome)
    elif not is_blank(outcome):
        yield from _same_text(outcome)


def is_blank(outcome: Plain) -> bool:
    """Tell whether the reported value is still a blank of a template."""
    reported = outcome.get("reported")
    texts = reported if isinstance(reported, list) else [reported]
    return any(BLANK_MARK in str(text) for text in texts)


def _keys(outcome: Plain) -> Iterator[Fault]:
    kind = outcome["type"]
    wrong = [key for key in NUMBERS_ONLY if kind != "number" and key in outcome]
    wrong += ["order"] if kind != "list" and "order" in outcome else []
    for key in wrong:
        only = "a list" if key == "order" else "a number"
        message = f"`{key}` says something of {only} only, and this is a {kind}"
        yield Fault((key,), KEYS, message, "take it out, or correct `type`")


def bounds_faults(part: Plain) -> Iterator[Fault]:
    """Yield a fault when the bounds of an outcome or of a part of a table are not in order."""
    bounds = part.get("bounds")
    if bounds is not None and not bounds[0] < bounds[1]:
        message = f"the least possible value {bounds[0]} is not below the greatest {bounds[1]}"
        yield Fault(("bounds",), BOUNDS, message, "write the smaller one first")


def _number(outcome: Plain) -> Iterator[Fault]:
    reported = None
    try:
        reported = None if is_blank(outcome) else reported_number(outcome["reported"])
    except SelectError as error:
        yield Fault(("reported",), IS_NUMBER, error.message, error.hint)
    if reported is not None:
        yield from _within(outcome, reported)
    if outcome.get("scale") == "log" and reported is not None and reported.value <= 0:
        message = f"{reported} has no logarithm, and the scale is log"
        yield Fault(("scale",), LOG, message, "write scale: linear")
    yield from _observed(outcome, reported)


def _within(outcome: Plain, reported: ReportedNumber) -> Iterator[Fault]:
    """The paper may have rounded beyond a bound, by half a unit in its last place."""
    bounds = outcome.get("bounds")
    if bounds is None:
        return
    low, high = (Decimal(repr(bound)) for bound in bounds)
    if not low < high:
        return
    half = CONTEXT.divide(reported.quantum, Decimal(2))
    if reported.value + half < low or reported.value - half > high:
        message = f"the reported {reported} is outside the bounds {bounds[0]} and {bounds[1]}"
        yield Fault(("reported",), WITHIN, message, "correct the value, the bounds or the unit")


def _observed(outcome: Plain, reported: ReportedNumber | None) -> Iterator[Fault]:
    here = ("deviation", "observed")
    if "deviation" not in outcome or BLANK_MARK in outcome["deviation"]["observed"]:
        return
    try:
        observed = reported_number(outcome["deviation"]["observed"])
    except SelectError as error:
        yield Fault(here, OBSERVED, error.message, error.hint)
        return
    if reported is not None and rounds_to(observed.value, reported):
        shown = observed.value.quantize(reported.quantum, ROUND_HALF_UP, CONTEXT)
        message = f"the observed {observed} is {shown} at the decimals of the reported {reported}"
        yield Fault(here, DIFFERS, message, "that is no deviation; take it out")


def _same_text(outcome: Plain) -> Iterator[Fault]:
    deviation = outcome.get("deviation")
    if deviation is None:
        return
    if _folded(outcome, outcome["reported"]) == _folded(outcome, deviation["observed"]):
        message = f"the observed {deviation['observed']!r} is what is reported"
        hint = "that is no deviation; take it out"
        yield Fault(("deviation", "observed"), DIFFERS, message, hint)


def _folded(outcome: Plain, value: str | list[str]) -> list[str]:
    """Return categories and the items of lists as they are compared."""
    if outcome["type"] == "list":
        items = value.split(",") if isinstance(value, str) else value
    else:
        items = [str(value)]
    folded = [normalized(item) for item in items]
    return sorted(set(folded)) if outcome.get("order") == "set" else folded


def _predictions(outcome: Plain) -> Iterator[Fault]:
    predictions = outcome.get("predictions")
    if predictions is None:
        return
    if "selector" not in outcome:
        message = "predictions are a file of the selector's launcher, and there is no selector"
        yield Fault(("predictions",), PREDICTIONS, message, "give them to the operands")
    if "positive" in predictions and predictions.get("averaging") != "binary":
        message = "`positive` names a class for `averaging: binary` only"
        yield Fault(("predictions", "positive"), POSITIVE, message, "take it out")
