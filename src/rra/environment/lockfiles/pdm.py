"""Reading ``pdm.lock``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from rra.environment.lockfiles.graph import Edge, Node, valid_marker
from rra.environment.lockfiles.taking import (
    edges_of,
    read_toml,
    table,
    tables,
    take_nodes,
    texts,
    without_credentials,
)
from rra.environment.requirement_files import Requirements, hashes_of


def read_pdm_lock(path: Path, name: str) -> Requirements:
    """Read ``pdm.lock``: the packages of its default group.

    Locks that inherit metadata say the group and the marker of each package; in the others
    ``pyproject.toml`` beside it says what is asked for.
    """
    result = Requirements()
    data, _ = read_toml(path, name, result)
    entries = tables(data, "package")
    older = table(data, "metadata", "files")
    grouped = any("groups" in entry for entry in entries)
    if grouped:
        entries = [entry for entry in entries if "default" in texts(entry.get("groups"))]
    nodes = _nodes(entries, older)
    metadata = table(data, "metadata")
    targets = tables(metadata, "targets")
    result.python = str(targets[0].get("requires_python", "")) if targets else ""
    roots = [Edge(n.name, version=n.version) for n in nodes] if grouped else _roots(path)
    take_nodes(nodes, roots, name, result)
    return result


def _roots(lock: Path) -> list[Edge] | None:
    pyproject = lock.with_name("pyproject.toml")
    if not pyproject.is_file():
        return None
    data, _ = read_toml(pyproject, pyproject.name, Requirements())
    return list(edges_of(texts(table(data, "project").get("dependencies")))) or None


def _nodes(entries: list[dict[str, Any]], older: Mapping[str, Any]) -> list[Node]:
    """Return one node for each version: an extra is an entry of its own in this lock."""
    extras: dict[tuple[str, str], dict[str, tuple[Edge, ...]]] = {}
    bare: list[tuple[str, str, dict[str, Any]]] = []
    for entry in entries:
        name = canonicalize_name(str(entry.get("name", "")))
        version = str(entry.get("version", ""))
        wanted = texts(entry.get("extras"))
        edges = edges_of(texts(entry.get("dependencies")))
        for extra in wanted:
            extras.setdefault((name, version), {})[extra] = edges
        if not wanted:
            bare.append((name, version, entry))
    return [_node(entry, older, extras.get((name, version), {})) for name, version, entry in bare]


def _node(
    entry: Mapping[str, Any], older: Mapping[str, Any], extras: Mapping[str, tuple[Edge, ...]]
) -> Node:
    given, version = str(entry.get("name", "")), str(entry.get("version", ""))
    files = [*tables(entry, "files"), *tables(older, f"{given} {version}")]
    source, address = "index", ""
    if entry.get("git"):
        commit = entry.get("revision") or entry.get("ref") or ""
        clean = without_credentials(str(entry["git"]))
        source, address = "git", f"git+{clean}@{commit}" if commit else f"git+{clean}"
    elif entry.get("url"):
        source, address = "url", without_credentials(str(entry["url"]))
    elif entry.get("path"):
        source = "path"
    return Node(
        canonicalize_name(given),
        version,
        edges_of(texts(entry.get("dependencies"))),
        extras,
        marker=valid_marker(str(entry.get("marker", ""))),
        hashes=hashes_of(file.get("hash", "") for file in files),
        source=source,
        address=address,
    )
