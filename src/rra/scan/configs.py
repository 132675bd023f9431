"""Paths of data that files of settings name: YAML, JSON and TOML beside the code."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from rra._base.yaml import parse_yaml
from rra.errors import RraError
from rra.scan.filenames import is_configuration, names_a_file
from rra.scan.text import read_text

_MAX_FILES = 200
_MAX_BYTES = 200_000
_MAX_VALUES = 2_000
DATA_NAME = re.compile(
    r"data|corpus|input|(?:train|test|valid?|dev|eval)_?(?:file|path|set|csv|json|dir|split)?$",
    re.IGNORECASE,
)
"""Names of settings and parameters that say where data is."""
WRITTEN_NAME = re.compile(
    r"out|save|log|ckpt|checkpoint|result|dump|export|dest|cache|figure|plot|model|weight|tmp",
    re.IGNORECASE,
)
"""Names of settings and parameters that say where something is put, or is no data."""


def configured_data(
    root: Path, files: Mapping[PurePosixPath, int]
) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield files of settings and the paths of data that they name.

    Args:
        root: The repository.
        files: Its files with their sizes.
    """
    chosen = [path for path in files if is_configuration(path) and files[path] <= _MAX_BYTES]
    for path in chosen[:_MAX_FILES]:
        text = read_text(root / path)
        for keys, value in _values(_parsed(path, text or "")):
            if _says_data(keys, value):
                yield path, value


def _says_data(keys: tuple[str, ...], value: str) -> bool:
    if not re.fullmatch(r"[\w~./@ +,-]{2,300}", value) or " " in value.strip():
        return False
    if any(WRITTEN_NAME.search(key) for key in keys[-1:]):
        return False
    if names_a_file(value):
        return True
    folder = "/" in value and not re.search(r"\.\w+$", value)
    return folder and bool(DATA_NAME.search(keys[-1]) if keys else False)


def _parsed(path: PurePosixPath, text: str) -> Any:
    try:
        if path.suffix == ".json":
            return json.loads(text)
        if path.suffix == ".toml":
            return tomllib.loads(text)
        return parse_yaml(text, source=str(path)).data
    except (RraError, ValueError, RecursionError):
        return None


def _values(content: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts of a document with their keys, within bounds."""
    pending: list[tuple[tuple[str, ...], Any]] = [((), content)]
    for _ in range(_MAX_VALUES):
        if not pending:
            return
        keys, value = pending.pop(0)
        if isinstance(value, str):
            yield keys, value
        elif isinstance(value, Mapping):
            pending += [((*keys, str(key)), one) for key, one in value.items()]
        elif isinstance(value, list):
            pending += [(keys, one) for one in value]
