"""What `references.yaml` has to keep to beyond its schema (spec: references)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rra._base.yaml import YamlDocument
from rra.artifact.semantics.ids import section
from rra.errors import Problem
from rra.values.units import WHITE_SPACE

RECOMMENDED = 5
"""Scores of an outcome from which a spread can be told from chance."""

_ENDLESS = re.compile(r"[+-]?\.?(?:nan|inf|infinity)", re.IGNORECASE | re.ASCII)


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield scores that are no finite value, of two kinds, or of one run counted twice."""
    for name, reference in section(document.data).items():
        scores = reference["scores"]
        yield from _values(document, name, scores)
        yield from _records(document, name, scores)
        if len(scores) < RECOMMENDED:
            message = f"{name} has {len(scores)} scores; five tell more of the spread"
            hint = "run the launcher again and add what it gives"
            clause = "references/five-scores"
            yield document.problem(
                (name, "scores"), message, clause=clause, hint=hint, severity="warning"
            )


def _values(document: YamlDocument, name: str, scores: list[dict[str, Any]]) -> Iterator[Problem]:
    first = scores[0]["value"]
    for index, score in enumerate(scores):
        value = score["value"]
        place = (name, "scores", index, "value")
        if isinstance(value, list) != isinstance(first, list):
            message = "this score is a list and the first one is not, or the other way round"
            hint = "give all scores of an outcome in one form"
            yield document.problem(place, message, clause="references/one-kind", hint=hint)
        elif isinstance(value, str) and _ENDLESS.fullmatch(value.strip(WHITE_SPACE)):
            message = f"{value} is not a number that can be compared"
            hint = "leave the run out, or say in the guide that it fails"
            yield document.problem(place, message, clause="references/finite", hint=hint)


def _records(document: YamlDocument, name: str, scores: list[dict[str, Any]]) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, score in enumerate(scores):
        record = score.get("record")
        if record is not None and seen.setdefault(record, index) != index:
            message = f"scores {seen[record] + 1} and {index + 1} are of the same run"
            hint = "count each run once"
            place = (name, "scores", index, "record")
            yield document.problem(place, message, clause="references/run-once", hint=hint)
