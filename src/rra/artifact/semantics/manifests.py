"""The top level of a manifest: people, licence, and where the code is."""

from __future__ import annotations

from collections.abc import Iterator

from rra._base.yaml import YamlDocument
from rra.artifact.semantics.ids import section
from rra.artifact.semantics.paths import parts
from rra.errors import Problem

ORCID = "manifest/orcid-check-digit"
LICENSE = "manifest/license-parentheses"
CODE_ROOT = "manifest/code-root-apart"
OTHERS = ("data", "environment", "evidence", "guide", "launchers", "outputs")
"""Folders of the other elements."""


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what the top level of a manifest breaks."""
    data = document.data
    for index, author in enumerate(data.get("authors", ())):
        orcid = author.get("orcid")
        if orcid is not None and check_digit(orcid) != orcid[-1]:
            message = f"{orcid} is no ORCID iD: its last character would be {check_digit(orcid)}"
            hint = "compare it with the page of that person"
            place = ("authors", index, "orcid")
            yield document.problem(place, message, clause=ORCID, hint=hint)
    if not _balanced(data["license"]):
        message = "the parentheses of license do not match"
        hint = "close each one that is opened"
        yield document.problem(("license",), message, clause=LICENSE, hint=hint)
    root = section(data, "code").get("root", "code")
    if parts(root)[:1] and parts(root)[0] in OTHERS:
        message = f"the code cannot lie in {parts(root)[0]}/, which belongs to another element"
        hint = "move it to code/, or write root: . when the repository is the artifact"
        yield document.problem(("code", "root"), message, clause=CODE_ROOT, hint=hint)


def check_digit(orcid: str) -> str:
    """Return the last character of an ORCID iD by its other digits (ISO 7064, MOD 11-2)."""
    total = 0
    for digit in orcid.replace("-", "")[:15]:
        total = (total + int(digit)) * 2
    rest = (12 - total % 11) % 11
    return "X" if rest == 10 else str(rest)


def _balanced(expression: str) -> bool:
    depth = 0
    for letter in expression:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return False
    return depth == 0
