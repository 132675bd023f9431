"""Versions of the format: which this implementation knows, and what newer ones mean to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.errors import Problem

FORMAT = "1.0"
"""The version of the format that is written; every ``1.x`` is read."""

NEWER_MINOR = "versioning/newer-minor"
UNKNOWN_WORDS = "versioning/unknown-words"
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


def is_newer_minor(data: Any) -> bool:
    """Tell whether a document follows a later minor version of the major version that is known."""
    said = data.get("rra") if isinstance(data, dict) else None
    if not isinstance(said, str) or not _VERSION.fullmatch(said):
        return False
    (major, minor), (known_major, known_minor) = version_key(said), version_key(FORMAT)
    return major == known_major and minor > known_minor


def unknown_word(document: YamlDocument, path: Sequence[Key]) -> Problem:
    """Warn about a word of an open list that a later minor version may have added."""
    name = str(path[-1]) if path else "the document"
    message = f"{name} has a word that version {FORMAT} of the format does not know"
    hint = "what uses it cannot be run or compared here; a newer rra knows more"
    return document.problem(path, message, clause=UNKNOWN_WORDS, hint=hint, severity="warning")
