"""Reading the file of a document: never more of it than a document may have."""

from __future__ import annotations

from pathlib import Path

from rra._base import jsontext, yaml
from rra._base.yaml import YamlDocument

_JSON_SUFFIXES = frozenset({".json", ".lock"})


def read_limited(path: Path, limit: int) -> bytes:
    """Return the bytes of a file, or the first `limit` + 1 of a larger one.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as stream:
        return stream.read(limit + 1)


def is_json(path: Path) -> bool:
    """Tell by its name whether a document is written in JSON: ``*.json`` and ``rra.lock``."""
    return path.suffix in _JSON_SUFFIXES


def parse_file(path: Path, *, source: str) -> YamlDocument:
    """Parse the document in a file, JSON or YAML by its name.

    Args:
        path: The file.
        source: Name of the file for messages.

    Raises:
        FormatError: The bytes break a rule of the page *documents*.
        OSError: The file cannot be read.
    """
    if is_json(path):
        return jsontext.parse_json(read_limited(path, jsontext.MAX_BYTES), source=source)
    return yaml.parse_bytes(read_limited(path, yaml.MAX_BYTES), source=source)
