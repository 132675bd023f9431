"""Short phrases of findings."""

from __future__ import annotations

from collections.abc import Sequence


def listed(places: Sequence[str], limit: int = 5) -> str:
    """Return places in one phrase, each once; beyond the limit only their number."""
    distinct = list(dict.fromkeys(places))
    more = f" and {len(distinct) - limit} more places" if len(distinct) > limit else ""
    return ", ".join(distinct[:limit]) + more


def common_name(items: Sequence[str]) -> str:
    """Return a category or list as a finding names it."""
    return f"a text as common as {', '.join(items)}"
