"""Ids that a document uses have to be defined in it."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.errors import Problem

_SEARCHED = 200
_LISTED = 12


def need(
    document: YamlDocument, known: Collection[str], path: Sequence[Key], what: str, clause: str
) -> Iterator[Problem]:
    """Yield a problem when the id at a path is none of those that are known.

    Args:
        document: The document.
        known: Ids that are defined.
        path: Where the id is used; nothing is there when the key is absent.
        what: What the ids name, in one word.
        clause: The clause that is broken.
    """
    name = value_at(document.data, path)
    if name is not None and name not in known:
        yield undefined(document, known, path, what, clause, name=str(name))


def undefined(
    document: YamlDocument,
    known: Collection[str],
    path: Sequence[Key],
    what: str,
    clause: str,
    *,
    name: str,
) -> Problem:
    """Return the problem of an id that is used and not defined.

    Args:
        document: The document.
        known: Ids that are defined.
        path: Where the id is used.
        what: What the ids name, in one word.
        clause: The clause that is broken.
        name: The id.
    """
    names = list(itertools.islice(known, _SEARCHED))
    near = difflib.get_close_matches(name, names, n=1)
    listed = ", ".join(names[:_LISTED]) + (", …" if len(known) > _LISTED else "")
    hint = f"did you mean {near[0]}?" if near else f"known: {listed or 'none'}"
    return document.problem(path, f"no {what} is called {name!r}", clause=clause, hint=hint)


def value_at(data: Any, path: Sequence[Key]) -> Any:
    """Return the value at a path of plain data, or None when there is none."""
    for key in path:
        if isinstance(data, dict):
            data = data.get(key)
        elif isinstance(data, list) and isinstance(key, int) and key < len(data):
            data = data[key]
        else:
            return None
    return data


def section(data: Any, *path: Key) -> dict[str, Any]:
    """Return the mapping at a path, empty when there is none."""
    found = value_at(data, path)
    return found if isinstance(found, dict) else {}
