"""Reading ``uv.lock``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from rra.environment.lockfiles.graph import Edge, Node, valid_marker
from rra.environment.lockfiles.taking import (
    line_numbers,
    read_toml,
    table,
    tables,
    take_nodes,
    texts,
    without_credentials,
)
from rra.environment.requirement_files import Requirements, hashes_of


def read_uv_lock(path: Path, name: str) -> Requirements:
    """Read ``uv.lock``: what the project itself needs, without its groups for development.

    Source: uv's documentation of the universal lock, revision 3.
    """
    result = Requirements()
    data, text = read_toml(path, name, result)
    result.python = str(data.get("requires-python", ""))
    lines = line_numbers(text, "[[package]]")
    nodes = [_node(entry, line) for entry, line in _numbered(tables(data, "package"), lines)]
    members = {canonicalize_name(text) for text in texts(table(data, "manifest").get("members"))}
    roots = [
        Edge(node.name, version=node.version)
        for node in nodes
        if node.source == "root" or (node.source == "path" and node.name in members)
    ]
    take_nodes(nodes, roots or None, name, result)
    return result


def _numbered(entries: list[dict[str, Any]], lines: list[int]) -> list[tuple[dict[str, Any], int]]:
    known = lines if len(lines) == len(entries) else [0] * len(entries)
    return list(zip(entries, known, strict=True))


def _node(entry: Mapping[str, Any], line: int) -> Node:
    source, address = _source(table(entry, "source"))
    files = [*tables(entry, "wheels"), table(entry, "sdist")]
    optional = table(entry, "optional-dependencies")
    markers = [m for m in map(valid_marker, texts(entry.get("resolution-markers"))) if m]
    return Node(
        canonicalize_name(str(entry.get("name", ""))),
        str(entry.get("version", "")),
        _edges(entry, "dependencies"),
        {str(extra): _edges(optional, str(extra)) for extra in optional},
        marker=" or ".join(f"({m})" for m in markers) if len(markers) > 1 else "".join(markers),
        hashes=hashes_of(file.get("hash", "") for file in files),
        source=source,
        address=address,
        line=line,
    )


def _edges(entry: Mapping[str, Any], key: str) -> tuple[Edge, ...]:
    return tuple(
        Edge(
            canonicalize_name(str(edge.get("name", ""))),
            valid_marker(str(edge.get("marker", ""))),
            tuple(texts(edge.get("extra"))),
            str(edge.get("version", "")),
        )
        for edge in tables(entry, key)
    )


def _source(source: Mapping[str, Any]) -> tuple[str, str]:
    """Return the kind of a package's source, and the address that pins it."""
    if "git" in source:
        address, _, commit = str(source["git"]).rpartition("#")
        clean = without_credentials(address or commit)
        return "git", f"git+{clean}@{commit}" if address else f"git+{clean}"
    if "url" in source:
        return "url", without_credentials(str(source["url"]))
    for key in ("editable", "virtual", "directory", "path"):
        if key in source:
            return ("root" if str(source[key]) == "." else "path"), ""
    return "index", ""
