"""Packages of a foreign lock as a graph: which of them are needed, and under which markers."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from packaging.markers import InvalidMarker, Marker

_MOST_CONDITIONS = 24
"""Alternatives under which a package may be needed, before it is taken as always needed."""

Condition = frozenset[str]
"""Markers that all have to hold; the empty set always holds."""


@dataclasses.dataclass(frozen=True, slots=True)
class Edge:
    """That one package needs another.

    Attributes:
        name: Normalised name of the other.
        marker: When (PEP 508); empty for always.
        extras: Extras of the other that are asked for.
        version: Version of the other where the lock has several; empty for any of them.
    """

    name: str
    marker: str = ""
    extras: tuple[str, ...] = ()
    version: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    """One package at one version in a foreign lock.

    Attributes:
        name: Normalised name.
        version: Version; empty where the lock names none, as for a folder.
        edges: What it needs.
        extras: What each of its extras needs besides.
        marker: When this version is the one that is meant; empty for always.
        hashes: SHA-256 of its files, 64 hex digits each.
        source: ``index``, ``git``, ``url``, ``path`` or ``root``: where it comes from.
        address: Address that pins it, for ``git`` and ``url``, without credentials.
        line: Line of the lock at which it stands; 0 for unknown.
    """

    name: str
    version: str
    edges: tuple[Edge, ...] = ()
    extras: Mapping[str, tuple[Edge, ...]] = dataclasses.field(default_factory=dict)
    marker: str = ""
    hashes: tuple[str, ...] = ()
    source: str = "index"
    address: str = ""
    line: int = 0


def needed(nodes: Sequence[Node], roots: Iterable[Edge] | None) -> list[tuple[Node, str]]:
    """Return the packages that are reached from the roots, each with the marker of its need.

    A package that is needed under several conditions gets them joined by ``or``; one that is
    needed without any gets only its own marker.

    Args:
        nodes: All packages of the lock.
        roots: What the project asks for; None where the lock does not say, then everything
            that no other package needs.
    """
    by_name: dict[str, list[int]] = {}
    for index, node in enumerate(nodes):
        by_name.setdefault(node.name, []).append(index)
    start = list(roots) if roots is not None else _without_parent(nodes)
    reached: dict[int, set[Condition]] = {}
    waiting: deque[tuple[Edge, Condition]] = deque((edge, frozenset()) for edge in start)
    seen: dict[tuple[int, str], set[Condition]] = {}
    while waiting:
        edge, above = waiting.popleft()
        condition = above | {edge.marker} if edge.marker else above
        for index in by_name.get(edge.name, ()):
            node = nodes[index]
            if edge.version and node.version and edge.version != node.version:
                continue
            for part in ("", *edge.extras):
                known = seen.setdefault((index, part), set())
                if not _add(known, condition):
                    continue
                _add(reached.setdefault(index, set()), condition)
                below = node.extras.get(part, ()) if part else node.edges
                waiting.extend((edge, condition) for edge in below)
    return [(nodes[index], _joined(nodes[index], reached[index])) for index in sorted(reached)]


def valid_marker(text: str) -> str:
    """Return a marker as it is compared and written, or nothing when it is none."""
    try:
        return str(Marker(text)) if text.strip() else ""
    except InvalidMarker:
        return ""


def _without_parent(nodes: Sequence[Node]) -> list[Edge]:
    """Return an edge to each package that no other needs; to every one where all are needed."""
    children = {edge.name for node in nodes for edge in _all_edges(node) if edge.name != node.name}
    tops = [node for node in nodes if node.name not in children]
    reached = {node.name for node, _ in needed(nodes, [Edge(n.name) for n in tops])} if tops else ()
    rest = [node for node in nodes if node.name not in reached and node not in tops]
    return [Edge(node.name, version=node.version) for node in (*tops, *rest)]


def _all_edges(node: Node) -> Iterator[Edge]:
    yield from node.edges
    for edges in node.extras.values():
        yield from edges


def _add(known: set[Condition], condition: Condition) -> bool:
    """Add an alternative unless a weaker one is known; tell whether that changed anything."""
    if any(other <= condition for other in known):
        return False
    if len(known) >= _MOST_CONDITIONS:
        condition = frozenset()
    known -= {other for other in known if condition <= other}
    known.add(condition)
    return True


def _joined(node: Node, conditions: set[Condition]) -> str:
    """Write the alternatives as one marker, with that of the package itself."""
    if frozenset() in conditions:
        return node.marker
    parts = sorted(" and ".join(f"({text})" for text in sorted(c)) for c in conditions)
    either = " or ".join(f"({part})" for part in parts) if len(parts) > 1 else parts[0]
    whole = f"({either}) and ({node.marker})" if node.marker else either
    return valid_marker(whole)
