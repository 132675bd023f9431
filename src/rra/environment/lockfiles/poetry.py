"""Reading ``poetry.lock``, with the ``pyproject.toml`` beside it that says what is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from rra.environment.lockfiles.graph import Edge, Node, valid_marker
from rra.environment.lockfiles.taking import (
    edges_of,
    line_numbers,
    read_toml,
    table,
    tables,
    take_nodes,
    texts,
    without_credentials,
)
from rra.environment.requirement_files import Requirements, hashes_of

_PARENTHESES = re.compile(r"\(([^()]*)\)")


def read_poetry_lock(path: Path, name: str) -> Requirements:
    """Read ``poetry.lock``: what the project needs, without its groups for development.

    Locks of Poetry 1.0 name a category, those of 2.0 groups, those between neither: there
    the main requirements of ``pyproject.toml`` decide.
    """
    result = Requirements()
    data, text = read_toml(path, name, result)
    wanted = str(table(data, "metadata").get("python-versions", "")).strip()
    result.python = wanted if re.fullmatch(r"[\s\d.,*<>=!~]+", wanted) and wanted != "*" else ""
    entries = tables(data, "package")
    lines = line_numbers(text, "[[package]]")
    known = lines if len(lines) == len(entries) else [0] * len(entries)
    older = table(data, "metadata", "files")
    kept = [(entry, line) for entry, line in zip(entries, known, strict=True) if _is_main(entry)]
    nodes = [_node(entry, line, older) for entry, line in kept]
    take_nodes(nodes, _roots(path.with_name("pyproject.toml")), name, result)
    return result


def _is_main(entry: Mapping[str, Any]) -> bool:
    groups = entry.get("groups")
    if isinstance(groups, list):
        return "main" in groups
    return bool(entry.get("category", "main") == "main")


def _roots(pyproject: Path) -> list[Edge] | None:
    """Return the main requirements of the project; None where there is no project file."""
    if not pyproject.is_file():
        return None
    data, _ = read_toml(pyproject, pyproject.name, Requirements())
    main = table(data, "tool", "poetry", "dependencies")
    roots = [edge for edge in _dependencies(main, optional=False) if edge.name != "python"]
    roots += edges_of(texts(table(data, "project").get("dependencies")))
    return roots or None


def _node(entry: Mapping[str, Any], line: int, older: Mapping[str, Any]) -> Node:
    given = str(entry.get("name", ""))
    files = [*tables(entry, "files"), *tables(older, given)]
    source, address = _source(table(entry, "source"))
    markers = entry.get("markers", "")
    marker = markers.get("main", "") if isinstance(markers, Mapping) else markers
    optional = {edge.name: edge for edge in _dependencies(table(entry, "dependencies"), only=True)}
    extras = {
        str(extra): tuple(
            optional.get(edge.name, edge)
            for edge in edges_of(_PARENTHESES.sub(r"\1", item) for item in texts(items))
        )
        for extra, items in table(entry, "extras").items()
    }
    return Node(
        canonicalize_name(given),
        str(entry.get("version", "")),
        tuple(_dependencies(table(entry, "dependencies"), optional=False)),
        extras,
        marker=valid_marker(str(marker)),
        hashes=hashes_of(file.get("hash", "") for file in files),
        source=source,
        address=address,
        line=line,
    )


def _dependencies(
    wanted: Mapping[str, Any], *, optional: bool = True, only: bool = False
) -> Iterator[Edge]:
    """Yield the edges of a table of dependencies: with optional ones, or with these only."""
    for name, constraint in wanted.items():
        for one in constraint if isinstance(constraint, list) else [constraint]:
            entry = one if isinstance(one, Mapping) else {}
            is_optional = bool(entry.get("optional"))
            if (is_optional and not optional) or (only and not is_optional):
                continue
            marker = valid_marker(str(entry.get("markers", "")))
            yield Edge(canonicalize_name(str(name)), marker, tuple(texts(entry.get("extras"))))


def _source(source: Mapping[str, Any]) -> tuple[str, str]:
    kind = str(source.get("type", ""))
    address = without_credentials(str(source.get("url", "")))
    if kind == "git":
        commit = source.get("resolved_reference") or source.get("reference") or ""
        return "git", f"git+{address}@{commit}" if commit else f"git+{address}"
    if kind == "url":
        return "url", address
    return ("path" if kind in {"directory", "file"} else "index"), ""
