"""What audits, reproductions and reviews have in common: order of times, one verdict each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.ids import value_at
from rra.errors import Problem
from rra.model.verdicts import VERDICT_ORDER

_SECONDS = len("2026-11-29T18:00:00")


def once(document: YamlDocument, path: Sequence[Key], key: str, clause: str) -> Iterator[Problem]:
    """Yield a problem for each entry of a list that is about the same thing as an earlier one.

    Args:
        document: The document.
        path: Where the list is.
        key: What an entry is about.
        clause: The clause that is broken.
    """
    seen: set[object] = set()
    for index, entry in enumerate(entries(document.data, path)):
        name = entry.get(key)
        if name in seen:
            message = f"{key} {name} is there twice"
            hint = "keep one of them"
            yield document.problem((*path, index, key), message, clause=clause, hint=hint)
        seen.add(name)


def ends_after_start(document: YamlDocument, clause: str) -> Iterator[Problem]:
    """Yield a problem when a document says that it ended before it started."""
    started, ended = document.data.get("started"), document.data.get("ended")
    if not (started and ended and _exists(started) and _exists(ended)):
        return
    if _moment(ended) < _moment(started):
        message = f"ended {ended}, before it started {started}"
        yield document.problem(("ended",), message, clause=clause, hint="correct the times")


def moments(
    document: YamlDocument, places: Iterable[Sequence[Key]], clause: str
) -> Iterator[Problem]:
    """Yield a problem for each moment that no calendar and no clock has.

    Args:
        document: The document.
        places: Where moments stand; nothing is there when the key is absent.
        clause: The clause that is broken.
    """
    for path in places:
        said = value_at(document.data, path)
        if said is not None and not _exists(said):
            message = f"{path[-1]} is {said}, a time that does not exist"
            hint = "write the day and the time of day in UTC"
            yield document.problem(tuple(path), message, clause=clause, hint=hint)


def _exists(text: str) -> bool:
    """Tell whether a moment is a day of the calendar and a time of day, without leap seconds."""
    try:
        dt.datetime.fromisoformat(text[:_SECONDS])
    except ValueError:
        return False
    return True


def _moment(text: str) -> tuple[str, str]:
    """Return what orders moments in UTC: seconds, then the digits of their fraction."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    return whole, fraction.rstrip("0")


def invalidating(findings: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the findings that alone keep an outcome from standing: material and refuted."""
    for finding in findings:
        if finding["material"] and finding["status"] == "refuted":
            yield finding


def check_findings(
    document: YamlDocument, path: Sequence[Key], findings: Sequence[Mapping[str, Any]]
) -> Iterator[Problem]:
    """Yield a problem for each finding that refutes an outcome without a word of the table."""
    for index, finding in enumerate(findings):
        if finding not in list(invalidating([finding])) or finding["code"] in VERDICT_ORDER:
            continue
        message = f"{finding['code']} refutes the outcome and is no verdict word"
        hint = f"use one of {', '.join(VERDICT_ORDER)}, or let it be immaterial"
        place = (*path, "findings", index, "code")
        yield document.problem(place, message, clause="audit/refuting-word", hint=hint)


def entries(data: Any, path: Sequence[Key]) -> list[dict[str, Any]]:
    """Return the objects of the list at a path, empty when there is none."""
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
