"""Kinds of environments behind one small protocol."""

from __future__ import annotations

from rra.environment.kinds.choice import JULIA, find_kind, kind_of
from rra.environment.kinds.described import DescribedKind
from rra.environment.kinds.protocol import (
    Ability,
    BuildRequest,
    CarryRequest,
    CheckRequest,
    Description,
    EnvironmentKind,
    GatherRequest,
    KindLock,
    LockRequest,
)

__all__ = [
    "JULIA",
    "Ability",
    "BuildRequest",
    "CarryRequest",
    "CheckRequest",
    "DescribedKind",
    "Description",
    "EnvironmentKind",
    "GatherRequest",
    "KindLock",
    "LockRequest",
    "find_kind",
    "kind_of",
]
