"""Turning the packages of a foreign lock into requirements."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rra.environment.lockfiles.graph import Edge, Node, needed, valid_marker
from rra.environment.requirement_files import Requirements, decode

MOST_BYTES = 32 * 1024 * 1024
"""A lock beyond this size is not read."""

MOST_PACKAGES = 20_000

_OWN = frozenset({"pip", "setuptools", "wheel", "distribute"})
"""What installs the others; a lock of this format has them only where something asks for them."""


def read_bounded(path: Path, name: str, result: Requirements) -> str | None:
    """Return the text of a lock, or None with a remark when it cannot be had."""
    try:
        if path.stat().st_size > MOST_BYTES:
            result.remark(name, f"is larger than {MOST_BYTES >> 20} MiB; not read")
            return None
        text, remark = decode(path.read_bytes())
    except OSError as error:
        result.remark(name, f"cannot be read: {error.strerror}")
        return None
    if remark:
        result.remark(name, f"the file {remark}")
    return text


def read_toml(path: Path, name: str, result: Requirements) -> tuple[dict[str, Any], str]:
    """Return the tables of a lock in TOML and its text; empty, with a remark, when it is none."""
    text = read_bounded(path, name, result)
    if text is None:
        return {}, ""
    try:
        return tomllib.loads(text), text
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        result.remark(name, f"not valid TOML: {error}")
        return {}, ""


def tables(data: object, key: str) -> list[dict[str, Any]]:
    """Return the tables of a list, whatever else stands there left out."""
    value = data.get(key) if isinstance(data, Mapping) else None
    found = value if isinstance(value, list) else []
    return [entry for entry in found[:MOST_PACKAGES] if isinstance(entry, dict)]


def table(data: object, *keys: str) -> dict[str, Any]:
    """Return the table at a path of keys, empty where there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data if isinstance(data, dict) else {}


def texts(value: object) -> list[str]:
    """Return the texts of a list."""
    return [str(item) for item in value if isinstance(item, str)] if isinstance(value, list) else []


def edge_of(text: str) -> Edge | None:
    """Return what a requirement (PEP 508) asks for as an edge; None when it is none."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return None
    marker = str(requirement.marker or "")
    extras = tuple(sorted(requirement.extras))
    return Edge(canonicalize_name(requirement.name), marker, extras)


def edges_of(values: Iterable[str]) -> tuple[Edge, ...]:
    """Return the edges of requirements, those that cannot be read left out."""
    return tuple(edge for edge in map(edge_of, values) if edge is not None)


def without_credentials(address: str) -> str:
    """Return an address without user, password and query: these can hold a secret."""
    try:
        parts = urlsplit(address)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return ""
    keeps_user = parts.scheme in {"ssh", "git+ssh"} and parts.username == "git"
    return urlunsplit(parts._replace(netloc=f"git@{host}" if keeps_user else host, query=""))


def line_numbers(text: str, heading: str) -> list[int]:
    """Return the numbers of the lines that are a heading, such as ``[[package]]``."""
    return [number for number, line in enumerate(text.split("\n"), 1) if line.strip() == heading]


def take_nodes(
    nodes: Sequence[Node], roots: Iterable[Edge] | None, name: str, result: Requirements
) -> None:
    """Take over the packages that a project needs at exactly their versions.

    Args:
        nodes: Packages of the lock.
        roots: What the project asks for; None where that is not known.
        name: Path of the lock in the repository.
        result: Gets them.
    """
    left_out: list[str] = []
    for node, marker in needed(nodes, roots):
        if node.source == "root" or node.name in _OWN:
            continue
        if node.source == "path" or not (node.version or node.address):
            left_out.append(node.name)
            continue
        _take(node, valid_marker(marker), name, result)
    if left_out:
        message = f"packages that are folders of the author's machine: {', '.join(left_out)}"
        hint = "code of the repository is run where it is; get another repository's in yourself"
        result.remark(name, message, hint=hint)


def _take(node: Node, marker: str, name: str, result: Requirements) -> None:
    pin = f"{node.name} @ {node.address}" if node.address else f"{node.name}=={node.version}"
    text = f"{pin} ; {marker}" if marker else pin
    before = len(result.found)
    result.take(text, name, node.line or None)
    if len(result.found) > before:
        result.vouch(node.name, node.hashes)
