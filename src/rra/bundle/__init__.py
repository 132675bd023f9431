"""Canonical archives of an artifact's elements, and the identity that follows from them."""

from __future__ import annotations

from rra.bundle.canonical import diff_id, write_archive
from rra.bundle.identity import core_digest, core_document, element_locks

__all__ = ["core_digest", "core_document", "diff_id", "element_locks", "write_archive"]
