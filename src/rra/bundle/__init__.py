"""Canonical archives of an artifact's elements, and the identity that follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rra._base.lazy import lazy_names

if TYPE_CHECKING:
    from rra.bundle.canonical import diff_id, write_archive
    from rra.bundle.identity import core_digest, core_document, element_locks

__all__ = [
    "core_digest",
    "core_document",
    "diff_id",
    "element_locks",
    "write_archive",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "canonical": (
            "diff_id",
            "write_archive",
        ),
        "identity": (
            "core_digest",
            "core_document",
            "element_locks",
        ),
    },
)
