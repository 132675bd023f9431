"""What `guide/repairs.yaml` has to keep to beyond its schema (spec: repairs)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rra._base.yaml import YamlDocument
from rra.artifact.semantics.ids import section
from rra.errors import Problem

_NEUTRAL = frozenset({"path", "packaging", "capture"})
_DIGITS = 4


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what contradicts itself in a repair, and repairs without a place of their own."""
    repairs = section(document.data)
    yield from _order(document, list(repairs))
    for name, repair in repairs.items():
        yield from _one(document, name, repair)


def _order(document: YamlDocument, names: list[str]) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for name in sorted(names):
        first.setdefault(name[:_DIGITS], name)
    for name, before in zip(names, ["", *names], strict=False):
        other = first[name[:_DIGITS]]
        if other != name:
            message = f"{name} has the number of {other}"
            hint = "the number is the place in the order; give another one"
            clause = "repairs/number-once"
            yield document.problem((name,), message, clause=clause, hint=hint)
        elif name < before:
            message = f"{name} stands behind {before} and applies before it"
            hint = "list the repairs in the order in which they apply"
            clause = "repairs/listed-in-order"
            yield document.problem((name,), message, clause=clause, hint=hint, severity="warning")


def _one(document: YamlDocument, name: str, repair: dict[str, Any]) -> Iterator[Problem]:
    if not repair["patch"].removeprefix("guide/repairs/").startswith(name[:_DIGITS]):
        message = f"the patch of {name} does not begin with its number"
        hint = f"call it guide/repairs/{name}.patch"
        clause = "repairs/patch-number"
        yield document.problem((name, "patch"), message, clause=clause, hint=hint)
    category, effect = repair["category"], repair["effect_on_results"]
    if category in _NEUTRAL and effect == "changes":
        message = f"{name} is of category {category} and says that it changes results"
        hint = "what changes results is a bug or the protocol; name it so"
        clause = "repairs/neutral-categories"
        yield document.problem((name, "effect_on_results"), message, clause=clause, hint=hint)
    if category == "protocol" and effect == "none":
        message = f"{name} changes the protocol and says that this has no effect"
        hint = "say possible or changes, or give the category that fits"
        clause = "repairs/protocol-has-effect"
        yield document.problem((name, "effect_on_results"), message, clause=clause, hint=hint)
    before, after = repair.get("before"), repair.get("after")
    if before is not None and before == after:
        message = f"before and after of {name} are the same run"
        hint = "one is the run without the change, the other the run with it"
        clause = "repairs/before-is-not-after"
        yield document.problem((name, "after"), message, clause=clause, hint=hint)
    if repair.get("verified") and after is None:
        message = f"{name} is verified and names no run with the change"
        hint = "give the digest of that run's record as after"
        clause = "repairs/verified-names-a-run"
        yield document.problem((name,), message, clause=clause, hint=hint)
