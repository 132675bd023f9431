"""What one document has to keep to beyond its schema, decided from that document alone.

Every check is a function that takes a document which its schema accepts and yields problems; it
reads plain data, no files. Checks that need other files belong to the artifact stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rra._base.yaml import YamlDocument
from rra.artifact.semantics import (
    audit,
    bundle_config,
    data_items,
    environments,
    experiments,
    launchers,
    lock,
    manifests,
    notice,
    plan,
    record,
    references,
    repairs,
    reproduction,
    review,
    settings,
)
from rra.errors import Problem

Check = Callable[[YamlDocument], Iterator[Problem]]

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "manifest": (
        manifests.check,
        environments.check,
        data_items.check,
        launchers.check,
        experiments.check,
    ),
    "settings": (settings.check,),
    "repairs": (repairs.check,),
    "references": (references.check,),
    "lock": (lock.check,),
    "execution-record": (record.check,),
    "bundle-config": (bundle_config.check,),
    "plan": (plan.check,),
    "reproduction": (reproduction.check,),
    "audit": (audit.check,),
    "review": (review.check,),
    "notice": (notice.check,),
}
"""Checks of each document, by the name of its schema."""


def check_semantics(document: YamlDocument, name: str) -> list[Problem]:
    """Return what a document breaks beyond its schema, by place.

    Args:
        document: A document that its schema accepts.
        name: Name of the schema, such as ``manifest``.
    """
    found = [problem for check in CHECKS.get(name, ()) for problem in check(document)]
    return sorted(
        dict.fromkeys(found), key=lambda one: (one.line or 0, one.column or 0, one.message)
    )
