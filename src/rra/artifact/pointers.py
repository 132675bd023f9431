"""Do the places that a review names exist, and do they hold what it says they hold?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rra._base.files import safe_join, sha256_file
from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.ids import value_at
from rra.artifact.semantics.review import KEYS
from rra.artifact.semantics.verdicts import entries
from rra.errors import Problem, RraError

CLAUSE = "review/pointers-resolve"
_HINT = "name the place where the value stands"


def check_pointers(review: YamlDocument, root: Path) -> Iterator[Problem]:
    """Yield a problem for each pointer of a review that does not lead to what it says.

    Args:
        review: A review that its schema accepts.
        root: Folder of the artifact that is reviewed.
    """
    for section in KEYS:
        for index, entry in enumerate(entries(review.data, (section,))):
            for number, pointer in enumerate(entries(entry, ("pointers",))):
                why = _fault(root, pointer)
                if why:
                    place = (section, index, "pointers", number)
                    yield review.problem(place, why, clause=CLAUSE, hint=_HINT)


def _fault(root: Path, pointer: dict[str, Any]) -> str:
    """Say why a pointer does not resolve; empty when it does."""
    name = pointer["file"]
    try:
        path = safe_join(root, name)
        if not path.is_file():
            return f"there is no file {name}"
        if "sha256" in pointer and sha256_file(path) != pointer["sha256"]:
            return f"{name} is another file than the review names"
        text = path.read_text("utf-8", errors="replace")
    except (RraError, OSError) as error:
        return f"{name} cannot be read: {error}"
    if "line" in pointer:
        lines = text.splitlines()
        if pointer["line"] > len(lines):
            return f"{name} has {len(lines)} lines, and line {pointer['line']} is named"
        text = lines[pointer["line"] - 1]
    if "pointer" in pointer:
        return _json_fault(name, text, pointer)
    found = pointer["value"] in text
    return "" if found else f"{pointer['value']!r} does not stand at that place of {name}"


def _json_fault(name: str, text: str, pointer: dict[str, Any]) -> str:
    """Compare with the value at a JSON pointer; numbers keep their text."""
    try:
        data = json.loads(text, parse_float=str, parse_int=str)
    except ValueError as error:
        return f"{name} is not JSON: {error}"
    tokens = pointer["pointer"].split("/")[1:]
    keys = [token.replace("~1", "/").replace("~0", "~") for token in tokens]
    value = value_at(data, _typed(data, keys))
    if value is None:
        return f"{name} has nothing at {pointer['pointer']}"
    shown = value if isinstance(value, str) else json.dumps(value)
    same = shown == pointer["value"]
    return "" if same else f"{name} has {shown!r} at {pointer['pointer']}, not {pointer['value']!r}"


def _typed(data: Any, keys: list[str]) -> list[Key]:
    """Take steps into lists as numbers."""
    typed: list[Key] = []
    for key in keys:
        step: Key = int(key) if isinstance(data, list) and key.isdecimal() else key
        typed.append(step)
        data = value_at(data, [step])
    return typed
