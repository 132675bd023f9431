"""Finding and applying the JSON Schemas; every fault with its place."""

from __future__ import annotations

from rra.schema.clauses import clause_ids, clause_of, subschemas
from rra.schema.formats import FORMATS
from rra.schema.keys import DEPRECATED, UNKNOWN_KEY, nearest, unknown_keys
from rra.schema.validate import check_against, check_document, load_schema
from rra.schema.versions import FORMAT, version_key

__all__ = [
    "DEPRECATED",
    "FORMAT",
    "FORMATS",
    "UNKNOWN_KEY",
    "check_against",
    "check_document",
    "clause_ids",
    "clause_of",
    "load_schema",
    "nearest",
    "subschemas",
    "unknown_keys",
    "version_key",
]
