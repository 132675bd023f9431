"""Which file, day and requirement gave a package its version, read from the lock alone."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Mapping
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rra.environment.answers import ExplainedPackage
from rra.environment.checking import ReadLock

_MOST_CHAINS = 5


def explain_package(env_id: str, lock: ReadLock, name: str) -> ExplainedPackage | None:
    """Say why a lock has a package as it has it; None where it does not have it.

    Args:
        env_id: Environment's id.
        lock: Its lock.
        name: Normalised name of the package.
    """
    versions = tuple(one.version for one in lock.packages if one.name == name)
    if not versions:
        return None
    facts, why = lock.facts, _table(lock.facts)
    own = why.get(name, {})
    return ExplainedPackage(
        id=env_id,
        versions=versions,
        requirement=_text(own, "requirement") or _asked(facts, name),
        place=_text(own, "place"),
        required_by=_texts(own, "required-by"),
        overtaken_by=_text(own, "overtaken-by"),
        index=_text(own, "index"),
        chains=tuple(_chains(name, why)),
        manifest=_text(facts, "manifest"),
        manifest_why=_text(facts, "manifest-why"),
        as_of=_text(facts, "as-of"),
        as_of_why=_text(facts, "as-of-why"),
        python=_text(facts, "python"),
        python_why=_text(facts, "python-why"),
        tried=_texts(facts, "tried"),
        recorded=bool(why),
    )


def _table(facts: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the reasons of each package; anybody may have written the lock."""
    table = facts.get("why")
    entries = table.items() if isinstance(table, dict) else ()
    return {str(name): entry for name, entry in entries if isinstance(entry, dict)}


def _asked(facts: Mapping[str, Any], name: str) -> str | None:
    """Return what was asked for by the list of requirements, where no reasons are recorded."""
    for text in _texts(facts, "requirements"):
        with contextlib.suppress(InvalidRequirement):
            if canonicalize_name(Requirement(text).name) == name:
                return text
    return None


def _text(entry: Mapping[str, Any], key: str) -> str | None:
    value = entry.get(key)
    return str(value) if value else None


def _texts(entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = entry.get(key)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _chains(name: str, why: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return the shortest way to a package from each that a file asks for, a few at most."""
    chains: list[tuple[str, ...]] = []
    seen = {name}
    waiting: deque[tuple[str, ...]] = deque([(name,)])
    while waiting and len(chains) < _MOST_CHAINS:
        chain = waiting.popleft()
        entry = why.get(chain[0], {})
        if "requirement" in entry and len(chain) > 1:
            chains.append(chain)
        for other in _texts(entry, "required-by"):
            if other not in seen:
                seen.add(other)
                waiting.append((other, *chain))
    return chains
