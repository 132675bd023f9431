"""Reviews: one entry for each thing, each with what shows it, by somebody who says who it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.manifests import check_digit
from rra.artifact.semantics.verdicts import ends_after_start, entries, moments, once
from rra.errors import Problem

KEYS = {"claims": "outcome", "settings": "setting", "repairs": "repair", "guide": "command"}
"""What an entry of each list is about."""


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what a review breaks beyond its schema."""
    yield from moments(document, (("started",), ("ended",)), "review/times")
    yield from ends_after_start(document, "review/ends-after-start")
    yield from _reviewer(document)
    for section, key in KEYS.items():
        yield from once(document, (section,), key, "review/one-entry-each")
        for index, entry in enumerate(entries(document.data, (section,))):
            yield from _entry(document, (section, index), entry)


def _reviewer(document: YamlDocument) -> Iterator[Problem]:
    reviewer = document.data["reviewer"]
    named = [key for key in ("name", "orcid") if key in reviewer]
    if reviewer.get("anonymous") and named:
        message = f"the reviewer is anonymous and has a {named[0]}"
        clause, hint = "review/anonymous-has-no-name", f"leave {named[0]} out"
        yield document.problem(("reviewer", named[0]), message, clause=clause, hint=hint)
    orcid = reviewer.get("orcid")
    if orcid is not None and check_digit(orcid) != orcid[-1]:
        message = f"{orcid} is no ORCID iD: its last character would be {check_digit(orcid)}"
        clause, hint = "review/orcid", "compare it with the page of that person"
        yield document.problem(("reviewer", "orcid"), message, clause=clause, hint=hint)
    if not (reviewer.get("anonymous") or named or reviewer.get("program")):
        message = "nobody is named as the reviewer"
        clause, hint = "review/says-who", "name a person or a program, or say anonymous: true"
        yield document.problem(("reviewer",), message, clause=clause, hint=hint)


def _entry(
    document: YamlDocument, here: tuple[Key, ...], entry: Mapping[str, Any]
) -> Iterator[Problem]:
    if entry["verdict"] == "supported" and not entry.get("pointers"):
        message = "supported, and nothing is named that shows it"
        clause, hint = "review/supported-needs-a-pointer", "name a file, a place and what it says"
        yield document.problem(here, message, clause=clause, hint=hint)
    if entry["judged_by"] == "model" and "model" not in document.data["reviewer"]:
        message = "judged by a model that is not named"
        clause, hint = "review/names-the-model", "name the model under reviewer"
        yield document.problem((*here, "judged_by"), message, clause=clause, hint=hint)
    runs = (entry.get("before"), entry.get("after"))
    if "repair" in entry and entry["verdict"] == "supported" and runs != ("failed", "passed"):
        message = "supported without a failure before the repair and a pass after it"
        clause, hint = "review/repair-before-and-after", "run both, or say unsupported"
        yield document.problem((*here, "verdict"), message, clause=clause, hint=hint)
