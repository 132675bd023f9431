"""Audits: verdicts follow from findings, and evidence levels from what was done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.verdicts import check_findings, ends_after_start, entries, moments, once
from rra.errors import Problem
from rra.model.verdicts import SUPPORTED_VERDICTS, triggers, worst_verdict

RECORDED = frozenset({"E3", "E4", "E5"})
"""Evidence levels that rest on a record of a run."""

RERUN = frozenset({"E4", "E5"})
"""Evidence levels that rest on the auditor's own run."""


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what an audit breaks beyond its schema."""
    yield from once(document, ("values",), "outcome", "audit/one-verdict-each")
    yield from moments(document, _moments(document.data), "audit/times")
    yield from ends_after_start(document, "audit/ends-after-start")
    for index, value in enumerate(entries(document.data, ("values",))):
        here = ("values", index)
        yield from _verdict(document, here, value)
        yield from _level(document, here, value)
        yield from check_trace(document, here, value, "audit/trace-is-of-the-outcome")


def _moments(data: Mapping[str, Any]) -> Iterator[tuple[Key, ...]]:
    yield from (("started",), ("ended",))
    yield from (("values", i, "trace", "started") for i in range(len(data["values"])))


def _verdict(
    document: YamlDocument, here: tuple[Key, ...], value: Mapping[str, Any]
) -> Iterator[Problem]:
    findings = value.get("findings", [])
    triggered = {
        finding["code"]
        for finding in findings
        if triggers(finding["code"], finding["status"], material=finding["material"])
    }
    if value.get("documented"):
        triggered.add("CONTRADICTED")
    expected, said = worst_verdict(triggered), value["verdict"]
    if said != expected and not (said in SUPPORTED_VERDICTS and expected in SUPPORTED_VERDICTS):
        message = f"the verdict is {said}, and the findings give {expected}"
        hint = "the worst word that a finding triggers is the verdict"
        clause = "audit/verdict-is-the-worst"
        yield document.problem((*here, "verdict"), message, clause=clause, hint=hint)
    yield from check_findings(document, here, findings)


def _level(
    document: YamlDocument, here: tuple[Key, ...], value: Mapping[str, Any]
) -> Iterator[Problem]:
    level = value["evidence_level"]
    place = (*here, "evidence_level")
    if level in RERUN and not document.data["rerun"]:
        message = f"{level} without a run by the auditor"
        hint = "E3 is the highest level that can be had without running"
        yield document.problem(place, message, clause="audit/own-run-for-e4", hint=hint)
    elif level in RECORDED and "record" not in value["trace"]:
        message = f"{level} without the record of a run in the trace"
        hint = "name the record, or give E2"
        yield document.problem(place, message, clause="audit/record-for-e3", hint=hint)


def check_trace(
    document: YamlDocument, here: tuple[Key, ...], value: Mapping[str, Any], clause: str
) -> Iterator[Problem]:
    """Yield a problem when the trace of an outcome speaks of another value.

    Args:
        document: The document.
        here: Where the outcome is.
        value: The outcome.
        clause: The clause that is broken.
    """
    for key in ("outcome", "reported"):
        if value["trace"][key] != value[key]:
            message = f"the trace is of {value['trace'][key]!r}, not of {value[key]!r}"
            hint = "give the trace of this outcome"
            yield document.problem((*here, "trace", key), message, clause=clause, hint=hint)
