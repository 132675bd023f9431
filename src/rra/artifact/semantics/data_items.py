"""Data: places that it can be had from, and where it lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.ids import section
from rra.artifact.semantics.paths import APART, parts
from rra.errors import Problem

ONE_PLACE = "data/sources-name-one-place"
FETCHED = "data/fetched-data-has-a-source"
GATED = "data/gated-data-says-where-to-ask"
PLACE = "data/path-is-its-own"

KINDS = ("url", "doi", "oci", "manual")
"""Kinds of source."""

_DOCUMENTS = {("rra.yaml",), ("rra.lock",)}


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what the data items of a manifest break."""
    for name, item in section(document.data, "data").items():
        here: tuple[Key, ...] = ("data", name)
        yield from _place(document, here, item["path"])
        yield from _sources(document, here, item)


def _place(document: YamlDocument, here: tuple[Key, ...], path: str) -> Iterator[Problem]:
    found = parts(path)
    if not found or found[0] in APART or found in _DOCUMENTS:
        message = f"data cannot lie at {path}"
        hint = "give it a place of its own, such as data/"
        yield document.problem((*here, "path"), message, clause=PLACE, hint=hint)


def _sources(
    document: YamlDocument, here: tuple[Key, ...], item: Mapping[str, Any]
) -> Iterator[Problem]:
    sources = item.get("sources", [])
    for index, source in enumerate(sources):
        if sum(key in source for key in KINDS) != 1:
            message = "a source names exactly one of " + ", ".join(KINDS)
            hint = "make several places several items of the list"
            place = (*here, "sources", index)
            yield document.problem(place, message, clause=ONE_PLACE, hint=hint)
    access = item.get("access", "bundled")
    if access == "fetch" and not any(key in one for one in sources for key in KINDS[:3]):
        message = "data that is fetched has no source with url, doi or oci"
        hint = "say where it is, or how else it is had: access: gated with a manual source"
        yield document.problem(here, message, clause=FETCHED, hint=hint)
    if access == "gated" and not any(key in one for one in sources for key in KINDS):
        message = "data that is gated has no source"
        hint = "say what a reader has to do: sources: [{manual: …}]"
        yield document.problem(here, message, clause=GATED, hint=hint)
