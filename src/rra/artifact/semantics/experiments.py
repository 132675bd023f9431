"""Experiments: the launchers that selectors and results tables name are defined."""

from __future__ import annotations

from collections.abc import Iterator

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.ids import need, section
from rra.errors import Problem

LAUNCHER = "experiment/launcher-is-defined"


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what the experiments of a manifest break."""
    launchers = section(document.data, "launchers")
    for place in _places(document):
        yield from need(document, launchers, (*place, "launcher"), "launcher", LAUNCHER)


def _places(document: YamlDocument) -> Iterator[tuple[Key, ...]]:
    """Yield the path of everything in experiments that may name a launcher."""
    for name in section(document.data, "experiments"):
        here: tuple[Key, ...] = ("experiments", name)
        for outcome in section(document.data, *here, "outcomes"):
            yield (*here, "outcomes", outcome, "selector")
        yield (*here, "table")
        for part in ("rows", "columns", "cells"):
            for line in section(document.data, *here, "table", part):
                yield (*here, "table", part, line)
