"""Artifacts for double-blind review: blanked, made consistent again, and searched."""

from __future__ import annotations

from rra.author.anonymous.copy import AnonymousCopy, AnonymousOptions, anonymous_copy
from rra.author.anonymous.mapping import mapping_document, write_mapping

__all__ = [
    "AnonymousCopy",
    "AnonymousOptions",
    "anonymous_copy",
    "mapping_document",
    "write_mapping",
]
