"""Reading a ``pylock.toml`` (PEP 751) that another tool wrote."""

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
    without_credentials,
)
from rra.environment.requirement_files import Requirements, hashes_of

_GROUPS = ("extras", "dependency_groups")


def read_foreign_pylock(path: Path, name: str) -> Requirements:
    """Read the packages of a ``pylock.toml``, with their markers and digests.

    A package that only an extra or a group wants is left out. Source: PEP 751.
    """
    result = Requirements()
    data, text = read_toml(path, name, result)
    if data and str(data.get("lock-version", "1.0")).partition(".")[0] != "1":
        result.remark(name, f"is of lock-version {data['lock-version']}, which is not known")
        return result
    result.python = str(data.get("requires-python", ""))
    entries = tables(data, "packages")
    lines = line_numbers(text, "[[packages]]")
    known = lines if len(lines) == len(entries) else [0] * len(entries)
    nodes = [
        _node(entry, line)
        for entry, line in zip(entries, known, strict=True)
        if not any(group in str(entry.get("marker", "")) for group in _GROUPS)
    ]
    take_nodes(nodes, [Edge(n.name, version=n.version) for n in nodes], name, result)
    return result


def _node(entry: Mapping[str, Any], line: int) -> Node:
    files = [*tables(entry, "wheels"), table(entry, "sdist"), table(entry, "archive")]
    vcs, archive = table(entry, "vcs"), table(entry, "archive")
    source, address = "index", ""
    if vcs:
        clean = without_credentials(str(vcs.get("url", "")))
        source = "git" if clean else "path"
        address = f"{vcs.get('type', 'git')}+{clean}@{vcs.get('commit-id', '')}" if clean else ""
    elif archive:
        address = without_credentials(str(archive.get("url", "")))
        source = "url" if address else "path"
    elif table(entry, "directory"):
        source = "path"
    return Node(
        canonicalize_name(str(entry.get("name", ""))),
        str(entry.get("version", "")),
        marker=valid_marker(str(entry.get("marker", ""))),
        hashes=hashes_of(table(file, "hashes").get("sha256", "") for file in files),
        source=source,
        address=address,
        line=line,
    )
