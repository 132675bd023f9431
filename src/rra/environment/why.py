"""Why a lock holds what it holds: which file, day and requirement led to each version.

The lock keeps it under ``[tool.rra]``, where whoever asks later finds it without an index:

- ``manifest`` and ``manifest-why``: the file that was followed, and why that one;
- ``as-of-why`` and ``python-why``: where the day and the Python come from;
- ``why``: for each package the ``requirement`` that asked for it, the ``place`` of that
  (``file:line``), under ``required-by`` the packages that need it, and under ``overtaken-by``
  the newest version of the day with its own, where that is years newer; and under ``index``
  the name of the further index of uv's settings that it came from.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

WhyEach = dict[str, dict[str, str | list[str]]]
"""What is known of each package, by its normalised name."""

_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*(?:==|@)")
_ADDRESS = re.compile(r"(?<=://)[^/\s@]+@")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reasons:
    """Where the wishes behind a lock come from.

    Attributes:
        manifest: File that names the packages.
        manifest_why: Why that file is followed.
        as_of: Where the day comes from.
        python: Where the Python comes from.
        places: For each package (normalised name) where it is asked for, as ``file:line``.
        tried: What was tried before this was chosen, one line each.
        digests: SHA-256 (64 hex digits) that the files of each package may have, where the
            manifest says so; the lock does not repeat them.
    """

    manifest: str = ""
    manifest_why: str = ""
    as_of: str = ""
    python: str = ""
    places: Mapping[str, str] = dataclasses.field(default_factory=dict)
    tried: Sequence[str] = ()
    digests: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def facts(self) -> dict[str, str | list[str]]:
        """Return what goes under ``[tool.rra]``; what is not known is left out."""
        facts: dict[str, str | list[str]] = {
            "manifest": self.manifest,
            "manifest-why": self.manifest_why,
            "as-of-why": self.as_of,
            "python-why": self.python,
            "tried": list(self.tried),
        }
        return {key: value for key, value in facts.items() if value}


def why_each(
    names: Iterable[str],
    requirements: Sequence[str],
    places: Mapping[str, str],
    required_by: Mapping[str, Sequence[str]],
    more: Mapping[str, Mapping[str, str]] | None = None,
) -> WhyEach:
    """Return for each locked package what asked for it.

    Args:
        names: Normalised names of what is locked.
        requirements: What was asked for (PEP 508).
        places: Where each package is asked for.
        required_by: Which locked packages need each one.
        more: Further keys, each with what it says of packages.
    """
    asked: dict[str, list[str]] = {}
    for text in requirements:
        asked.setdefault(_name(text), []).append(without_credentials(text))
    table: WhyEach = {}
    for name in sorted(names):
        entry: dict[str, str | list[str]] = {}
        if name in asked:
            entry["requirement"] = ", ".join(asked[name])
            if name in places:
                entry["place"] = places[name]
        others = sorted(set(required_by.get(name, ())))
        if others:
            entry["required-by"] = others
        entry |= {key: said[name] for key, said in (more or {}).items() if name in said}
        if entry:
            table[name] = entry
    return table


def read_annotations(text: str) -> dict[str, tuple[str, ...]]:
    """Return which packages need each one, from the ``# via`` comments of a compiled list."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        pin = _PIN.match(line)
        if pin:
            current = found.setdefault(canonicalize_name(pin[1]), [])
        elif line.strip().startswith("#"):
            other = line.strip().removeprefix("#").strip().removeprefix("via").strip()
            if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", other):
                current.append(canonicalize_name(other))
    return {name: tuple(others) for name, others in found.items()}


def earlier_facts(lock: Path) -> Mapping[str, Any]:
    """Return what an earlier lock says under ``[tool.rra]``; nothing where there is none."""
    try:
        facts = tomllib.loads(lock.read_text("utf-8"))["tool"]["rra"]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError):
        return {}
    return facts if isinstance(facts, dict) else {}


def without_credentials(text: str) -> str:
    """Return a text whose addresses name no user and no password."""
    return _ADDRESS.sub("", text)


def _name(text: str) -> str:
    try:
        return canonicalize_name(Requirement(text).name)
    except InvalidRequirement:
        return text
