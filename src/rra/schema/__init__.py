"""Finding and applying the JSON Schemas; every fault with its place."""

from __future__ import annotations

from rra.schema.validate import check_document, load_schema, unknown_keys

__all__ = ["check_document", "load_schema", "unknown_keys"]
