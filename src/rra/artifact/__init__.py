"""An RRA on disk: reading it, its files, its trees and its repairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rra._base.lazy import lazy_names

if TYPE_CHECKING:
    from rra.artifact.layout import BLANK_MARK
    from rra.artifact.reader import Artifact, load_artifact, read_document
    from rra.artifact.tree import tree_id

__all__ = [
    "BLANK_MARK",
    "Artifact",
    "load_artifact",
    "read_document",
    "tree_id",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "layout": ("BLANK_MARK",),
        "reader": (
            "Artifact",
            "load_artifact",
            "read_document",
        ),
        "tree": ("tree_id",),
    },
)
