"""Software environments: detecting, locking, building and describing them."""

from __future__ import annotations

from rra.environment.built import Built, MaterialisedEnvironment
from rra.environment.cutoff import suggest_as_of, suggest_python
from rra.environment.detect import Detected, FoundManifest, detect_requirements
from rra.environment.facts import numeric_variables, platform_facts
from rra.environment.lock import LockedEnvironment, lock_environment, read_entry
from rra.environment.materialise import materialise

__all__ = [
    "Built",
    "Detected",
    "FoundManifest",
    "LockedEnvironment",
    "MaterialisedEnvironment",
    "detect_requirements",
    "lock_environment",
    "materialise",
    "numeric_variables",
    "platform_facts",
    "read_entry",
    "suggest_as_of",
    "suggest_python",
]
