"""Launchers that need each other: no circle, in linear time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rra._base.yaml import YamlDocument
from rra.errors import Problem

ITSELF = "launcher/needs-not-itself"
CIRCLE = "launcher/needs-form-no-circle"

_SHOWN = 6


def check_needs(document: YamlDocument, launchers: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield launchers that need themselves, and circles of launchers, each once."""
    edges = {
        name: sorted({one for one in launcher.get("needs", ()) if one in launchers})
        for name, launcher in launchers.items()
    }
    for name, launcher in launchers.items():
        for index, other in enumerate(launcher.get("needs", ())):
            if other == name:
                message = f"launcher {name} needs itself"
                itself = ("launchers", name, "needs", index)
                hint = "take it out of its own needs"
                yield document.problem(itself, message, clause=ITSELF, hint=hint)
    for group in components(edges):
        if len(group) > 1:
            names = sorted(group)
            shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
            message = f"launchers need each other in a circle: {shown}"
            place = ("launchers", names[0], "needs")
            hint = "take one of these out of the needs of another"
            yield document.problem(place, message, clause=CIRCLE, hint=hint)


def components(edges: Mapping[str, list[str]]) -> Iterator[list[str]]:
    """Yield the strongly connected components of a graph (Tarjan 1972, without recursion)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    waiting: set[str] = set()
    for start in edges:
        if start in order:
            continue
        work = [(start, iter(edges[start]))]
        order[start] = low[start] = len(order)
        stack.append(start)
        waiting.add(start)
        while work:
            name, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[name])
                if low[name] == order[name]:
                    yield _taken(stack, waiting, name)
            elif following not in order:
                order[following] = low[following] = len(order)
                stack.append(following)
                waiting.add(following)
                work.append((following, iter(edges[following])))
            elif following in waiting:
                low[name] = min(low[name], order[following])


def _taken(stack: list[str], waiting: set[str], name: str) -> list[str]:
    group = [stack.pop()]
    while group[-1] != name:
        group.append(stack.pop())
    waiting.difference_update(group)
    return group
