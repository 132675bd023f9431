"""Launchers: the environments, launchers and data items that they name are defined."""

from __future__ import annotations

from collections.abc import Iterator

from rra._base.yaml import YamlDocument
from rra.artifact.semantics.ids import need, section
from rra.errors import Problem

ENVIRONMENT = "launcher/environment-is-defined"
NEEDS = "launcher/needs-are-defined"
INPUTS = "launcher/inputs-are-defined"


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what the launchers of a manifest break."""
    data = document.data
    launchers = section(data, "launchers")
    environments = section(data, "environments")
    items = section(data, "data")
    for name, launcher in launchers.items():
        here = ("launchers", name)
        yield from need(document, environments, (*here, "environment"), "environment", ENVIRONMENT)
        for index, _ in enumerate(launcher.get("needs", ())):
            yield from need(document, launchers, (*here, "needs", index), "launcher", NEEDS)
        for index, _ in enumerate(launcher.get("inputs", ())):
            yield from need(document, items, (*here, "inputs", index), "data item", INPUTS)
