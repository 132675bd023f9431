"""Finding and applying the JSON Schemas; every fault with its place."""

from __future__ import annotations

from rra.schema.clauses import clause_ids, clause_of, subschemas
from rra.schema.formats import FORMATS
from rra.schema.keys import DEPRECATED, UNKNOWN_KEY, nearest, unknown_keys
from rra.schema.validate import check_against, check_document, load_schema
from rra.schema.versions import FORMAT, UNKNOWN_WORDS, is_newer_minor, version_key

__all__ = [
    "DEPRECATED",
    "FORMAT",
    "FORMATS",
    "UNKNOWN_KEY",
    "UNKNOWN_WORDS",
    "check_against",
    "check_document",
    "clause_ids",
    "clause_of",
    "is_newer_minor",
    "load_schema",
    "nearest",
    "subschemas",
    "unknown_keys",
    "version_key",
]
