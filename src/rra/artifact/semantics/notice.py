"""Notices: each kind with what belongs to it, and days that exist in their order."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from rra._base.yaml import YamlDocument
from rra.artifact.semantics.manifests import check_digit
from rra.artifact.semantics.verdicts import moments
from rra.errors import Problem

_DAY = len("2026-11-29")


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what a notice breaks beyond its schema."""
    wrong = list(moments(document, (("issued",),), "notice/times"))
    yield from wrong
    orcid = document.data.get("issuer", {}).get("orcid")
    if orcid is not None and check_digit(orcid) != orcid[-1]:
        message = f"{orcid} is no ORCID iD: its last character would be {check_digit(orcid)}"
        clause, hint = "notice/orcid", "compare it with the page of that person"
        yield document.problem(("issuer", "orcid"), message, clause=clause, hint=hint)
    yield from _successor(document)
    if "until" in document.data:
        yield from _until(document, issued_exists=not wrong)


def _successor(document: YamlDocument) -> Iterator[Problem]:
    kind, successor = document.data["kind"], document.data.get("superseded_by")
    if kind == "superseded" and successor is None:
        message = "superseded, and nothing is named that takes its place"
        clause, hint = "notice/successor-is-named", "give superseded_by with a reference"
        yield document.problem(("kind",), message, clause=clause, hint=hint)
    if successor is None:
        return
    if kind != "superseded":
        message = f"a notice of the kind {kind} names a successor"
        clause, hint = "notice/successor-of-superseded", "say kind: superseded, or leave it out"
        yield document.problem(("superseded_by",), message, clause=clause, hint=hint)
    elif "bundle" in successor and successor["bundle"] == document.data.get("bundle"):
        message = "the bundle that takes its place is the bundle itself"
        clause, hint = "notice/successor-is-another", "give the digest of the newer bundle"
        place = ("superseded_by", "bundle")
        yield document.problem(place, message, clause=clause, hint=hint)


def _until(document: YamlDocument, *, issued_exists: bool) -> Iterator[Problem]:
    kind, until, issued = (document.data[key] for key in ("kind", "until", "issued"))
    if kind != "embargo":
        message = f"a notice of the kind {kind} says until when"
        clause, hint = "notice/until-of-an-embargo", "say kind: embargo, or leave until out"
    elif not _is_day(until):
        message = f"there is no day {until}"
        clause, hint = "notice/until-is-a-day", "write a day of the calendar as YYYY-MM-DD"
    elif issued_exists and until < issued[:_DAY]:
        message = f"the embargo ended {until}, before the notice was issued {issued}"
        clause, hint = "notice/ends-after-issue", "correct the days"
    else:
        return
    yield document.problem(("until",), message, clause=clause, hint=hint)


def _is_day(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True
