"""Categories and lists: equal after case folding, or not equal."""

from __future__ import annotations

from collections.abc import Sequence

from rra.errors import SelectError
from rra.model import Reference, ReportedValue
from rra.values.selectors import Value
from rra.values.success.judgement import Assessment, listed
from rra.values.success.repeatability import MINIMUM_REFERENCES
from rra.values.units import normalized

_Key = str | tuple[str, ...]


def judge_discrete(
    outcome: ReportedValue, fresh: Sequence[Value], references: Reference | None
) -> tuple[Assessment, Assessment]:
    """Answer both questions for a category or a list.

    Text is compared after Unicode normalisation, trimming and case folding. A list is compared in
    order, or as a set when the outcome says `order: set`; a reported list written as one text is
    split at commas.

    Returns:
        Agreement, repeatability.

    Raises:
        SelectError: A value has not the type of the outcome.
    """
    keys = [_key(outcome, value) for value in fresh]
    reported = _key(outcome, _declared(outcome, outcome.reported))
    between = "; " if outcome.type == "list" else ", "
    shown = between.join(dict.fromkeys(_shown(value) for value in fresh))
    if all(key == reported for key in keys):
        agreement = Assessment("pass", f"{shown} is the reported value", "exact")
    else:
        claimed = _shown(_declared(outcome, outcome.reported))
        agreement = Assessment("fail", f"{shown} is not the reported {claimed}", "exact")
    return agreement, _repeats(outcome, keys, shown, references)


def _repeats(
    outcome: ReportedValue, keys: list[_Key], shown: str, references: Reference | None
) -> Assessment:
    if references is None:
        return Assessment("not_assessed", "there are no references")
    known = [_key(outcome, _declared(outcome, score.value)) for score in references.scores]
    count = len(known)
    if count < MINIMUM_REFERENCES:
        return Assessment("not_assessed", _too_few(count))
    if any(key not in known for key in keys):
        return Assessment("fail", f"{shown} is none of the {count} reference values", "exact")
    if len(set(known)) > 1:
        reason = f"{shown} is one of several values that the {count} references have"
        return Assessment("inconclusive", reason, "exact")
    return Assessment("pass", f"{shown} is what all {count} references have", "exact")


def _too_few(count: int) -> str:
    return f"{count} reference values are too few; {MINIMUM_REFERENCES} are needed"


def _declared(outcome: ReportedValue, value: str | list[str]) -> Value:
    if outcome.type == "list":
        items = value.split(",") if isinstance(value, str) else value
        return tuple(item.strip() for item in items)
    return value if isinstance(value, str) else tuple(value)


def _key(outcome: ReportedValue, value: Value) -> _Key:
    if outcome.type == "list" and isinstance(value, tuple):
        items = [normalized(item) for item in value]
        return tuple(sorted(set(items))) if outcome.order == "set" else tuple(items)
    if outcome.type == "category" and isinstance(value, str):
        return normalized(value)
    raise SelectError(f"{value!r} is not a {outcome.type}")


def _shown(value: Value) -> str:
    if isinstance(value, tuple):
        return listed(value)
    return repr(value) if isinstance(value, str) else str(value)
