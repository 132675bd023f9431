"""Versions of the format: which this implementation knows, and what newer ones mean to it."""

from __future__ import annotations

import re
from typing import Any

from rra._base.yaml import YamlDocument
from rra.errors import Problem

FORMAT = "1.0"
"""The version of the format that is written; every ``1.x`` is read."""

NEWER_MINOR = "versioning/newer-minor"
NEWER_MAJOR = "versioning/newer-major"
_VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")


def version_key(version: str) -> tuple[int, int]:
    """Return major and minor of a version, to compare it by.

    Raises:
        ValueError: The text is no version.
    """
    found = _VERSION.fullmatch(version)
    if found is None:
        message = f"{version!r} is no version of the format"
        raise ValueError(message)
    return int(found[1]), int(found[2])


def version_problem(document: YamlDocument) -> Problem | None:
    """Say that a document follows a version that is not known here: a warning, or a refusal.

    A newer minor version only adds keys, so its documents can be read: with a warning. What a
    newer major version means cannot be known.
    """
    data: Any = document.data
    said = data.get("rra") if isinstance(data, dict) else None
    if not isinstance(said, str) or not _VERSION.fullmatch(said):
        return None
    major, minor = version_key(said)
    known_major, known_minor = version_key(FORMAT)
    if major > known_major:
        message = f"the document follows version {said} of the format; {known_major}.x is read"
        hint = f"use a version of rra that reads version {major} of the format"
        return document.problem(["rra"], message, clause=NEWER_MAJOR, hint=hint)
    if (major, minor) <= (known_major, known_minor):
        return None
    message = f"the document follows version {said} of the format; {FORMAT} is known"
    hint = "what that version added is kept and not acted on; a newer rra knows more"
    return document.problem(["rra"], message, clause=NEWER_MINOR, hint=hint, severity="warning")
