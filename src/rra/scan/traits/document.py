"""The facts of a repository as plain JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from rra.scan.traits.objects import PythonRange, Seed, Traits


def traits_json(traits: Traits) -> dict[str, Any]:
    """Return the facts as keys of the document; the Python version has its own place there.

    Args:
        traits: The facts.
    """
    return {
        "downloads": _plain(traits.downloads),
        "checkpoints": [{**_one(one), "line": one.line or None} for one in traits.checkpoints],
        "seeds": _seeds(traits.seeds),
        "unseeded": _seeds(traits.unseeded),
        "devices": _plain(traits.devices),
        "gpu": {"need": traits.gpu.need, "why": list(traits.gpu.why)},
        "languages": _plain(traits.languages),
        "lfs_pointers": _plain(traits.lfs_pointers),
        "submodules": _plain(traits.submodules),
        "notebooks": [{**_one(one), "problem": one.problem or None} for one in traits.notebooks],
        "stale": _plain(traits.stale),
        "pins": [{**_one(one), "committed": one.committed or None} for one in traits.pins],
        "last_commit": traits.last_commit or None,
    }


def python_json(python: PythonRange) -> dict[str, Any]:
    """Return the range of Python versions as keys of the document.

    Args:
        python: The range.
    """
    return {
        "minimum": python.minimum or None,
        "below": python.below or None,
        "why": list(python.why),
    }


def _seeds(seeds: Iterable[Seed]) -> list[dict[str, Any]]:
    return [{**_one(seed), "value": seed.value or None} for seed in seeds]


def _plain(values: Iterable[Any]) -> list[dict[str, Any]]:
    return [_one(value) for value in values]


def _one(value: Any) -> dict[str, Any]:
    """Return a flat dataclass as JSON: paths as text, tuples as lists."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        part = getattr(value, field.name)
        if isinstance(part, PurePosixPath):
            part = str(part)
        elif isinstance(part, tuple):
            part = [str(item) for item in part]
        found[field.name] = part
    return found
