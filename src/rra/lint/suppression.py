"""Findings that an artifact asks to overlook: ``x-lint: {ignore: {CODE: reason}}``."""

from __future__ import annotations

import dataclasses
import fnmatch
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rra._base.yaml import YamlDocument
    from rra.lint.finding import Finding

KEY = "x-lint"


@dataclasses.dataclass(frozen=True, slots=True)
class Suppression:
    """One entry of the list.

    Attributes:
        code: Code of the rule.
        reason: Why its findings do not matter here; an entry without one has no effect.
        paths: Patterns of the files it is about; empty for all.
    """

    code: str
    reason: str
    paths: tuple[str, ...] = ()

    def covers(self, finding: Finding) -> bool:
        """Tell whether this entry is about a finding and gives a reason."""
        if finding.rule != self.code or not self.reason:
            return False
        return not self.paths or any(fnmatch.fnmatchcase(finding.path, p) for p in self.paths)


def read_suppressions(document: YamlDocument) -> list[Suppression]:
    """Return the entries of a manifest, also those without a reason (see `Suppression.covers`).

    An entry is a reason, or a map of ``reason`` and ``paths`` (a list of patterns).
    """
    return [_entry(str(code), value) for code, value in raw_entries(document).items()]


def raw_entries(document: YamlDocument) -> dict[Any, Any]:
    """Return the entries of a manifest as they are written."""
    section = document.data.get(KEY) if isinstance(document.data, dict) else None
    entries = section.get("ignore") if isinstance(section, dict) else None
    return entries if isinstance(entries, dict) else {}


def _entry(code: str, value: object) -> Suppression:
    if not isinstance(value, dict):
        return Suppression(code, value.strip() if isinstance(value, str) else "")
    reason = value.get("reason")
    paths = value.get("paths")
    return Suppression(
        code,
        reason.strip() if isinstance(reason, str) else "",
        tuple(str(path) for path in paths) if isinstance(paths, list) else (),
    )
