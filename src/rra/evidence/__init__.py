"""Evidence of runs: records named by their digest, chained events, what each run left."""

from __future__ import annotations

from rra.evidence.check import verify_record
from rra.evidence.difference import FieldDifference, RecordDifference, compare_records
from rra.evidence.events import (
    GENESIS,
    EventLog,
    check_events,
    read_events,
    read_log,
    write_events,
)
from rra.evidence.examining import Examined, choose, examine, examine_one
from rra.evidence.garbage import Garbage, Sorted, find_garbage, remove_record
from rra.evidence.names import printable
from rra.evidence.standing import changed_since
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
    "EventLog",
    "EvidenceStore",
    "Examined",
    "FieldDifference",
    "Garbage",
    "RecordDifference",
    "Sorted",
    "StoredRecord",
    "changed_since",
    "check_events",
    "choose",
    "compare_records",
    "examine",
    "examine_one",
    "find_garbage",
    "printable",
    "read_events",
    "read_log",
    "remove_record",
    "sweep_stale",
    "verify_record",
    "write_events",
]
