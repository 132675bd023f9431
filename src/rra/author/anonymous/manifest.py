"""Blanking ``rra.yaml``: what names people goes, what a run needs stays or is reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rra._base.yaml import Key, YamlDocument, parse_yaml
from rra.artifact import edit, layout
from rra.artifact.semantics.ids import value_at
from rra.author.anonymous.identifier import Finder
from rra.errors import Problem

MARK = "x-anonymous"
"""Key of the manifest by which readers are told that the copy was blanked."""

_GONE: tuple[tuple[str, ...], ...] = (
    ("authors",),
    ("source", "repository"),
    ("source", "commit"),
)
_GONE_PAPER: tuple[tuple[str, ...], ...] = tuple(
    ("paper", key) for key in ("authors", "doi", "arxiv", "url", "sha256")
)
_PROSE = {"title", "description", "keywords", "status", "paper", "explanation", "location"}
_PROSE |= {"as_of_why", "measured_on", "license", "note", "notes", "why", "obtain", "terms"}
_CLAUSE = "privacy/anonymous-copy"


def blank_manifest(
    text: str, finder: Finder, *, keep_paper: bool, source: str | None
) -> tuple[str, list[Problem]]:
    """Return the manifest without what identifies, and where that cannot be taken away.

    Args:
        text: The manifest.
        finder: Finds what identifies.
        keep_paper: Whether the paper stays named.
        source: Tree of the blanked upstream, when it is another.

    Raises:
        FormatError: The text is no document, or is none any more without what identifies.
    """
    for path in _GONE if keep_paper else (*_GONE, *_GONE_PAPER):
        text = _without(text, path)
    if source is not None:
        text = edit.set_value(text, ["source", "swhid"], source)
    before = parse_yaml(text, source=layout.MANIFEST)
    blanked = finder.replace(text.encode()).decode()
    after = parse_yaml(blanked, source=layout.MANIFEST)
    problems = [
        _problem(before, path, finder)
        for path in _changed(before.data, after.data, ())
        if _decides(path)
    ]
    return edit.set_value(blanked, [MARK], value=True), problems


def _without(text: str, path: Sequence[str]) -> str:
    """Take a key away, and the map around it when nothing else is left in it."""
    data: Any = parse_yaml(text, source=layout.MANIFEST).data
    for key in path[:-1]:
        data = data.get(key) if isinstance(data, dict) else None
    if not isinstance(data, dict) or path[-1] not in data:
        return text
    gone = path if len(data) > 1 or len(path) == 1 else path[:-1]
    return edit.remove(text, list(gone))


def _changed(before: Any, after: Any, path: tuple[Key, ...]) -> Iterator[tuple[Key, ...]]:
    """Yield the places whose values differ, and the maps whose keys do."""
    if isinstance(before, dict) and isinstance(after, dict):
        if list(before) != list(after):
            yield from ((*path, key) for key in before if key not in after)
        for key in before.keys() & after.keys():
            yield from _changed(before[key], after[key], (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _changed(one, other, (*path, index))
    elif before != after:
        yield path


def _decides(path: tuple[Key, ...]) -> bool:
    """Tell whether a value is more than a description."""
    return not any(isinstance(key, str) and (key in _PROSE or key.startswith("x-")) for key in path)


def _problem(document: YamlDocument, path: tuple[Key, ...], finder: Finder) -> Problem:
    name = ".".join(map(str, path))
    text = f"{path[-1]}\n{value_at(document.data, path)}"
    one = next((hit.identifier for hit in finder.find(text.encode())), None)
    what = f"{one.text!r} ({one.kind}: {one.source})" if one else "a text that identifies"
    keep = one.to_keep if one else "--keep"
    message = f"{name} holds {what}, and takes part in what runs"
    hint = f"choose another in your artifact and lock again, or let it stay: {keep}"
    return document.problem(path, message, clause=_CLAUSE, hint=hint)
