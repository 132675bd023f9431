"""Kinds of environments behind one small protocol."""

from __future__ import annotations

from rra.environment.kinds.choice import JULIA, find_kind
from rra.environment.kinds.protocol import (
    BuildRequest,
    Built,
    Description,
    EnvironmentKind,
    KindLock,
    LockRequest,
)

__all__ = [
    "JULIA",
    "BuildRequest",
    "Built",
    "Description",
    "EnvironmentKind",
    "KindLock",
    "LockRequest",
    "find_kind",
]
