"""Every number that a run left in its outputs, with the way to name it in a selector.

Selectors go from a name to a value; leaves go the other way, from a value to all the names it
has. What no selector can address is left out, and files that are not read are named with the
reason.
"""

from __future__ import annotations

from rra.values.leaves.index import OutputIndex, Skipped, index_outputs
from rra.values.leaves.leaf import FileLeaves, Leaf, Locator

__all__ = ["FileLeaves", "Leaf", "Locator", "OutputIndex", "Skipped", "index_outputs"]
