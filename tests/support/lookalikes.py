"""Writes small look-alikes of research repositories."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder and return it."""
    root.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root
