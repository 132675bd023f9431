"""Finding and applying the JSON Schemas; every fault with its place."""

from __future__ import annotations

from rra.schema.clauses import clause_ids, clause_of, subschemas
from rra.schema.validate import UNKNOWN_KEY, check_document, load_schema, unknown_keys

__all__ = [
    "UNKNOWN_KEY",
    "check_document",
    "clause_ids",
    "clause_of",
    "load_schema",
    "subschemas",
    "unknown_keys",
]
