"""Experiments: their outcomes, what those are read from, and their results tables."""

from __future__ import annotations

from collections.abc import Iterator

from rra._base.yaml import Key, YamlDocument
from rra.artifact.semantics.derived import check_derived
from rra.artifact.semantics.ids import need, section
from rra.artifact.semantics.outcomes import outcome_faults
from rra.artifact.semantics.result_tables import check_table
from rra.artifact.semantics.selectors import selector_faults
from rra.errors import Problem

LAUNCHER = "selector/launcher-is-defined"


def check(document: YamlDocument) -> Iterator[Problem]:
    """Yield what the experiments of a manifest break."""
    launchers = section(document.data, "launchers")
    for name in section(document.data, "experiments"):
        here: tuple[Key, ...] = ("experiments", name, "outcomes")
        for key, outcome in section(document.data, *here).items():
            place = (*here, key)
            path = (*place, "selector", "launcher")
            yield from need(document, launchers, path, "launcher", LAUNCHER)
            faults = list(outcome_faults(outcome))
            if "selector" in outcome:
                faults += selector_faults(outcome, launchers)
            for fault in faults:
                inner = (*place, *fault.path)
                yield document.problem(inner, fault.message, clause=fault.clause, hint=fault.hint)
        yield from check_table(document, name, launchers)
    yield from check_derived(document)
