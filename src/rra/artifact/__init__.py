"""An RRA on disk: reading it, its files, its trees and its repairs."""

from __future__ import annotations

from rra.artifact.layout import BLANK_MARK
from rra.artifact.reader import Artifact, load_artifact, read_document
from rra.artifact.tree import tree_id

__all__ = ["BLANK_MARK", "Artifact", "load_artifact", "read_document", "tree_id"]
