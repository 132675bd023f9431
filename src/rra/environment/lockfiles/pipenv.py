"""Reading ``Pipfile`` and ``Pipfile.lock``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from rra.environment.lockfiles.graph import Edge, Node, valid_marker
from rra.environment.lockfiles.taking import (
    read_bounded,
    read_toml,
    table,
    tables,
    take_nodes,
    texts,
    without_credentials,
)
from rra.environment.requirement_files import Requirements, hashes_of

_PUBLIC = "pypi"
"""Name that Pipenv itself gives to the public index."""

_SYSTEM_MARKERS = ("sys_platform", "os_name", "platform_machine", "platform_system")


def read_pipfile(path: Path, name: str) -> Requirements:
    """Read ``[packages]`` of a ``Pipfile``; those for development are left out."""
    result = Requirements()
    data, text = read_toml(path, name, result)
    result.python = _python(table(data, "requires"))
    _remark_sources(tables(data, "source"), name, result)
    lines = text.split("\n")
    for package, wanted in table(data, "packages").items():
        entry = wanted if isinstance(wanted, Mapping) else {"version": str(wanted)}
        starts = (n for n, line in enumerate(lines, 1) if line.strip().startswith(f"{package} "))
        line = next(starts, None)
        address = _address(entry)
        if address is None:
            message = f"{package} is a folder of the repository; it is not installed"
            result.remark(name, message, line=line)
            continue
        extras = texts(entry.get("extras"))
        asked = package + (f"[{','.join(extras)}]" if extras else "")
        version = str(entry.get("version", "*")).strip()
        asked += f" @ {address}" if address else ("" if version == "*" else version)
        marker = _marker(entry)
        result.take(f"{asked} ; {marker}" if marker else asked, name, line)
    return result


def read_pipfile_lock(path: Path, name: str) -> Requirements:
    """Read the default packages of a ``Pipfile.lock``."""
    result = Requirements()
    text = read_bounded(path, name, result)
    try:
        data = json.loads(text) if text is not None else {}
    except (json.JSONDecodeError, RecursionError) as error:
        result.remark(name, f"not valid JSON: {error}")
        return result
    meta = table(data, "_meta")
    result.python = _python(table(meta, "requires"))
    _remark_sources(tables(meta, "sources"), name, result)
    entries = {k: v for k, v in table(data, "default").items() if isinstance(v, Mapping)}
    nodes = [_node(package, entry) for package, entry in entries.items()]
    take_nodes(nodes, [Edge(node.name) for node in nodes], name, result)
    return result


def _node(package: str, entry: Mapping[str, Any]) -> Node:
    address = _address(entry)
    version = str(entry.get("version", "")).removeprefix("==").strip()
    hashes = entry.get("hashes")
    return Node(
        canonicalize_name(package),
        version,
        marker=_marker(entry),
        hashes=hashes_of(hashes if isinstance(hashes, list) else []),
        source="path" if address is None else "url" if address else "index",
        address=address or "",
    )


def _address(entry: Mapping[str, Any]) -> str | None:
    """Return the address of a package; empty for one of an index, None for a folder."""
    if entry.get("git"):
        commit = str(entry.get("ref", ""))
        clean = without_credentials(str(entry["git"]))
        clean = clean if clean.startswith("git+") else f"git+{clean}"
        return f"{clean}@{commit}" if commit else clean
    if entry.get("path") or (entry.get("editable") and not entry.get("version")):
        return None
    address = str(entry.get("file", ""))
    if not address:
        return ""
    return without_credentials(address) if "://" in address else None


def _marker(entry: Mapping[str, Any]) -> str:
    """Return the marker of an entry, which may be spread over keys."""
    parts = [valid_marker(str(entry.get("markers", "")))]
    parts += [
        valid_marker(f"{key} {entry[key]}")
        for key in (*_SYSTEM_MARKERS, "python_version")
        if isinstance(entry.get(key), str)
    ]
    kept = [part for part in parts if part]
    return " and ".join(f"({part})" for part in kept) if len(kept) > 1 else "".join(kept)


def _python(requires: Mapping[str, Any]) -> str:
    named = str(requires.get("python_full_version") or requires.get("python_version") or "")
    match = re.match(r"\d+\.\d+", named)
    return match[0] if match else ""


def _remark_sources(sources: list[dict[str, Any]], name: str, result: Requirements) -> None:
    """Say that an index of one's own is named, and never which: its address may hold a secret."""
    others = [s for s in sources if s.get("name") != _PUBLIC or "@" in str(s.get("url", ""))]
    if others:
        message = f"names {len(others)} package index(es) of its own; only your settings are used"
        hint = "if a package is only there, configure it for uv (UV_INDEX, UV_FIND_LINKS)"
        result.remark(name, message, hint=hint)
