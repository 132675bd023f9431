"""Evidence of runs: records named by their digest, chained events, what each run left."""

from __future__ import annotations

from rra.evidence.check import verify_record
from rra.evidence.events import GENESIS, check_events, read_events, write_events
from rra.evidence.names import printable
from rra.evidence.store import (
    EVENTS,
    OUTPUTS,
    RECORD,
    STDERR,
    STDOUT,
    EvidenceStore,
    StoredRecord,
    sweep_stale,
)

__all__ = [
    "EVENTS",
    "GENESIS",
    "OUTPUTS",
    "RECORD",
    "STDERR",
    "STDOUT",
    "EvidenceStore",
    "StoredRecord",
    "check_events",
    "printable",
    "read_events",
    "sweep_stale",
    "verify_record",
    "write_events",
]
