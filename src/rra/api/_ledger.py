"""Where verifications and audits of an artifact are kept, and finding the newest ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rra._base import places

VERIFICATIONS = "verifications"
AUDITS = "audits"
REPRODUCTION = "reproduction.json"
AUDIT = "audit.json"


def folder_for(kind: str, core: str, nonce: str) -> Path:
    """Return the folder of one verification or audit of a core.

    Raises:
        StorageError: The folder of all of them cannot be made.
    """
    return places.make_state() / kind / core.removeprefix("sha256:")[:16] / nonce[:16]


def newest(kind: str, core: str, name: str) -> tuple[Path, dict[str, Any]] | None:
    """Return the newest finished document of a core with its path, or None.

    Args:
        kind: `VERIFICATIONS` or `AUDITS`.
        core: Core digest that the document must name.
        name: File name of the document.
    """
    return max(
        all_of(kind, core, name),
        key=lambda item: (str(item[1].get("ended", "")), str(item[0])),
        default=None,
    )


def all_of(kind: str, core: str, name: str) -> list[tuple[Path, dict[str, Any]]]:
    """Return all finished documents of a core with their paths, by path; see `newest`."""
    base = places.state_root() / kind / core.removeprefix("sha256:")[:16]
    return [
        (path, document)
        for path in sorted(base.glob(f"*/{name}"))
        if (document := read_json(path)) is not None and document.get("core") == core
    ]


def read_json(path: Path) -> dict[str, Any] | None:
    """Return a JSON object from a file; None when there is none."""
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None
